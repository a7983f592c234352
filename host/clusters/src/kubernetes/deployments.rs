//! The deployments that `AppContext`s send to a cluster, and the source of the report on each deployment: the
//! ResourceBundleState of a monitor, or the objects that kindsight watches.
//!
//! Pure: the input is the current state, and the output is the list of steps.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use kindsight_cluster_index::ScopeId;
use kindsight_model::{Bundle, BundleError, DeploymentId, ReportMode};
use tokio::time::Instant;

use super::bundle_states::{BundleStates, Content, StateKey, status_hash};
use crate::RecordedDeployments;

/// Time for which the report of a monitor may lack watched objects before it is used nevertheless. A monitor writes
/// its first report object by object, so objects that it has not written yet are not missing. For the same time, the last
/// report is kept while the objects of a report in several objects do not belong together.
const HANDOVER_MAX: Duration = Duration::from_secs(30);

/// The source of the last report on a deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// Its objects.
    Direct,
    /// The report of a monitor with this hash.
    Bundle(u64),
    /// Any report, and then a report of a monitor that cannot be used. The next report is sent even if it is the last
    /// one, because it resolves the fault.
    Refused,
}

/// The sources of the last reports on deployments, kept over sessions.
#[derive(Debug, Default)]
pub(super) struct ShownDeployments(HashMap<DeploymentId, (u64, Shown)>);

impl ShownDeployments {
    /// Notes the source of a report, and the number of the deployment's record.
    pub(super) fn insert(&mut self, id: DeploymentId, number: u64, shown: Shown) {
        self.0.insert(id, (number, shown));
    }

    /// The source of the last report under this number of the deployment's record.
    pub(super) fn get(&self, id: &DeploymentId, number: u64) -> Option<Shown> {
        let shown = self.0.get(id).filter(|recorded| recorded.0 == number);
        shown.map(|it| it.1)
    }

    pub(super) fn remove(&mut self, id: &DeploymentId) {
        self.0.remove(id);
    }

    fn retain(&mut self, recorded: &RecordedDeployments) {
        self.0.retain(|id, _| recorded.contains_key(id));
    }
}

/// The step for one deployment in the current state.
#[derive(Debug)]
pub(super) enum Step {
    /// Report it from its objects, with these faults.
    Direct(DeploymentId, Vec<Arc<str>>),
    /// Report the content of a monitor's report with this hash. These other reports are not used.
    Bundle(Box<Bundle>, u64, Vec<StateKey>),
    /// The report in use was sent already.
    Unchanged(DeploymentId),
    /// The report of the monitor cannot be used, and there is no other source.
    Unreadable(DeploymentId, StateKey, BundleError),
    /// No source reports on it any more.
    Gone(DeploymentId),
    /// It is no longer sent to this cluster.
    Forgotten(DeploymentId),
}

/// The deployments of one cluster.
#[derive(Default)]
pub(super) struct Deployments {
    mode: ReportMode,
    recorded: Arc<RecordedDeployments>,
    pub(super) states: BundleStates,
    /// Deployments that need a step.
    due: BTreeSet<DeploymentId>,
    /// Deployments whose monitor's report lacks watched objects, with the time at which it is used nevertheless, or whose
    /// report is torn, with the time at which it is refused.
    handovers: BTreeMap<DeploymentId, Instant>,
    /// The reports that were reported as unused.
    unused: HashMap<DeploymentId, BTreeSet<StateKey>>,
    /// Scopes with a needed report whose status was not requested.
    wanted: BTreeSet<ScopeId>,
}

impl Deployments {
    /// Sets the source of reports. A changed source may affect every deployment.
    pub(super) fn set_mode(&mut self, mode: ReportMode) {
        if std::mem::replace(&mut self.mode, mode) != mode {
            self.due.extend(self.recorded.keys().cloned());
        }
    }

    /// Replaces the deployments that are sent to the cluster. Returns steps for removed deployments.
    pub(super) fn record(
        &mut self,
        recorded: Arc<RecordedDeployments>,
        shown: &mut ShownDeployments,
    ) -> Vec<Step> {
        let before = std::mem::replace(&mut self.recorded, recorded);
        shown.retain(&self.recorded);
        let is_new = |id: &DeploymentId| self.recorded.get(id) != before.get(id);
        let new = self.recorded.keys().filter(|id| is_new(id));
        self.due.extend(new.cloned());
        let gone = before.keys().filter(|id| !self.recorded.contains_key(id));
        let gone: Vec<DeploymentId> = gone.cloned().collect();
        for id in &gone {
            self.handovers.remove(id);
            self.unused.remove(id);
        }
        gone.into_iter().map(Step::Forgotten).collect()
    }

    /// The number of a deployment's record; none if the deployment is not recorded.
    pub(super) fn number(&self, id: &DeploymentId) -> Option<u64> {
        self.recorded.get(id).map(|it| it.number)
    }

