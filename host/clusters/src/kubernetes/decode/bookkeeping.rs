//! Texts of objects without the members that only API servers and `kubectl` read.

use kindsight_model::Gvk;

use crate::kubernetes::shallow::{Members, ObjectText, without};

/// The text of an object without the members that only API servers and `kubectl` read. A text that is not a JSON
/// object is returned unchanged.
pub(super) fn without_bookkeeping(object: &ObjectText<'_>) -> String {
    let Some(members) = &object.members else {
        return object.json.to_owned();
    };
    members.written(|key, value| match (key, &object.metadata) {
        ("metadata", Some(metadata)) => Some(metadata_without_bookkeeping(metadata).into()),
        _ => Some(value.into()),
    })
}

fn metadata_without_bookkeeping(metadata: &Members<'_>) -> String {
    metadata.written(|key, value| match key {
        "managedFields" => None,
        "annotations" => Some(without(value, LAST_APPLIED).into()),
        _ => Some(value.into()),
    })
}

/// The annotation in which `kubectl apply` stores the complete configuration.
pub(super) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// An object with only the metadata.
pub(super) fn metadata_object(gvk: &Gvk, object: &ObjectText<'_>) -> String {
    let metadata = object.metadata.as_ref().map(metadata_without_bookkeeping);
    let metadata = metadata.as_deref().unwrap_or("{}");
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let (api_version, kind) = (text(&gvk.api_version()), text(&gvk.kind));
    format!(r#"{{"apiVersion":{api_version},"kind":{kind},"metadata":{metadata}}}"#)
}
