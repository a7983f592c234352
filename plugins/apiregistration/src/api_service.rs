//! APIService.
//!
//! The same as in Argo CD: an unavailable API is Pending, because usually the Pod that serves it is
//! just starting. kstatus has no rule and calls it Current.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("apiregistration.k8s.io", "*", "APIService").standard_checks()
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    if let Some(verdict) = standard::checks(object, input) {
        return verdict;
    }
    match object.conditions().find("Available") {
        Some(available) if available.is_true() => Verdict::ready(
            available.reason_or("Available"),
            available.message().to_owned(),
        )
        .since(available.since_ms()),
        Some(missing) => Verdict::pending(
            missing.reason_or("Unavailable"),
            missing.message().to_owned(),
        )
        .since(missing.since_ms()),
        None => Verdict::pending("NotChecked", "the API server has not checked it yet"),
    }
}
