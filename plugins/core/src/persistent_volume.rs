//! PersistentVolume.
//!
//! No other tool has a rule. Released is Present: the data is kept until a user decides about it,
//! and this is not a problem.

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("", "*", "PersistentVolume")
        .deletion_check()
        .fields(&["/status/phase", "/status/reason", "/status/message"])
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    if let Some(verdict) = standard::deletion(object, input) {
        return verdict;
    }
    let status = object.status();
    let message = status.get("message").text_or_empty().to_owned();
    match status.get("phase").text_or_empty() {
        phase @ ("Bound" | "Available") => Verdict::ready(phase.to_owned(), message),
        "Released" => Verdict::present("Released", "its claim is gone and the data is kept"),
        "Failed" => {
            let reason = status.get("reason").text().filter(|text| !text.is_empty());
            Verdict::failed(reason.unwrap_or("ReclaimFailed").to_owned(), message)
        }
        "Pending" => Verdict::pending("NotAvailableYet", message),
        "" => Verdict::pending("NoPhaseYet", "it has no phase yet"),
        other => Verdict::unknown("UnknownPhase", format!("its phase is {other}")),
    }
}
