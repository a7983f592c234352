//! Items that wait for the line that takes them.

use std::collections::VecDeque;
use std::sync::Arc;

use kindsight_api::push::PushRefusal;
use kindsight_model::{
    BUNDLE_BYTES_MAX, Claims, Gvk, Identity, MissingResource, Object, ObjectError, OtherClaim,
    Rejected, RejectedIdentity, Removal, clean,
};
use serde::Deserialize;

use super::held_report::{TEXT_BYTES_MAX, text};
use super::size::{Size, bytes_of_object};
use crate::wire::{ClaimsLine, Line, ObjectLine};

/// Maximum number of other claims on an object, as in a watched cluster.
const CLAIMS_MAX: usize = 16;

/// An object of a list, or the reason why it cannot be read.
pub(super) type StagedObject = Result<Object, Box<Rejected>>;

/// Items that wait for the line that takes them, in their order. Reasons, claims and inventories are cleaned already, so
/// that reports share or copy short texts only.
#[derive(Debug, Default)]
pub(super) struct Staged {
    pub(super) objects: VecDeque<StagedObject>,
    pub(super) rejected: VecDeque<Rejected>,
    /// With the position of the object that they are on.
    pub(super) claims: VecDeque<(usize, Arc<Claims>)>,
    /// None for a removal whose reason this release does not know.
    pub(super) removed: VecDeque<Option<(Identity, Removal)>>,
    pub(super) missing: VecDeque<MissingResource>,
    pub(super) texts: VecDeque<String>,
    pub(super) size: Size,
}

impl Staged {
    /// Takes an item, whose line has this number of bytes; returns any other line.
    pub(super) fn take<'l>(&mut self, line: Line<'l>, mut bytes: usize) -> Option<Line<'l>> {
        match line {
            Line::Object(line) => {
                let object = object(&line);
                bytes = bytes.max(object.as_ref().map_or(0, bytes_of_object));
                self.objects.push_back(object);
            }
            Line::Rejected(line) => self.rejected.push_back(cleaned(line.into())),
            Line::Claims(line) => self.claims.push_back((line.position, claims(&line))),
            Line::Removed(line) => self.removed.push_back(line.removal()),
            Line::Missing(line) => {
                let resource = MissingResource::from(line);
                self.missing.push_back(MissingResource {
                    inventory: text(&resource.inventory),
                    ..resource
                });
            }
            Line::Text(part) => self.texts.push_back(part.into_owned()),
            other => return Some(other),
        }
        self.size = self.size.plus(Size { objects: 1, bytes });
        None
    }

    /// Takes the first texts, and returns them joined; `None` if they are over the limit of a bundle.
    pub(super) fn join_texts(&mut self, count: usize) -> Option<String> {
        let texts = self.texts.drain(..count.min(self.texts.len()));
        let texts: Vec<String> = texts.collect();
        let bytes: usize = texts.iter().map(String::len).sum();
        // Before the texts are copied, because they can have the size of a cluster.
        (bytes <= BUNDLE_BYTES_MAX).then(|| texts.concat())
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
        pointer: clean(&pointer, TEXT_BYTES_MAX).into_owned(),
        error,
        identity,
    }
}

/// The claims of a line.
fn claims(line: &ClaimsLine) -> Arc<Claims> {
    let others = line.others.iter().take(CLAIMS_MAX);
    let others = others.map(|other| OtherClaim {
        application: text(&other.application),
        evidence: text(&other.evidence),
    });
    Arc::new(Claims {
        evidence: text(&line.evidence),
        others: others.collect(),
    })
}

/// The same item with cleaned texts.
fn cleaned(rejected: Rejected) -> Rejected {
    let harmless = |text: &str| clean(text, TEXT_BYTES_MAX).into_owned();
    let error = match rejected.error {
        ObjectError::NotAnObject(why) => ObjectError::NotAnObject(harmless(&why)),
        ObjectError::NotReported(why) => ObjectError::NotReported(harmless(&why)),
        error => error,
    };
    Rejected {
        pointer: harmless(&rejected.pointer),
        error,
        identity: rejected.identity,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::CLUSTER_BYTES_MAX;

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

    #[test]
    fn texts_over_the_limit_of_a_bundle_are_taken_and_not_joined() {
        let quarter = "x".repeat(BUNDLE_BYTES_MAX / 4);
        let texts = ["a", "b", &quarter, &quarter, &quarter, &quarter, "c", "d"];
        let mut staged = Staged::default();
        staged.texts.extend(texts.map(str::to_owned));
        assert_eq!(staged.join_texts(2).as_deref(), Some("ab"));
        assert_eq!(staged.join_texts(5), None);
        assert_eq!(staged.join_texts(9).as_deref(), Some("d"));
    }

    #[test]
    fn an_object_counts_with_its_labels_and_owners_if_they_take_more_than_its_json() {
        let owners = |count: usize| {
            let owners = (0..count).map(|at| format!(r#"{{"uid":"{at}"}}"#));
            let owners = owners.collect::<Vec<String>>().join(",");
            format!(r#"{{"ownerReferences":[{owners}]}}"#)
        };
        let labels = |count: usize| {
            let labels = (0..count).map(|at| format!(r#""{at}":"""#));
            let labels = labels.collect::<Vec<String>>().join(",");
            format!(r#"{{"labels":{{{labels}}}}}"#)
        };
        let size = |metadata: &str| {
            let text = format!(r#"{{"object":{{"json":{{"kind":"K","metadata":{metadata}}}}}}}"#);
            let mut staged = Staged::default();
            let line = Line::read(&text).unwrap().unwrap();
            assert!(staged.take(line, text.len()).is_none());
            let object = staged.objects.pop_front().unwrap().unwrap();
            assert!(staged.size.bytes >= bytes_of_object(&object));
            (text.len(), staged.size.bytes)
        };
        for metadata in [owners(0), labels(0)] {
            let (line, bytes) = size(&metadata);
            assert_eq!(bytes, line);
        }
        for (metadata, each) in [(owners(1000), 145), (labels(1000), 97)] {
            let (line, bytes) = size(&metadata);
            assert!(bytes > line && bytes >= 1000 * each, "{bytes} of {line}");
        }
    }
}
