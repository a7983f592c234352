//! Phases: the closed part of a state, which the host rolls up.

use crate::words::words;

words! {
    /// Condition of an object, in the closed set of words that a host can count with and roll up.
    ///
    /// Best to worst in a roll-up: ready and present (equal), suspended, degraded, pending, terminating,
    /// not-present, failed, unknown.
    Phase {
        /// Works as asked, or has finished well. For explicit evidence only: a wrong `ready` is the worst
        /// answer there is, because people ship on it.
        Ready = "ready",
        /// Exists, and whether it works is not something it tells. Counts like ready.
        Present = "present",
        /// Stopped on purpose and able to go on.
        Suspended = "suspended",
        /// Works, and something is wrong that does not stop it: one Pod of a hundred that crashes, the last
        /// run of a schedule that failed.
        Degraded = "degraded",
        /// On its way: created, rolling out, waiting for something that normally comes by itself.
        Pending = "pending",
        /// Being deleted.
        Terminating = "terminating",
        /// The object says that what it stands for is not there. The host itself uses it for objects that
        /// were expected and not reported; few interpreters have a use for it.
        NotPresent = "not-present",
        /// Will not become ready unless somebody changes something.
        Failed = "failed",
        /// The interpreter looked and could not tell. Not for objects it does not judge: those are
        /// unsupported.
        Unknown = "unknown",
    }
}

/// States that mean the same in every interpreter, with their phases; a description cannot give them
/// another one.
pub const RESERVED_STATES: [(&str, Phase); 9] = [
    ("Ready", Phase::Ready),
    ("Succeeded", Phase::Ready),
    ("Present", Phase::Present),
    ("Suspended", Phase::Suspended),
    ("Degraded", Phase::Degraded),
    ("Pending", Phase::Pending),
    ("Terminating", Phase::Terminating),
    ("Failed", Phase::Failed),
    ("Unknown", Phase::Unknown),
];
