//! `VolumeAttachment`.
//!
//! No other tool has a rule. An error is not a failure here, because the attacher retries, and
//! usually waits for another Node to release the volume.

use kindsight_sdk::prelude::*;

use crate::STORAGE;

pub(crate) fn kind() -> Kind {
    Kind::new(STORAGE, "*", "VolumeAttachment")
        .deletion_check()
        .fields(&["/status/attached", "/status/attachError/message"])
}

pub(crate) fn rule(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    if let Some(verdict) = standard::deletion(object, input) {
        return verdict;
    }
    if object.at("/status/attached").is_true() {
        return Verdict::ready("Attached", "");
    }
    match object.at("/status/attachError/message").text() {
        Some(error) => Verdict::pending("AttachError", error.to_owned()),
        None => Verdict::pending("Attaching", "the volume is not attached yet"),
    }
}
