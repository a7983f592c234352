//! PersistentVolumeClaim.
//!
//! As Argo CD: a Lost claim has lost its data and needs an operator. One that waits for its first Pod
//! is Pending; telling it from one that cannot be bound requires the StorageClass (argo-cd#29201).

use kindsight_sdk::prelude::*;

pub(crate) fn kind() -> Kind {
    Kind::new("", "*", "PersistentVolumeClaim")
        .fields(&standard::DELETION_FIELDS)
        .fields(&["/status/phase"])
}

pub(crate) fn rule(object: &Object<'_>) -> Verdict {
    if let Some(verdict) = standard::deletion(object) {
        return verdict;
    }
    match object.at("/status/phase").text_or_empty() {
        "Bound" => Verdict::ready("Bound", ""),
        "Lost" => Verdict::failed("Lost", "the volume it was bound to is gone"),
        "Pending" => Verdict::pending("Unbound", "it has no volume yet"),
        "" => Verdict::pending("NoPhaseYet", "it has no phase yet"),
        other => Verdict::unknown("UnknownPhase", format!("its phase is {other}")),
    }
}
