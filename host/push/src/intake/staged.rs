//! Items that wait for the line that takes them, and the size of everything that a cluster has in memory.

use std::collections::VecDeque;

use kindsight_api::push::PushRefusal;
use kindsight_model::{
    BUNDLE_BYTES_MAX, Gvk, Identity, MissingResource, Object, ObjectError, Rejected,
    RejectedIdentity, Removal, clean,
};
use serde::Deserialize;

use crate::wire::{ClaimsLine, Line, ObjectLine};

/// Maximum number of objects of one pushed cluster, with related and missing objects.
pub const CLUSTER_OBJECTS_MAX: usize = 200_000;
/// Maximum size of the objects of one pushed cluster, in bytes of JSON.
pub const CLUSTER_BYTES_MAX: usize = 1024 * 1024 * 1024;

/// Number and bytes of the objects of a cluster.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) objects: usize,
    pub(super) bytes: usize,
}

impl Size {
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            objects: self.objects + other.objects,
            bytes: self.bytes + other.bytes,
        }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self {
            objects: self.objects.saturating_sub(other.objects),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }

    /// Refuses a cluster that is over a limit.
    pub(super) fn check(self) -> Result<(), PushRefusal> {
        if self.objects > CLUSTER_OBJECTS_MAX {
            let why = format!(
                "the report on the cluster has more than {CLUSTER_OBJECTS_MAX} objects; report fewer namespaces or Kinds"
            );
            return Err(PushRefusal::TooLarge(why));
        }
        if self.bytes > CLUSTER_BYTES_MAX {
            let why = format!(
                "the objects of the cluster have more than {CLUSTER_BYTES_MAX} bytes; report fewer namespaces or Kinds"
            );
            return Err(PushRefusal::TooLarge(why));
        }
        Ok(())
    }
}

/// An object of a list, or the reason why it cannot be read.
pub(super) type StagedObject = Result<Object, Box<Rejected>>;

/// Items that wait for the line that takes them, in their order.
#[derive(Debug, Default)]
pub(super) struct Staged {
    pub(super) objects: VecDeque<StagedObject>,
    pub(super) rejected: VecDeque<Rejected>,
    pub(super) claims: VecDeque<ClaimsLine>,
    /// None for a removal whose reason this release does not know.
    pub(super) removed: VecDeque<Option<(Identity, Removal)>>,
    pub(super) missing: VecDeque<MissingResource>,
    pub(super) texts: VecDeque<String>,
    pub(super) size: Size,
}

impl Staged {
    /// Takes an item, whose line has this number of bytes; returns any other line.
    pub(super) fn take<'l>(&mut self, line: Line<'l>, bytes: usize) -> Option<Line<'l>> {
        match line {
            Line::Object(line) => self.objects.push_back(object(&line)),
            Line::Rejected(line) => self.rejected.push_back(line.into()),
            Line::Claims(line) => self.claims.push_back(line),
            Line::Removed(line) => self.removed.push_back(line.removal()),
            Line::Missing(line) => self.missing.push_back(line.into()),
            Line::Text(text) => self.texts.push_back(text.into_owned()),
            other => return Some(other),
        }
        self.size = self.size.plus(Size { objects: 1, bytes });
        None
    }

    /// Returns the texts joined; `None` if they are over the limit of a bundle.
    pub(super) fn join_texts(&mut self, count: usize) -> Option<String> {
        let mut joined = String::new();
        for text in self.texts.drain(..count.min(self.texts.len())) {
            joined.push_str(&text);
        }
        (joined.len() <= BUNDLE_BYTES_MAX).then_some(joined)
    }

    /// Takes the first items of a list.
    ///
    /// # Errors
    /// There are fewer.
    pub(super) fn first<T>(
        items: &mut VecDeque<T>,
        count: usize,
        what: &str,
    ) -> Result<Vec<T>, PushRefusal> {
        if count > items.len() {
            let why = format!("a report takes {count} {what} of {} before it", items.len());
            return Err(PushRefusal::Invalid(why));
        }
        Ok(items.drain(..count).collect())
    }

    /// Resets the size if no item waits, as at the end of a report.
    pub(super) fn settle(&mut self) {
        let is_empty = self.objects.is_empty()
            && self.rejected.is_empty()
            && self.claims.is_empty()
            && self.removed.is_empty()
            && self.missing.is_empty()
            && self.texts.is_empty();
        if is_empty {
            self.size = Size::default();
        }
    }
}

/// Reads an object, with the checks of a watched cluster.
fn object(line: &ObjectLine<'_>) -> StagedObject {
    let json = line.json.get();
    let default = line.gvk.clone().map(Gvk::from);
    let read = match &default {
        Some(gvk) => Object::from_json_as(json, gvk),
        None => Object::from_json(json),
    };
    match read {
        Ok(mut object) => {
            if line.old_spec {
                object.has_old_spec = true;
            }
            Ok(object)
        }
        Err(error) => Err(Box::new(rejected(json, default, error))),
    }
}

/// The identity of an object that cannot be read, as far as it has one.
fn rejected(json: &str, default: Option<Gvk>, error: ObjectError) -> Rejected {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct Head {
        api_version: String,
        kind: String,
        metadata: Metadata,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Metadata {
        namespace: String,
        name: String,
    }
    let head: Head = serde_json::from_str(json).unwrap_or_default();
    let own = Gvk::from_api_version(&head.api_version, &head.kind).ok();
    let gvk = own.filter(|gvk| !gvk.kind.is_empty()).or(default);
    let Metadata { namespace, name } = head.metadata;
    let identity = gvk
        .filter(|_| !name.is_empty())
        .map(|gvk| RejectedIdentity {
            gvk,
            namespace: namespace.into(),
            name: name.into(),
        });
    let pointer = identity.as_ref().map_or_else(String::new, |identity| {
        format!(
            "{}/{}/{}",
            identity.gvk.kind, identity.namespace, identity.name
        )
    });
    Rejected {
        pointer: clean(&pointer, super::held_report::TEXT_BYTES_MAX).into_owned(),
        error,
        identity,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_each_item_count() {
        let lines = [
            r#"{"object":{"json":{"kind":"K"}}}"#,
            r#"{"rejected":{"pointer":"p","error":"no-kind"}}"#,
            r#"{"claims":{"position":0,"evidence":"e"}}"#,
            r#"{"removed":{"kind":"K","name":"n","reason":"deleted"}}"#,
            r#"{"missing":{"gvk":{"kind":"K"},"name":"n"}}"#,
            r#"{"text":"t"}"#,
        ];
        for text in lines {
            let mut staged = Staged::default();
            let mut take = |bytes| {
                let line = Line::read(text).unwrap().unwrap();
                assert!(staged.take(line, bytes).is_none(), "{text}");
                staged.size.check()
            };
            assert_eq!(take(CLUSTER_BYTES_MAX), Ok(()), "{text}");
            assert!(matches!(take(1), Err(PushRefusal::TooLarge(_))), "{text}");
        }
    }
}
