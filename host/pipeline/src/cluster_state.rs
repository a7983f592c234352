//! State of one cluster: its connection, its coverage, and the causes that concern all its placements.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use kindsight_model::{ClusterName, Coverage, CoverageRow, Presence};
use kindsight_status::{ConnectionState, ConnectionView, Staleness};

/// Default of the time after the start for which every unanswered Kind makes the placements of its cluster
/// partial.
pub const KIND_GRACE: Duration = Duration::from_mins(1);

/// Reason of placements of a cluster that the configuration no longer names.
const NOT_CONFIGURED: &str = "the cluster is no longer configured; its last report is shown";

/// Maximum number of unanswered Kinds that a view lists.
const UNANSWERED_SHOWN_MAX: usize = 20;

/// Number of answered Kinds above which only the Kinds of the last coverage count. Discovery of a watched cluster finds at
/// most 2,000 Kinds, and an agent that pushes can name other ones in each coverage.
const ANSWERED_MAX: usize = 20_000;

/// State of one cluster.
#[derive(Debug, Default)]
pub(crate) struct ClusterState {
    /// The connection as it is published; none while the cluster is not configured.
    connection: Option<ConnectionView>,
    /// Start and cause of an outage.
    unreachable: Option<Staleness>,
    /// Start of the time without a configuration, for a cluster that was configured.
    not_configured: Option<Staleness>,
    /// Faults of the cluster that name no app.
    faults: Arc<[Arc<str>]>,
    /// Coverage of all Kinds; none before the source sends it, and for folders.
    coverage: Option<Coverage>,
    /// The unanswered Kinds as text, in all views of the cluster.
    unanswered: Arc<[Arc<str>]>,
    /// The Kinds that were answered since the start, by name and namespace; see [`ANSWERED_MAX`].
    answered: HashSet<String>,
    /// End of the time for which every unanswered Kind counts, in Unix milliseconds.
    grace_until_ms: i64,
}

impl ClusterState {
    /// Starts the cluster: it is configured and not connected yet. The state of a known cluster does not change.
    pub(crate) fn expect(&mut self, grace: Duration, now_ms: i64) {
        if self.connection.is_none() {
            let grace = i64::try_from(grace.as_millis()).unwrap_or(i64::MAX);
            self.grace_until_ms = now_ms.saturating_add(grace);
            self.not_configured = None;
        }
        self.change(now_ms, |_| {});
    }

    /// Notes that the cluster is configured: its source sends reports.
    pub(crate) fn configured(&mut self) {
        self.not_configured = None;
    }

    /// Changes the connection. A cluster that was not known is connecting.
    pub(crate) fn change(&mut self, now_ms: i64, change: impl FnOnce(&mut ConnectionView)) {
        let connection = self.connection.get_or_insert_with(|| ConnectionView {
            owner: kindsight_status::ClusterOwner::default(),
            state: ConnectionState::Connecting,
            since_ms: now_ms,
            reason: None,
            faults: Arc::default(),
            heard_ms: None,
            facts: None,
            coverage: None,
        });
        change(connection);
    }

    /// Notes an outage. An outage that is known keeps its start.
    pub(crate) fn lost(&mut self, reason: &str, now_ms: i64) {
        let since_ms = self
            .unreachable
            .as_ref()
            .map_or(now_ms, |known| known.since_ms);
        let reason: Arc<str> = reason.into();
        self.unreachable = Some(Staleness {
            since_ms,
            reason: Arc::clone(&reason),
        });
        self.change(now_ms, |connection| {
            connection.state = ConnectionState::Stale;
            connection.since_ms = since_ms;
            connection.reason = Some(reason);
        });
    }

    /// Notes that the cluster can be reached. Returns whether the connection is new.
    pub(crate) fn reached(&mut self, now_ms: i64) -> bool {
        self.unreachable = None;
        let mut is_new = false;
        self.change(now_ms, |connection| {
            is_new = connection.state != ConnectionState::Connected;
            if is_new {
                connection.state = ConnectionState::Connected;
                connection.since_ms = now_ms;
                connection.reason = None;
            }
        });
        is_new
    }

    /// Forgets everything of a cluster that the configuration no longer names. Returns whether it was known.
    pub(crate) fn forget(&mut self, now_ms: i64) -> bool {
        let unreachable = self.unreachable.as_ref().map(|known| known.since_ms);
        let before = self.not_configured.as_ref().map(|known| known.since_ms);
        let is_known = self.connection.is_some();
        *self = Self {
            not_configured: Some(Staleness {
                since_ms: before.or(unreachable).unwrap_or(now_ms),
                reason: NOT_CONFIGURED.into(),
            }),
            ..Self::default()
        };
        is_known
    }

    /// Replaces the faults of the cluster that name no app.
    pub(crate) fn set_faults(&mut self, faults: Arc<[Arc<str>]>, now_ms: i64) {
        self.faults = Arc::clone(&faults);
        self.change(now_ms, |connection| connection.faults = faults);
    }

