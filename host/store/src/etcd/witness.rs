//! Evidence that an etcd is still the one that was followed.

use etcd_client::GetOptions;

use super::failure::Failure;
use super::link::{Link, number, on_the_wire};
use crate::{ChangeKind, Revision};

/// A change that was seen.
///
/// An etcd that is restored from a snapshot counts its revisions on from there: once others have written enough, its
/// revision alone does not tell that it is not the one of before. That it did this very change does.
pub(super) struct Witness {
    /// The key, as the etcd has it.
    key: Vec<u8>,
    revision: Revision,
    kind: ChangeKind,
}

impl Witness {
    pub(super) fn new(key: &[u8], revision: Revision, kind: ChangeKind) -> Self {
        Self {
            key: key.to_vec(),
            revision,
            kind,
        }
    }

    /// Returns whether an etcd has the change in its history.
    ///
    /// # Errors
    /// [`Failure::Compacted`] where it no longer tells what it had then, and those of any read.
    pub(super) async fn is_known_to(&self, link: &Link) -> Result<bool, Failure> {
        // What is as it was then is told also where that was compacted.
        if self.kind == ChangeKind::Put && self.changed(link, None).await? == Some(self.revision) {
            return Ok(true);
        }
        let changed = self.changed(link, Some(self.revision)).await?;
        Ok(match self.kind {
            ChangeKind::Put => changed == Some(self.revision),
            ChangeKind::Delete => changed.is_none(),
        })
    }

    /// The revision of the last change of the key, now or at a revision; none where it was deleted.
    async fn changed(
        &self,
        link: &Link,
        at: Option<Revision>,
    ) -> Result<Option<Revision>, Failure> {
        let options = GetOptions::new().with_keys_only();
        let options = options.with_revision(at.map_or(0, on_the_wire));
        let answer = link.read(|mut client| {
            let (key, options) = (self.key.clone(), options.clone());
            async move { client.get(key, Some(options)).await }
        });
        let answer = answer.await?;
        let changed = answer.kvs().first();
        Ok(changed.map(|it| Revision::new(number(it.mod_revision()))))
    }
}
