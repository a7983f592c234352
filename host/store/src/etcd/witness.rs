//! Evidence that an etcd still has the history that was followed.

use etcd_client::GetOptions;

use super::failure::Failure;
use super::link::{Link, number, on_the_wire};
use crate::{ChangeKind, Revision};

/// A change that the watch received.
///
/// An etcd that is restored from a snapshot continues to count its revisions from there. After
/// enough writes by other programs, its revision does not show that the history differs. If the
/// history contains this exact change, it is the same history.
pub(super) struct Witness {
    /// The key, in its form in etcd.
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
    /// [`Failure::Compacted`] if the etcd no longer has the state of that revision, and the errors
    /// of any read.
    pub(super) async fn is_known_to(&self, link: &Link) -> Result<bool, Failure> {
        // If the key is still unchanged, the latest state proves the change, even if its revision
        // was compacted.
        if self.kind == ChangeKind::Put && self.changed(link, None).await? == Some(self.revision) {
            return Ok(true);
        }
        let changed = self.changed(link, Some(self.revision)).await?;
        Ok(match self.kind {
            ChangeKind::Put => changed == Some(self.revision),
            ChangeKind::Delete => changed.is_none(),
        })
    }

    /// The revision of the last change of the key, now or at a revision, or `None` if the key was
    /// deleted.
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
        Ok(changed.map(|pair| Revision::new(number(pair.mod_revision()))))
    }
}