    /// Scopes with a needed report whose status was not requested. Each scope is returned once.
    pub(super) fn take_wanted(&mut self) -> BTreeSet<ScopeId> {
        for id in self.states.take_changed() {
            if let Some(recorded) = self.recorded.get(&id) {
                let first = self.states.of(&id, &recorded.namespace).into_iter().next();
                self.want(first);
                self.due.insert(id);
            }
        }
        std::mem::take(&mut self.wanted)
    }

    /// The next time at which a report is used although it lacks watched objects, or is refused because it is torn.
    pub(super) fn wakes_at(&self) -> Option<Instant> {
        self.handovers.values().min().copied()
    }

    /// The steps for the deployments that changed. `is_caught_up` returns whether a report has the watched objects
    /// of its app.
    pub(super) fn steps(
        &mut self,
        shown: &ShownDeployments,
        now: Instant,
        is_caught_up: impl Fn(&Bundle) -> bool,
    ) -> Vec<Step> {
        let late = self.handovers.iter().filter(|(_, at)| **at <= now);
        self.due.extend(late.map(|(id, _)| id.clone()));
        let due = std::mem::take(&mut self.due).into_iter();
        let steps = due.filter_map(|id| self.step(id, shown, now, &is_caught_up));
        steps.collect()
    }

    fn step(
        &mut self,
        id: DeploymentId,
        shown: &ShownDeployments,
        now: Instant,
        is_caught_up: impl Fn(&Bundle) -> bool,
    ) -> Option<Step> {
        let recorded = self.recorded.get(&id)?.clone();
        let shown = shown.get(&id, recorded.number);
        // The time is kept only while the report lacks objects; otherwise the session would wake for ever.
        let handover_at = self.handovers.remove(&id);
        let mut keys = match self.mode {
            ReportMode::Direct => Vec::new(),
            ReportMode::Auto | ReportMode::Bundles => self.states.of(&id, &recorded.namespace),
        };
        if keys.is_empty() {
            self.unused.remove(&id);
            return match (self.mode, shown) {
                (ReportMode::Bundles, Some(_)) => Some(Step::Gone(id)),
                (ReportMode::Bundles, None) => None,
                _ => Some(Step::Direct(id, Vec::new())),
            };
        }
        let key = keys.remove(0);
        if let Err(torn) = self.states.join(&key) {
            let at = handover_at.unwrap_or(now + HANDOVER_MAX);
            if at > now {
                self.handovers.insert(id, at);
                return None;
            }
            return Some(self.refused(id, key, &torn));
        }
        let unused: BTreeSet<StateKey> = keys.into_iter().collect();
        let state = self.states.get_mut(&key)?;
        match &state.content {
            Content::Read(bundle) => {
                let hash = status_hash(bundle);
                let is_same_unused = self.unused.get(&id).is_none_or(|known| *known == unused);
                if shown == Some(Shown::Bundle(hash)) && is_same_unused {
                    state.content = Content::Reported(hash);
                    self.unused.insert(id.clone(), unused);
                    return Some(Step::Unchanged(id));
                }
                if shown == Some(Shown::Direct) && !is_caught_up(bundle) {
                    let at = handover_at.unwrap_or(now + HANDOVER_MAX);
                    if at > now {
                        self.handovers.insert(id.clone(), at);
                        return Some(Step::Direct(id, Vec::new()));
                    }
                }
                let reported = Content::Reported(hash);
                let Content::Read(bundle) = std::mem::replace(&mut state.content, reported) else {
                    return None;
                };
                let keys = unused.iter().cloned().collect();
                self.unused.insert(id, unused);
                Some(Step::Bundle(bundle, hash, keys))
            }
            Content::Reported(hash)
                if shown == Some(Shown::Bundle(*hash))
                    && self.unused.get(&id).is_some_and(|known| *known == unused) =>
            {
                Some(Step::Unchanged(id))
            }
            Content::NotAsked | Content::Reported(_) => {
                // The report must be sent again, but its body was dropped: fetch it again.
                state.content = Content::NotAsked;
                self.want(Some(key));
                None
            }
            // The report was joined above, or this step has ended.
            Content::Split(_) => None,
            Content::Refused(error) => {
                let error = error.clone();
                Some(self.refused(id, key, &error))
            }
        }
    }

    /// The step for a report that cannot be used.
    fn refused(&self, id: DeploymentId, key: StateKey, error: &BundleError) -> Step {
        match (self.mode, error) {
            (ReportMode::Auto, BundleError::NoStatus) => Step::Direct(id, Vec::new()),
            (ReportMode::Auto, error) => {
                let fault = format!("{}: {error}", key.origin());
                Step::Direct(id, vec![fault.into()])
            }
            _ => Step::Unreadable(id, key, error.clone()),
        }
    }

    /// Requests the status of a report if it was not requested yet.
    fn want(&mut self, key: Option<StateKey>) {
        let Some(key) = key.filter(|_| self.mode != ReportMode::Direct) else {
            return;
        };
        let state = self.states.get_mut(&key);
        if state.is_some_and(|state| matches!(state.content, Content::NotAsked)) {
            self.wanted.insert(key.watch);
        }
    }
}

#[cfg(test)]
mod tests;
