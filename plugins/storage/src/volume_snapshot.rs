//! VolumeSnapshot and `VolumeSnapshotContent`, which report in the same way.
//!
//! The same as in Argo CD: ready to use, or an error, or Pending.

use kindsight_sdk::prelude::*;

use crate::SNAPSHOT;

pub(crate) fn kind(kind: &str) -> Kind {
    Kind::new(SNAPSHOT, "*", kind)
        .deletion_check()
        .fields(&["/status/readyToUse", "/status/error"])
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    if let Some(verdict) = standard::deletion(object, input) {
        return verdict;
    }
    let status = object.status();
    if status.get("readyToUse").is_true() {
        return Verdict::ready("ReadyToUse", "");
    }
    let error = status.get("error");
    if error.is_empty() {
        return Verdict::pending("NotReadyToUse", "the snapshot is not ready to use yet");
    }
    let message = error.get("message").text_or_empty();
    Verdict::failed("SnapshotError", message.to_owned())
}
