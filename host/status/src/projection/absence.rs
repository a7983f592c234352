//! The host's verdicts on resources that are missing in a report, or that its source cannot report any more.
//!
//! The coverage of the Kind decides, both for resources that were sent and for objects that were observed
//! before.

use kindsight_model::{Absence, KindCoverage, Phase, Verdict, host_reason};

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
    use kindsight_model::KindState;

    use super::*;

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
