//! The losses of an object whose report is too large.

use serde_json::{Map, Value};

/// Members of metadata that name an object and its place among others.
const IDENTITY: [&str; 3] = ["name", "namespace", "uid"];

/// One way to shorten an object. A single large object is shortened in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shortening {
    /// It loses the messages in its status.
    Messages,
    /// It loses its spec.
    Spec,
    /// It loses its annotations.
    Annotations,
    /// It keeps metadata and status.
    Content,
    /// It keeps metadata.
    Metadata,
    /// It keeps its name, namespace and uid.
    Identity,
}

impl Shortening {
    /// The ways to shorten one object that is too large by itself.
    pub(super) const OF_LARGE: [Self; 4] = [
        Self::Annotations,
        Self::Content,
        Self::Metadata,
        Self::Identity,
    ];

    /// The lost content, as text for readers.
    pub(super) fn loss(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Spec => "specs of owned objects",
            Self::Annotations => "annotations of large objects",
            Self::Content => "content of large objects",
            Self::Metadata => "statuses of large objects",
            Self::Identity => "labels of large objects",
        }
    }

    /// Shortens an object. Returns whether it changed.
    pub(super) fn apply(self, object: &mut Map<String, Value>) -> bool {
        match self {
            Self::Messages => object.get_mut("status").is_some_and(remove_messages),
            Self::Spec => object.remove("spec").is_some(),
            Self::Annotations => {
                let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
                metadata.is_some_and(|metadata| metadata.remove("annotations").is_some())
            }
            Self::Content => keep(object, &["apiVersion", "kind", "metadata", "status"]),
            Self::Metadata => keep(object, &["apiVersion", "kind", "metadata"]),
            Self::Identity => {
                let is_changed = Self::Metadata.apply(object);
                let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
                metadata.is_some_and(|metadata| keep(metadata, &IDENTITY)) || is_changed
            }
        }
    }
}

fn keep(members: &mut Map<String, Value>, names: &[&str]) -> bool {
    let before = members.len();
    members.retain(|name, _| names.contains(&&**name));
    members.len() < before
}

/// Removes each text with the name `message`. An object is at most 127 levels deep.
fn remove_messages(value: &mut Value) -> bool {
    match value {
        Value::Object(members) => {
            let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
            let has_message = members.get("message").is_some_and(is_text);
            if has_message {
                members.remove("message");
            }
            members.values_mut().fold(has_message, |is_changed, value| {
                remove_messages(value) | is_changed
            })
        }
        Value::Array(items) => items
            .iter_mut()
            .fold(false, |is_changed, item| remove_messages(item) | is_changed),
        _ => false,
    }
}
