//! CustomResourceDefinition.
//!
//! The union of kstatus and Argo CD: conflicting names, a schema that is not structural, and a
//! failed establishment are failures. If the condition Terminating is True, the state is
//! Terminating even before the object itself has a deletion time.
//!
//! The condition Established depends on the names only. So a definition without a served version is
//! established, although the API server answers no request for its objects: this is a failure. A
//! stored version that the spec does not name is Degraded, because the API server cannot read objects
//! of this version. It refuses such a spec, so this case needs the spec of a manifest. The other tools
//! do not read the versions.

use std::collections::BTreeSet;

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("apiextensions.k8s.io", "*", "CustomResourceDefinition")
        .standard_checks()
        .fields(&["/spec/versions/*/name", "/spec/versions/*/served"])
        .fields(&["/status/storedVersions"])
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
        let ready = || Verdict::ready("Established", established.message().to_owned());
        return not_served(object).unwrap_or_else(ready);
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

/// The verdict on an established definition with objects that the API server cannot read: Failed if
/// no version is served, Degraded if a stored version is not in the spec. A definition of v1beta1
/// without a list of versions has one version, which is served.
fn not_served(object: &Object<'_>) -> Option<Verdict> {
    let mut versions = object.at("/spec/versions").items();
    let names: BTreeSet<&str> = versions
        .clone()
        .filter_map(|version| version.get("name").text())
        .collect();
    if versions.len() > 0 && !versions.any(|version| version.get("served").is_true()) {
        let message = "none of its versions is served, so no object of its Kind can be read";
        return Some(Verdict::failed("NoServedVersion", message));
    }
    let mut stored = object.at("/status/storedVersions").items();
    let is_unknown = |version: &&str| !names.is_empty() && !names.contains(version);
    let unknown = stored.find_map(|version| version.text().filter(is_unknown))?;
    let message = format!(
        "objects may be stored as {unknown}, which the spec does not name, and cannot be read"
    );
    Some(Verdict::degraded("StoredVersionNotFound", message))
}
