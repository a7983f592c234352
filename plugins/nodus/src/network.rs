//! Network and `ProviderNetwork`.
//!
//! No other tool has a rule. The operator of Nodus reports one word in `status.state`. It does not
//! retry a failed creation after the reconcile that its own status update causes, so an internal
//! error is a failure. It writes nothing before the first attempt, for a CNI type other than its own,
//! and after some failed creations of a `ProviderNetwork`: without a state, the object is Pending.
//!
//! If the first attempt fails after it created the logical switch, the second attempt finds the
//! switch and writes `Created`. No field of the object shows the first result. So `Created` proves
//! only the logical switch, and the message of the verdict states no more.
//!
//! The state has no generation. The operator does not apply a later change of the spec and keeps
//! the state, so Ready makes no statement about such a change.
//!
//! A status without the member `state` is from another operator. The generic interpreter evaluates it.

use kindsight_sdk::prelude::*;

pub(crate) fn kind(kind: &str) -> Kind {
    Kind::new(crate::GROUP, "*", kind)
        .deletion_check()
        .fields(&["/spec/cniType", "/status"])
}

/// The only CNI type that the operator creates networks for.
const CNI_TYPE: &str = "ovn4nfv";

/// The verdict on an object of either Kind. `created` is the message for the state `Created`.
pub(crate) fn rule(
    object: &Object<'_>,
    input: &Input<'_>,
    created: &'static str,
) -> Result<Verdict, Failure> {
    if let Some(verdict) = standard::deletion(object, input) {
        return Ok(verdict);
    }
    let status = object.status();
    let state = status.get("state");
    let mut members = status.members();
    if !status.is_empty() && !members.any(|(name, _)| name == "state") {
        return Err(Failure::unsupported("its status has no state"));
    }
    Ok(match state.text() {
        Some("Created") => Verdict::ready("Created", created),
        // The first releases write `InternalError`.
        Some(error @ ("CreateInternalError" | "DeleteInternalError" | "InternalError")) => {
            let message = "the operator does not try again: its log has the error of OVN";
            Verdict::failed(error.to_owned(), message)
        }
        Some(other) if !other.is_empty() => {
            Verdict::unknown("UnknownState", format!("its state is {other}"))
        }
        Some(_) => without_state(object),
        None if state.is_empty() => without_state(object),
        None => Verdict::unknown("UnknownState", "its state is not a text"),
    })
}

/// Pending, with the CNI type if the operator does not support it.
fn without_state(object: &Object<'_>) -> Verdict {
    match object.at("/spec/cniType").text() {
        Some(other) if other != CNI_TYPE => {
            let message = format!("the operator supports {CNI_TYPE}, but its cniType is {other}");
            Verdict::pending("CniTypeNotSupported", message)
        }
        _ => Verdict::pending("NoStateYet", "the operator has not reported a state yet"),
    }
}
