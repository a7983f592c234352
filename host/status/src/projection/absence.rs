//! The host's verdicts on resources that are missing in a report, or that its source cannot report any more.
//!
//! The coverage of the Kind decides, both for resources that were sent and for objects that were observed
//! before.

use std::sync::Arc;

use kindsight_model::{Absence, Coverage, KindCoverage, Phase, Verdict, host_reason};

use super::Reported;

/// Cause of the state of a Kind with an item that could not be read.
const ITEM_UNREADABLE: &str = "an item of the report cannot be read";

/// The coverage that decides whether an object was deleted that is not in the report. The object of an item that could
/// not be read exists, so the report does not cover its Kind.
pub(super) fn coverage(reported: &Reported) -> Coverage {
    let mut coverage = reported.coverage.clone();
    let cause: Arc<str> = ITEM_UNREADABLE.into();
    for item in reported.rejected.iter() {
        match item.gvk() {
            Some(gvk) => coverage.limit(&gvk.group, &gvk.kind, &cause),
            None => coverage.leave_out(Arc::clone(&cause)),
        }
    }
    coverage
}

/// The verdict on a resource that was sent and is not in the report. `last` is its last verdict.
pub(super) fn of_sent(found: &KindCoverage, kind: &str, last: Option<&Verdict>) -> Verdict {
    match found.state.absence() {
        Absence::Conclusive => Verdict::not_present(),
        Absence::Inconclusive => {
            let message = format!(
                "objects of Kind {kind} are not all known: {}",
                found.cause()
            );
            Verdict::unknown(host_reason::UNREADABLE, message)
        }
        Absence::Awaited => {
            let known = last.filter(|last| last.by.is_some() || last.phase != Phase::Unknown);
            known.map_or_else(|| not_reported(found, kind), Verdict::clone)
        }
        Absence::Unselected | Absence::Unreported => not_reported(found, kind),
    }
}

/// The verdict on an object that was observed before and is not in the report.
pub(super) fn of_observed(found: &KindCoverage, kind: &str, last: &Verdict) -> Verdict {
    match found.state.absence() {
        Absence::Unreported => not_reported(found, kind),
        // If the absence is conclusive, the placement lists the object as gone or does not list it.
        Absence::Awaited | Absence::Inconclusive | Absence::Conclusive | Absence::Unselected => {
            last.clone()
        }
    }
}

/// The verdict on an object whose Kind the source cannot report.
pub(super) fn not_reported(found: &KindCoverage, kind: &str) -> Verdict {
    let message = match &found.cause {
        Some(cause) => format!("objects of Kind {kind} are not reported: {cause}"),
        None => format!("the cluster does not report on objects of Kind {kind}"),
    };
    Verdict::unknown(host_reason::NOT_REPORTED, message)
}

#[cfg(test)]
mod tests {
    use kindsight_model::{Gvk, KindState, ObjectError, Rejected, RejectedIdentity};

    use super::*;

    #[test]
    fn an_item_that_cannot_be_read_limits_its_kind() {
        let pod = RejectedIdentity {
            gvk: Gvk::new("", "v1", "Pod"),
            namespace: "web".into(),
            name: "a".into(),
        };
        for (pointer, identity, limited) in [
            ("/status/resourceStatuses/0/res", Some(pod), vec!["Pod"]),
            ("/status/podStatuses", None, vec!["Pod"]),
            ("/status/resourceStatuses", None, vec!["Pod", "Service"]),
        ] {
            let item = Rejected {
                pointer: pointer.to_owned(),
                error: ObjectError::NoKind,
                identity,
            };
            let reported = Reported {
                rejected: [item].into(),
                ..Reported::default()
            };
            let found = coverage(&reported);
            let kinds = ["Pod", "Service"].into_iter();
            let kinds = kinds.filter(|kind| found.may_lack("", kind, None));
            assert_eq!(kinds.collect::<Vec<_>>(), limited, "{pointer}");
        }
    }

    #[test]
    fn the_coverage_of_a_kind_decides_the_verdict_on_a_missing_resource() {
        let ready = Verdict::host(Phase::Ready, "Available", "");
        let never = Verdict::no_report();
        let table = [
            (KindState::Complete, "NotPresent", "NotPresent", None),
            (KindState::Presumed, "NotPresent", "NotPresent", None),
            (KindState::Selected, "Unknown", "Unknown", None),
            (KindState::Incomplete, "Unknown", "Unknown", Some("Ready")),
            (KindState::Listing, "Ready", "Unknown", Some("Ready")),
            (
                KindState::NotRequested,
                "Unknown",
                "Unknown",
                Some("Unknown"),
            ),
            (
                KindState::NotListable,
                "Unknown",
                "Unknown",
                Some("Unknown"),
            ),
            (KindState::Unserved, "Ready", "Unknown", Some("Ready")),
            (KindState::Forbidden, "Unknown", "Unknown", Some("Unknown")),
            (KindState::Unavailable, "Ready", "Unknown", Some("Ready")),
        ];
        assert_eq!(table.map(|row| row.0), KindState::ALL);
        for (state, sent, first, observed) in table {
            let found = KindCoverage::new(state);
            assert_eq!(
                *of_sent(&found, "Pod", Some(&ready)).state,
                *sent,
                "{state}"
            );
            for last in [None, Some(&never)] {
                assert_eq!(*of_sent(&found, "Pod", last).state, *first, "{state}");
            }
            if let Some(observed) = observed {
                let verdict = of_observed(&found, "Pod", &ready);
                assert_eq!(*verdict.state, *observed, "{state}");
            }
        }
    }
}
