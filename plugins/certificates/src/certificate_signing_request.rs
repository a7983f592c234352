//! CertificateSigningRequest.
//!
//! No other tool has a rule. A denial and a failure are final; the certificate itself is the evidence
//! that the request was met. Conditions of v1beta1 carry no status: their presence counts as True.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("certificates.k8s.io", "*", "CertificateSigningRequest")
        .fields(&standard::DELETION_FIELDS)
        .fields(&["/status/conditions", "/status/certificate"])
}

pub(crate) fn rule(object: &Object<'_>) -> Verdict {
    if let Some(verdict) = standard::deletion(object) {
        return verdict;
    }
    let conditions = object.conditions();
    let is_set = |name| conditions.find(name).filter(|it| !it.is_false());
    if let Some(denied) = is_set("Denied") {
        return Verdict::failed(denied.reason_or("Denied"), denied.message());
    }
    if let Some(failed) = is_set("Failed") {
        return Verdict::failed(failed.reason_or("Failed"), failed.message());
    }
    let certificate = object.at("/status/certificate").text_or_empty();
    if !certificate.is_empty() {
        return Verdict::ready("Issued", "the certificate is issued");
    }
    match is_set("Approved") {
        Some(_) => Verdict::pending("WaitingForSigner", "it is approved and not signed yet"),
        None => Verdict::pending("WaitingForApproval", "it is not approved yet"),
    }
}

/// Fixtures that the host checks before the component goes live.
pub(crate) fn fixtures() -> Vec<Fixture> {
    EXAMPLES
        .iter()
        .map(|(name, state, reason, body)| {
            let object = format!(
                r#"{{"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", {body}}}"#
            );
            Fixture::new(name, state).reason(reason).object(&object)
        })
        .collect()
}

/// Name, state, reason, and the object without `apiVersion` and `kind`.
const EXAMPLES: [(&str, &str, &str, &str); 8] = [
    (
        "a request that was met is ready",
        "Ready",
        "Issued",
        r#""status": {"certificate": "LS0t", "conditions": [{"type": "Approved", "status": "True"}]}"#,
    ),
    (
        "a request that waits for its signer is pending",
        "Pending",
        "WaitingForSigner",
        r#""status": {"conditions": [{"type": "Approved", "status": "True"}]}"#,
    ),
    (
        "a request that was denied has failed",
        "Failed",
        "NotAllowed",
        r#""status": {"conditions": [{"type": "Denied", "status": "True", "reason": "NotAllowed"}]}"#,
    ),
    (
        "a denial without a status is a denial",
        "Failed",
        "Denied",
        r#""status": {"conditions": [{"type": "Denied"}]}"#,
    ),
    (
        "a request the signer could not meet has failed",
        "Failed",
        "SignerValidationFailure",
        r#""status": {"conditions": [{"type": "Approved", "status": "True"},
            {"type": "Failed", "status": "True", "reason": "SignerValidationFailure"}]}"#,
    ),
    (
        "a request nobody has approved is pending",
        "Pending",
        "WaitingForApproval",
        r#""status": {}"#,
    ),
    (
        "a request without status is pending",
        "Pending",
        "WaitingForApproval",
        r#""spec": {}"#,
    ),
    (
        "a request with a deletion time is terminating",
        "Terminating",
        "Deleting",
        r#""metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}"#,
    ),
];
