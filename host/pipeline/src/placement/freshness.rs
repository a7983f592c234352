//! Freshness of a placement: current, or the causes for which it may be out of date.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_status::Staleness;

/// Freshness of a placement. The declaration order is the order of precedence: of several causes, readers see
/// the first.
///
/// A cause that says why nothing new arrives comes before a cause that says what is missing, and a cause on the
/// way from the cluster before a cause on the way through an orchestrator and its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Freshness {
    /// The configuration no longer names the cluster.
    NotConfigured,
    /// The cluster cannot be reached.
    Unreachable,
    /// A relevant Kind was not answered.
    Partial,
    /// The state is from before the source of the cluster began, and the source has not confirmed it.
    Unconfirmed,
    /// A newer report cannot be read.
    Unreadable,
    /// The cluster no longer reports on the app.
    ReporterBehind,
    /// The orchestrator that stored the report cannot reach the cluster.
    OrchestratorRetrying,
    /// The store of the report is away.
    StoreAway,
    /// The placement is current.
    Current,
}

/// The current causes of staleness of one placement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Causes(BTreeMap<Freshness, Staleness>);

impl Causes {
    /// Sets a cause. An earlier start of the same cause stays.
    pub(super) fn set(&mut self, cause: Freshness, since_ms: i64, reason: impl Into<Arc<str>>) {
        let since_ms = self
            .since_ms(cause)
            .map_or(since_ms, |known| known.min(since_ms));
        let reason = reason.into();
        self.0.insert(cause, Staleness { since_ms, reason });
    }

    /// Sets a cause with its start and reason, or clears it.
    pub(super) fn replace(&mut self, cause: Freshness, staleness: Option<&Staleness>) {
        match staleness {
            Some(staleness) => self.0.insert(cause, staleness.clone()),
            None => self.0.remove(&cause),
        };
    }

    /// Clears a cause. Returns its start.
    pub(super) fn clear(&mut self, cause: Freshness) -> Option<i64> {
        self.0.remove(&cause).map(|cleared| cleared.since_ms)
    }

    /// Clears the causes that a new report of the cluster itself resolves. The report does not prove that the
    /// cluster can be reached now: only its source knows that.
    pub(super) fn clear_reported(&mut self) {
        for cause in [
            Freshness::NotConfigured,
            Freshness::Unconfirmed,
            Freshness::Unreadable,
            Freshness::ReporterBehind,
            Freshness::OrchestratorRetrying,
            Freshness::StoreAway,
        ] {
            self.0.remove(&cause);
        }
    }

    /// The freshness by precedence.
    pub(super) fn freshness(&self) -> Freshness {
        let first = self.0.first_key_value();
        first.map_or(Freshness::Current, |(cause, _)| *cause)
    }

    /// The reason of the first cause by precedence, with the earliest start of all causes; none while current.
    pub(super) fn shown(&self) -> Option<Staleness> {
        let reason = Arc::clone(&self.0.get(&self.freshness())?.reason);
        let since_ms = self.0.values().map(|cause| cause.since_ms).min()?;
        Some(Staleness { since_ms, reason })
    }

    pub(super) fn has(&self, cause: Freshness) -> bool {
        self.0.contains_key(&cause)
    }

    /// The start of a cause.
    pub(super) fn since_ms(&self, cause: Freshness) -> Option<i64> {
        self.0.get(&cause).map(|known| known.since_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every cause in order of precedence.
    const TABLE: [Freshness; 8] = [
        Freshness::NotConfigured,
        Freshness::Unreachable,
        Freshness::Partial,
        Freshness::Unconfirmed,
        Freshness::Unreadable,
        Freshness::ReporterBehind,
        Freshness::OrchestratorRetrying,
        Freshness::StoreAway,
    ];

    #[test]
    fn readers_see_the_first_cause_with_the_earliest_start_of_every_set_of_causes() {
        for set in 0..1_u32 << TABLE.len() {
            let current: Vec<Freshness> = (0..TABLE.len())
                .filter(|at| set & (1 << at) != 0)
                .map(|at| TABLE[at])
                .collect();
            let mut causes = Causes::default();
            // The last by precedence began first.
            for (since_ms, cause) in current.iter().rev().enumerate() {
                let since_ms = i64::try_from(since_ms).unwrap() + 100;
                causes.set(*cause, since_ms, format!("{cause:?}"));
            }
            let first = current.first().copied();
            assert_eq!(causes.freshness(), first.unwrap_or(Freshness::Current));
            let shown = first.map(|first| Staleness {
                since_ms: 100,
                reason: format!("{first:?}").into(),
            });
            assert_eq!(causes.shown(), shown, "{current:?}");
            for cause in &current {
                assert!(causes.clear(*cause).is_some());
            }
            assert_eq!(causes.shown(), None);
        }
    }

    #[test]
    fn a_report_resolves_what_it_can_and_never_an_outage() {
        let mut causes = Causes::default();
        for cause in TABLE {
            causes.set(cause, 100, "why");
        }
        causes.clear_reported();
        let left: Vec<Freshness> = TABLE
            .into_iter()
            .filter(|cause| causes.has(*cause))
            .collect();
        assert_eq!(left, [Freshness::Unreachable, Freshness::Partial]);
    }

    #[test]
    fn a_cause_that_is_set_again_keeps_its_start() {
        let mut causes = Causes::default();
        causes.set(Freshness::Unreadable, 100, "one");
        causes.set(Freshness::Unreadable, 200, "two");
        let shown = causes.shown().unwrap();
        assert_eq!((shown.since_ms, &*shown.reason), (100, "two"));
    }
}
