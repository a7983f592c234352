//! VolumeSnapshot and `VolumeSnapshotContent`, which report in the same way.
//!
//! The same as in Argo CD: ready to use, or an error, or Pending. A snapshot that is ready to use and
//! has an error is Degraded, because the controller removes the error when it is solved. Argo CD
//! calls it Healthy.

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
    let error = status.get("error");
    let message = error.get("message").text_or_empty();
    match (status.get("readyToUse").is_true(), error.is_empty()) {
        (true, true) => Verdict::ready("ReadyToUse", ""),
        (true, false) => Verdict::degraded("SnapshotError", message.to_owned()),
        (false, true) => Verdict::pending("NotReadyToUse", "the snapshot is not ready to use yet"),
        (false, false) => Verdict::failed("SnapshotError", message.to_owned()),
    }
}
