//! APIService.
//!
//! As Argo CD: an unavailable API is Pending, because the Pod that serves it is usually just starting.
//! kstatus has no rule and calls it Current.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("apiregistration.k8s.io", "*", "APIService").fields(&standard::FIELDS)
}

pub(crate) fn rule(object: &Object<'_>) -> Verdict {
    if let Some(verdict) = standard::checks(object) {
        return verdict;
    }
    match object.conditions().find("Available") {
        Some(available) if available.is_true() => {
            Verdict::ready(available.reason_or("Available"), available.message())
        }
        Some(missing) => Verdict::pending(missing.reason_or("Unavailable"), missing.message()),
        None => Verdict::pending("NotChecked", "the API server has not checked it yet"),
    }
}

/// Fixtures that the host checks before the component goes live.
pub(crate) fn fixtures() -> Vec<Fixture> {
    EXAMPLES
        .iter()
        .map(|(name, state, reason, body)| {
            let object = format!(
                r#"{{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", {body}}}"#
            );
            Fixture::new(name, state).reason(reason).object(&object)
        })
        .collect()
}

/// Name, state, reason, and the object without `apiVersion` and `kind`.
const EXAMPLES: [(&str, &str, &str, &str); 6] = [
    (
        "an API that answers is ready",
        "Ready",
        "Passed",
        r#""status": {"conditions": [{"type": "Available", "status": "True", "reason": "Passed"}]}"#,
    ),
    (
        "an API without endpoints is pending",
        "Pending",
        "MissingEndpoints",
        r#""status": {"conditions": [
            {"type": "Available", "status": "False", "reason": "MissingEndpoints"}]}"#,
    ),
    (
        "an API nobody knows of is pending",
        "Pending",
        "Unavailable",
        r#""status": {"conditions": [{"type": "Available", "status": "Unknown"}]}"#,
    ),
    (
        "an API without conditions is pending",
        "Pending",
        "NotChecked",
        r#""status": {}"#,
    ),
    (
        "an API without status is pending",
        "Pending",
        "NotChecked",
        r#""spec": {}"#,
    ),
    (
        "an API with a deletion time is terminating",
        "Terminating",
        "Deleting",
        r#""metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}"#,
    ),
];
