//! Texts of objects without the members that only API servers and `kubectl` read.

use kindsight_model::Gvk;

use crate::kubernetes::shallow::{Members, without};

/// The text of an object without the members that only API servers and `kubectl` read. A text that is not a JSON
/// object is returned unchanged.
pub(super) fn without_bookkeeping(json: &str) -> String {
    let Ok(root) = serde_json::from_str::<Members<'_>>(json) else {
        return json.to_owned();
    };
    root.written(|key, value| match key {
        "metadata" => Some(metadata_without_bookkeeping(value).into()),
        _ => Some(value.into()),
    })
}

fn metadata_without_bookkeeping(json: &str) -> String {
    let Ok(metadata) = serde_json::from_str::<Members<'_>>(json) else {
        return json.to_owned();
    };
    metadata.written(|key, value| match key {
        "managedFields" => None,
        "annotations" => Some(without(value, LAST_APPLIED).into()),
        _ => Some(value.into()),
    })
}

/// The annotation in which `kubectl apply` stores the complete configuration.
pub(super) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// An object with only the metadata.
pub(super) fn metadata_object(gvk: &Gvk, json: &str) -> String {
    let root = serde_json::from_str::<Members<'_>>(json).unwrap_or_default();
    let metadata = root.get("metadata").map(metadata_without_bookkeeping);
    let metadata = metadata.as_deref().unwrap_or("{}");
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let (api_version, kind) = (text(&gvk.api_version()), text(&gvk.kind));
    format!(r#"{{"apiVersion":{api_version},"kind":{kind},"metadata":{metadata}}}"#)
}