    /// Replaces the coverage. States that hold since before the start keep the start that `last_known` has.
    /// Returns the Kinds that are not reported any more, as text; none if the coverage is the same.
    pub(crate) fn cover(
        &mut self,
        name: &ClusterName,
        coverage: Coverage,
        last_known: Option<&Coverage>,
        now_ms: i64,
    ) -> Option<Vec<String>> {
        let before = self.coverage.take();
        let coverage = coverage.dated(before.as_ref().or(last_known), now_ms);
        if before.as_ref() == Some(&coverage) {
            self.coverage = before;
            return None;
        }
        let lost = before.map_or_else(Vec::new, |before| lost(&before, &coverage));
        let shown = coverage.unanswered().take(UNANSWERED_SHOWN_MAX);
        self.unanswered = shown.map(|row| format!("{name}: {row}").into()).collect();
        self.note_answered(&coverage);
        self.coverage = Some(coverage.clone());
        self.change(now_ms, |connection| connection.coverage = Some(coverage));
        Some(lost)
    }

    fn note_answered(&mut self, coverage: &Coverage) {
        self.answered.extend(coverage.rows().filter_map(|row| {
            let is_answered = row.coverage.state.is_answered();
            is_answered.then(|| row.name())
        }));
        if self.answered.len() > ANSWERED_MAX {
            let present: HashSet<String> = coverage.rows().map(|row| row.name()).collect();
            self.answered.retain(|name| present.contains(name));
        }
    }

    /// Returns whether the cluster ever answered for a Kind since the start.
    pub(crate) fn has_answered(&self, row: &CoverageRow<'_>) -> bool {
        self.answered.contains(&row.name())
    }

    /// Returns whether queries can be answered: every Kind was answered or had the grace time, or there is no
    /// connection.
    pub(crate) fn is_ready(&self, now_ms: i64) -> bool {
        let is_waiting = self.grace_ends_ms().is_some() && self.is_in_grace(now_ms);
        let Some(connection) = &self.connection else {
            return self.not_configured.is_some();
        };
        match connection.state {
            ConnectionState::Connecting => false,
            ConnectionState::Stale => true,
            ConnectionState::Connected => !is_waiting,
        }
    }

    pub(crate) fn connection(&self) -> Option<&ConnectionView> {
        self.connection.as_ref()
    }

    pub(crate) fn unreachable(&self) -> Option<&Staleness> {
        self.unreachable.as_ref()
    }

    pub(crate) fn not_configured(&self) -> Option<&Staleness> {
        self.not_configured.as_ref()
    }

    pub(crate) fn faults(&self) -> &Arc<[Arc<str>]> {
        &self.faults
    }

    pub(crate) fn coverage(&self) -> Option<&Coverage> {
        self.coverage.as_ref()
    }

    /// The unanswered Kinds as text, at most [`UNANSWERED_SHOWN_MAX`].
    pub(crate) fn unanswered(&self) -> &Arc<[Arc<str>]> {
        &self.unanswered
    }

    /// Returns whether every unanswered Kind makes the placements of the cluster partial.
    pub(crate) fn is_in_grace(&self, now_ms: i64) -> bool {
        now_ms < self.grace_until_ms
    }

    /// End of the grace time, in Unix milliseconds; none while no Kind is unanswered.
    pub(crate) fn grace_ends_ms(&self) -> Option<i64> {
        (!self.unanswered.is_empty()).then_some(self.grace_until_ms)
    }
}

/// The Kinds whose objects a coverage reports and the next one does not, as text with the cause.
fn lost(before: &Coverage, now: &Coverage) -> Vec<String> {
    let is_reported = |row: &CoverageRow<'_>| row.coverage.state.presence() == Presence::Current;
    let reported = before.rows().filter(is_reported);
    let reported: HashSet<String> = reported.map(|row| row.name()).collect();
    let lost = now.rows().filter(|row| !is_reported(row));
    let lost = lost.filter(|row| reported.contains(&row.name()));
    lost.take(UNANSWERED_SHOWN_MAX)
        .map(|row| row.to_string())
        .collect()
}

#[cfg(test)]
mod tests {
    use kindsight_model::{KindCoverage, KindState, Scope};

    use super::*;

    /// A coverage in which the cluster answered for these Kinds.
    fn answered(kinds: impl IntoIterator<Item = String>) -> Coverage {
        let mut coverage = Coverage::nothing();
        for kind in kinds {
            let complete = KindCoverage::new(KindState::Complete);
            coverage.set("", &kind, Scope::Cluster, complete);
        }
        coverage
    }

    /// Returns whether the state knows an answer for each Kind of a coverage.
    fn has_answered(state: &ClusterState, coverage: &Coverage) -> bool {
        coverage.rows().all(|row| state.has_answered(&row))
    }

    #[test]
    fn answered_kinds_of_earlier_coverages_are_known_up_to_a_limit() {
        let cluster = "p+edge".parse().unwrap();
        let mut state = ClusterState::default();
        let first = answered((0..ANSWERED_MAX - 1).map(|at| format!("Kind{at}")));
        let [second, third] = ["Second", "Third"].map(|kind| answered([kind.to_owned()]));
        for coverage in [&first, &second] {
            assert!(state.cover(&cluster, coverage.clone(), None, 0).is_some());
        }
        assert!(has_answered(&state, &first) && has_answered(&state, &second));
        assert!(state.cover(&cluster, third.clone(), None, 0).is_some());
        assert!(has_answered(&state, &third));
        assert_eq!(state.answered.len(), 1);
    }
}
