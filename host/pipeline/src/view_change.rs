//! Changes of views by new verdicts.

use kindsight_model::Verdict;

/// The change of a view, in ascending order of its effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ViewChange {
    /// The view is the same.
    Nothing,
    /// The start time of a state differs. It is shown, and is no transition.
    Since,
    /// A verdict differs.
    Verdicts,
}

impl ViewChange {
    /// The change by showing one verdict instead of another on the same object. The time of the next
    /// recheck is not shown.
    pub(crate) fn between(shown: &Verdict, new: &Verdict) -> Self {
        let is_same = shown.phase == new.phase
            && shown.state == new.state
            && shown.reason == new.reason
            && shown.message == new.message
            && shown.by == new.by;
        match is_same {
            false => Self::Verdicts,
            true if shown.since_ms != new.since_ms => Self::Since,
            true => Self::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kindsight_model::{Digest, InterpretedBy, Phase};

    use super::*;

    #[test]
    fn a_better_date_is_no_new_verdict_and_everything_that_is_read_is_one() {
        let shown = || Verdict::host(Phase::Pending, "Waiting", "for a node");
        let between = |new: Verdict| ViewChange::between(&shown(), &new);
        assert_eq!(between(shown()), ViewChange::Nothing);
        let rechecked = Verdict {
            recheck_at_ms: Some(1),
            ..shown()
        };
        assert_eq!(between(rechecked), ViewChange::Nothing);
        let dated = Verdict {
            since_ms: Some(1),
            ..shown()
        };
        assert_eq!(between(dated.clone()), ViewChange::Since);
        assert_eq!(ViewChange::between(&dated, &shown()), ViewChange::Since);
        let by = InterpretedBy::new("apps".parse().unwrap(), "1.0.0", Digest::of(b"apps"));
        for new in [
            Verdict::host(Phase::Failed, "Waiting", "for a node"),
            Verdict::host(Phase::Pending, "Waits", "for a node"),
            Verdict::host(Phase::Pending, "Waiting", "for a volume"),
            Verdict {
                state: "Draining".into(),
                ..dated
            },
            shown().given_by(&Arc::new(by)),
        ] {
            assert_eq!(between(new.clone()), ViewChange::Verdicts, "{new:?}");
        }
    }
}
