//! Tables of words by their meaning.
//!
//! The words are taken from the status enums of about 180 Kinds for which Argo CD has health
//! scripts, from the tables in wrangler (Rancher) and kubectl-status, and from the cloud APIs whose
//! states operators copy into a status.
//!
//! Each table is sorted, because a value is searched in all of them.

use super::Meaning;

/// Words for an object that has completed successfully and does not change any more.
pub(super) const FINISHED: &[&str] = &[
    "complete",
    "completed",
    "done",
    "finished",
    "passed",
    "succeeded",
    "success",
    "successful",
    "successfully",
];

/// Words for an object that works. `created`, `initialized`, `started`, `registered` and
/// `scheduled` are not included: they are the last step for some Kinds and the first step for
/// others.
pub(super) const GOOD: &[&str] = &[
    "accepted",
    "active",
    "allocated",
    "applied",
    "attached",
    "available",
    "bound",
    "compliant",
    "connected",
    "deployed",
    "established",
    "fulfilled",
    "healthy",
    "installed",
    "issued",
    "joined",
    "loaded",
    "mounted",
    "normal",
    "ok",
    "online",
    "operational",
    "optimal",
    "provisioned",
    "published",
    "ready",
    "reconciled",
    "runnable",
    "running",
    "serving",
    "stable",
    "synced",
    "synchronized",
    "valid",
    "verified",
];

/// Words for an object that is not ready yet. Any other `…ing` at the beginning or end of a value
/// counts too.
pub(super) const PENDING: &[&str] = &[
    "awaiting",
    "being",
    "bootstrap",
    "creating",
    "delayed",
    "incomplete",
    "inprogress",
    "outdated",
    "partial",
    "partially",
    "pending",
    "progress",
    "queued",
    "requested",
    "scheduled",
    "submitted",
    "unavailable",
    "unbound",
    "unpublished",
    "unready",
    "unsynced",
    "unsynchronized",
    "updating",
    "waiting",
    "warmup",
];

/// Words for an object that was stopped on purpose.
pub(super) const SUSPENDED: &[&str] = &[
    "deactivated",
    "disabled",
    "dormant",
    "halted",
    "hibernated",
    "hibernating",
    "paused",
    "shutdown",
    "stopped",
    "suspended",
];

/// Words for an object that is broken or was refused. `warning` is included because a controller
/// that uses it as the state of the complete object means that the object is impaired.
pub(super) const FAILED: &[&str] = &[
    "abort",
    "aborted",
    "backoff",
    "blocked",
    "broken",
    "canceled",
    "cancelled",
    "cannot",
    "conflict",
    "conflicted",
    "corrupt",
    "corrupted",
    "crash",
    "crashed",
    "crashing",
    "crashloop",
    "critical",
    "dangling",
    "deadlock",
    "deadlocked",
    "degraded",
    "denied",
    "disconnected",
    "err",
    "erred",
    "erroneous",
    "error",
    "errored",
    "errors",
    "evicted",
    "exceeded",
    "exhausted",
    "expired",
    "fail",
    "failed",
    "failing",
    "failure",
    "failures",
    "fatal",
    "fault",
    "faulted",
    "faulty",
    "forbidden",
    "hung",
    "illegal",
    "impaired",
    "incompatible",
    "insufficient",
    "invalid",
    "killed",
    "loss",
    "lost",
    "malformed",
    "misconfigured",
    "mismatch",
    "missing",
    "oomkilled",
    "panic",
    "panicked",
    "refused",
    "rejected",
    "revoked",
    "stalled",
    "stuck",
    "terminal",
    "timeout",
    "unable",
    "unauthorized",
    "unhealthy",
    "unreachable",
    "unrecoverable",
    "unresolved",
    "unsatisfiable",
    "unschedulable",
    "unsuccessful",
    "unsuccessfully",
    "unsupported",
    "violated",
    "violation",
    "warn",
    "warning",
];

/// Words that have a meaning only as the complete value: `Down`, but not `ScalingDown`.
pub(super) const WHOLE: &[(&str, Meaning)] = &[
    ("absent", Meaning::Absent),
    ("dead", Meaning::Failed),
    ("down", Meaning::Failed),
    ("exists", Meaning::Good),
    ("green", Meaning::Good),
    ("inconclusive", Meaning::Unknown),
    ("init", Meaning::Pending),
    ("live", Meaning::Good),
    ("missing", Meaning::Absent),
    ("new", Meaning::Pending),
    ("noncompliant", Meaning::Failed),
    ("notfound", Meaning::Absent),
    ("notpresent", Meaning::Absent),
    ("notready", Meaning::Pending),
    ("off", Meaning::Suspended),
    ("offline", Meaning::Failed),
    ("red", Meaning::Failed),
    ("unknown", Meaning::Unknown),
    ("up", Meaning::Good),
    ("yellow", Meaning::Pending),
];

/// Pairs of words that have a meaning only next to each other. `None`: the pair has no meaning,
/// although one of its words has one.
pub(super) const PAIRS: &[((&str, &str), Option<Meaning>)] = &[
    (("already", "exists"), Some(Meaning::Failed)),
    (("back", "off"), Some(Meaning::Failed)),
    // A completed failover: Ramen's DRPlacementControl.
    (("failed", "over"), None),
    (("failing", "over"), Some(Meaning::Pending)),
    (("fault", "tolerance"), None),
    (("fault", "tolerant"), None),
    (("in", "service"), Some(Meaning::Good)),
    (("in", "sync"), Some(Meaning::Good)),
    (("in", "use"), Some(Meaning::Good)),
    (("not", "allowed"), Some(Meaning::Failed)),
    (("not", "enough"), Some(Meaning::Failed)),
    (("not", "permitted"), Some(Meaning::Failed)),
    (("not", "supported"), Some(Meaning::Failed)),
    (("of", "sync"), Some(Meaning::Pending)),
    (("timed", "out"), Some(Meaning::Failed)),
    (("to", "date"), Some(Meaning::Good)),
];

/// Words ending in `…ing` that do not mean a change in progress.
pub(super) const STEADY: &[&str] = &[
    "archiving",
    "autoscaling",
    "everything",
    "listening",
    "logging",
    "monitoring",
    "networking",
    "nothing",
    "operating",
    "routing",
    "running",
    "serving",
    "streaming",
    "tracing",
    "working",
];

/// Words that reverse a good word after them.
pub(super) const NEGATIONS: &[&str] = &["no", "non", "not", "without"];

/// Words after which a good word is only expected: `WaitingForPodsReady`.
pub(super) const PROSPECTS: &[&str] = &["be", "for", "until"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_is_sorted() {
        for table in [
            FINISHED, GOOD, PENDING, SUSPENDED, FAILED, STEADY, NEGATIONS, PROSPECTS,
        ] {
            assert!(table.is_sorted(), "{table:?}");
        }
        assert!(WHOLE.is_sorted_by_key(|(word, _)| word));
        assert!(PAIRS.is_sorted_by_key(|(pair, _)| pair));
    }
}
