//! Checks that come before any rule: deletion, a spec that was not observed yet, Stalled and
//! Reconciling.
//! These are the API conventions for all controllers, in the same order as in kstatus and Argo CD.

mod counts;
mod deletion;
pub mod pods;

use crate::states::{FAILED, PENDING, PRESENT, TERMINATING, UNKNOWN};
use crate::{Input, Object, State, Verdict};

pub use counts::{by_status_alone, fewer_than_sent};
pub use deletion::{DELETION_FIELDS, deletion, deletion_delayed_by, deletion_waiting_for};

/// The fields that [`checks`] reads.
pub const FIELDS: [&str; 5] = [
    "/metadata/deletionTimestamp",
    "/metadata/finalizers",
    "/metadata/generation",
    "/status/conditions",
    "/status/observedGeneration",
];

/// The states that the verdicts of this module contain. Every description declares them
/// automatically, in this order, which hosts know as
/// [`ADDED_STATES`](kindsight_contract::phase::ADDED_STATES).
pub const STATES: [State; 5] = [PRESENT, PENDING, FAILED, TERMINATING, UNKNOWN];

/// The verdict that follows from the conventions, if they determine one. Its Kind must be declared
/// with [`crate::Kind::standard_checks`].
pub fn checks(object: &Object<'_>, input: &Input<'_>) -> Option<Verdict> {
    deletion(object, input).or_else(|| progress(object))
}

/// Present unless it is being deleted: the verdict on Kinds that report no readiness. Its Kind must
/// be declared with [`crate::Kind::deletion_check`].
pub fn presence(object: &Object<'_>, input: &Input<'_>) -> Verdict {
    deletion(object, input)
        .unwrap_or_else(|| Verdict::present("Exists", "exists; this Kind reports no status"))
}

/// Stalled, not yet observed, or Reconciling.
///
/// Stalled has priority: a controller that has given up on the newest spec may report this before
/// it increases `observedGeneration`.
pub fn progress(object: &Object<'_>) -> Option<Verdict> {
    let conditions = object.conditions();
    if let Some(stalled) = conditions.find("Stalled").filter(crate::Condition::is_true) {
        let verdict = Verdict::failed(stalled.reason_or("Stalled"), stalled.message().to_owned());
        return Some(verdict.since(stalled.since_ms()));
    }
    if object.is_stale() {
        return Some(generation_not_observed(object));
    }
    let reconciling = conditions
        .find("Reconciling")
        .filter(crate::Condition::is_true)?;
    let reason = reconciling.reason_or("Reconciling");
    Some(Verdict::pending(reason, reconciling.message().to_owned()).since(reconciling.since_ms()))
}

/// Unknown, because neither the report nor a manifest has the spec that the rule needs.
pub fn spec_not_reported() -> Verdict {
    Verdict::unknown(
        "SpecNotReported",
        "neither the report nor a manifest has its spec, so the status cannot be compared with it",
    )
}

/// Pending, because the controller has not observed the newest spec.
pub fn generation_not_observed(object: &Object<'_>) -> Verdict {
    Verdict::pending(
        "GenerationNotObserved",
        format!(
            "generation {} is not observed yet, only {}",
            object.generation().unwrap_or_default(),
            object.observed_generation().unwrap_or_default()
        ),
    )
}
