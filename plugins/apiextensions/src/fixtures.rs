//! Fixtures that the host checks before the component goes live.

use kindsight_sdk::prelude::*;

pub(crate) fn all() -> Vec<Fixture> {
    EXAMPLES
        .iter()
        .map(|(name, state, reason, body)| {
            let object = format!(
                r#"{{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", {body}}}"#
            );
            Fixture::new(name, state).reason(reason).object(&object)
        })
        .collect()
}

/// Name, state, reason, and the object without `apiVersion` and `kind`.
const EXAMPLES: [(&str, &str, &str, &str); 8] = [
    (
        "an established definition is ready",
        "Ready",
        "Established",
        r#""status": {"conditions": [{"type": "NamesAccepted", "status": "True"},
            {"type": "Established", "status": "True"}]}"#,
    ),
    (
        "a definition that is being installed is pending",
        "Pending",
        "Installing",
        r#""status": {"conditions": [{"type": "NamesAccepted", "status": "True"},
            {"type": "Established", "status": "False", "reason": "Installing"}]}"#,
    ),
    (
        "a definition whose names are taken has failed",
        "Failed",
        "MultipleNamesConflict",
        r#""status": {"conditions": [
            {"type": "Established", "status": "True"},
            {"type": "NamesAccepted", "status": "False", "reason": "MultipleNamesConflict"}]}"#,
    ),
    (
        "a schema that is not structural is a failure",
        "Failed",
        "NonStructuralSchema",
        r#""status": {"conditions": [{"type": "Established", "status": "True"},
            {"type": "NonStructuralSchema", "status": "True", "reason": "Violations"}]}"#,
    ),
    (
        "a definition that cannot be established has failed",
        "Failed",
        "NotAccepted",
        r#""status": {"conditions": [{"type": "Established", "status": "False", "reason": "NotAccepted"}]}"#,
    ),
    (
        "a definition that waits for its objects to go is terminating",
        "Terminating",
        "InstanceDeletionInProgress",
        r#""status": {"conditions": [{"type": "Established", "status": "True"},
            {"type": "Terminating", "status": "True", "reason": "InstanceDeletionInProgress"}]}"#,
    ),
    (
        "a definition without conditions is pending",
        "Pending",
        "NotEstablished",
        r#""status": {}"#,
    ),
    (
        "a definition without status is pending",
        "Pending",
        "NotEstablished",
        r#""spec": {}"#,
    ),
];
