//! CustomResourceDefinition.
//!
//! The union of kstatus and Argo CD: conflicting names, a schema that is not structural, and a
//! failed establishment are failures. If the condition Terminating is True, the state is
//! Terminating even before the object itself has a deletion time.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("apiextensions.k8s.io", "*", "CustomResourceDefinition").standard_checks()
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    if let Some(verdict) = standard::checks(object, input) {
        return verdict;
    }
    let conditions = object.conditions();
    let is_true = |name| conditions.find(name).filter(Condition::is_true);
    let is_false = |name| conditions.find(name).filter(Condition::is_false);
    if let Some(terminating) = is_true("Terminating") {
        let reason = terminating.reason_or("Terminating");
        return Verdict::terminating(reason, terminating.message().to_owned());
    }
    if let Some(refused) = is_false("NamesAccepted") {
        return Verdict::failed(
            refused.reason_or("NamesNotAccepted"),
            refused.message().to_owned(),
        );
    }
    if let Some(schema) = is_true("NonStructuralSchema") {
        return Verdict::failed("NonStructuralSchema", schema.message().to_owned());
    }
    if let Some(established) = is_true("Established") {
        return Verdict::ready("Established", established.message().to_owned());
    }
    match is_false("Established") {
        Some(failed) if failed.reason() != "Installing" => Verdict::failed(
            failed.reason_or("NotEstablished"),
            failed.message().to_owned(),
        ),
        Some(installing) => Verdict::pending("Installing", installing.message().to_owned()),
        None => Verdict::pending("NotEstablished", "the API server does not serve it yet"),
    }
}
