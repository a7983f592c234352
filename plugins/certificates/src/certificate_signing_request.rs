//! CertificateSigningRequest.
//!
//! No other tool has a rule. A denial and a failure are final. The certificate itself is the
//! evidence that the request was fulfilled. Conditions of v1beta1 have no status: their presence
//! counts as True.
//!
//! The certificate may have expired. Only its X.509 encoding shows this, and this rule does not decode
//! it. The requested duration (`spec.expirationSeconds`) is no evidence, because the signer may choose
//! another one. kube-controller-manager deletes an issued request after one or two hours.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("certificates.k8s.io", "*", "CertificateSigningRequest")
        .deletion_check()
        .fields(&["/status/conditions", "/status/certificate"])
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    if let Some(verdict) = standard::deletion(object, input) {
        return verdict;
    }
    let conditions = object.conditions();
    let is_set = |name| {
        conditions
            .find(name)
            .filter(|condition| !condition.is_false())
    };
    if let Some(denied) = is_set("Denied") {
        return Verdict::failed(denied.reason_or("Denied"), denied.message().to_owned());
    }
    if let Some(failed) = is_set("Failed") {
        return Verdict::failed(failed.reason_or("Failed"), failed.message().to_owned());
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
