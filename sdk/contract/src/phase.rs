//! Phases: the closed part of a state, which the host rolls up.

use crate::words::words;

words! {
    /// The condition of an object, from a closed set of words that a host can count and roll up.
    ///
    /// Best to worst in a roll-up: ready and present (equal), suspended, degraded, pending,
    /// terminating, not-present, failed, unknown.
    Phase {
        /// The object works as requested, or has completed successfully. Use it only with explicit
        /// evidence: a wrong `ready` is the worst possible answer, because users rely on it.
        Ready = "ready",
        /// The object exists, and does not report whether it works. Counts like ready.
        Present = "present",
        /// The object was stopped on purpose, and can continue.
        Suspended = "suspended",
        /// The object works, but has a problem that does not stop it, for example one Pod of a
        /// hundred that crashes, or a schedule whose last run failed.
        Degraded = "degraded",
        /// The object is not ready yet: it was created, is rolling out, or waits for something that
        /// normally happens without intervention.
        Pending = "pending",
        /// The object is being deleted.
        Terminating = "terminating",
        /// The object reports that the thing it represents does not exist. The host itself uses
        /// this phase for expected objects that were not reported. Few interpreters need it.
        NotPresent = "not-present",
        /// The object will not become ready without a change by a user.
        Failed = "failed",
        /// The interpreter evaluated the object but could not determine its condition. Not for
        /// objects that the interpreter does not judge: those are unsupported.
        Unknown = "unknown",
    }
}

/// States with the same meaning and phase in every interpreter. A description cannot give them a
/// different phase.
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

/// States that the SDK adds to each description, unless its author declares them. The SDK adds them
/// in this order, after the states of the author.
pub const ADDED_STATES: [&str; 5] = ["Present", "Pending", "Failed", "Terminating", "Unknown"];
