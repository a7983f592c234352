//! An existing definition of the Kind ResourceBundleState.

use serde_json::Value;

use super::FIELD_MANAGER;

/// Members of an object that the definition of the original removes.
const PRUNED: [&str; 2] = ["uid", "ownerReferences"];

/// Returns whether an earlier installation of kindsight's monitor made a definition.
pub(super) fn is_own(definition: &Value) -> bool {
    let managers = definition.pointer("/metadata/managedFields");
    let managers = managers.and_then(Value::as_array).into_iter().flatten();
    let mut managers = managers.filter(|entry| entry["operation"] == "Apply");
    managers.any(|entry| entry["manager"] == FIELD_MANAGER)
}

/// The consequence of an existing definition for reports.
pub(super) fn consequence(definition: &Value) -> &'static str {
    let versions = definition.pointer("/spec/versions");
    let versions = versions.and_then(Value::as_array).into_iter().flatten();
    let mut versions = versions.filter(|version| version["name"] == "v1alpha1");
    match versions
        .next()
        .and_then(|version| version.pointer("/schema/openAPIV3Schema"))
    {
        None => {
            "it exists and does not serve v1alpha1, so the monitor cannot write reports; remove the definition or serve v1alpha1"
        }
        Some(schema) if keeps_owners(schema) => {
            "it exists and keeps the uid and the ownerReferences of reported objects"
        }
        Some(_) => {
            "it exists, and its schema removes uid and ownerReferences from reported objects, so readers match children by name"
        }
    }
}

/// Returns whether a schema keeps the uid and the owners of the items of a list.
fn keeps_owners(schema: &Value) -> bool {
    let mut schema = schema;
    let path = [
        "properties",
        "status",
        "properties",
        "podStatuses",
        "items",
        "properties",
        "metadata",
    ];
    for member in path {
        if schema["x-kubernetes-preserve-unknown-fields"] == true {
            return true;
        }
        schema = &schema[member];
    }
    let has = |member: &&str| schema["properties"].get(*member).is_some();
    schema["x-kubernetes-preserve-unknown-fields"] == true || PRUNED.iter().all(has)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(metadata: &Value) -> Value {
        let items = json!({"type": "object", "properties": {"metadata": metadata}});
        json!({"metadata": {}, "spec": {"versions": [{"name": "v1alpha1", "schema": {
            "openAPIV3Schema": {"properties": {"status": {"properties": {
                "podStatuses": {"type": "array", "items": items},
            }}}},
        }}]}})
    }

    #[test]
    fn the_definition_of_the_original_removes_owners() {
        let pruned = definition(&json!({"properties": {"name": {}, "labels": {}}}));
        assert!(consequence(&pruned).contains("match children by name"));
        let kept = definition(&json!({"x-kubernetes-preserve-unknown-fields": true}));
        assert!(consequence(&kept).contains("keeps"));
        let named = definition(&json!({"properties": {"uid": {}, "ownerReferences": {}}}));
        assert!(consequence(&named).contains("keeps"));
        assert!(consequence(&json!({})).contains("v1alpha1"));
    }

    #[test]
    fn a_definition_is_own_if_the_installation_applied_it() {
        let by = |manager: &str, operation: &str| {
            json!({"metadata": {"managedFields": [
                {"manager": manager, "operation": operation}, {"manager": "kube-apiserver"},
            ]}})
        };
        assert!(is_own(&by(FIELD_MANAGER, "Apply")));
        assert!(!is_own(&by("kubectl", "Apply")));
        assert!(!is_own(&by(FIELD_MANAGER, "Update")));
    }
}
