//! Deployments that `AppContext`s send to a cluster, and which of two views each is reported by: the
//! monitor's ResourceBundleState, or its objects as they are seen here.
//!
//! Pure: takes what there is, returns what is to be told.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use kindsight_model::{Bundle, BundleError, DeploymentId};
use tokio::time::Instant;

use super::bundle_states::{BundleStates, Content, StateKey, status_hash};
use super::news::WatchId;
use crate::RecordedDeployments;

/// Time for which a monitor's report may lag behind what is seen before it is taken all the same: a monitor
/// writes its first report object by object, and what it did not come to yet is not missing.
const HANDOVER_MAX: Duration = Duration::from_secs(30);

/// The view by which the apps of `AppContext`s are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReportMode {
    /// By the ResourceBundleState of the app where there is one that can be used, else by its objects.
    #[default]
    Auto,
    /// By the ResourceBundleState of the app alone.
    Bundles,
    /// By objects alone.
    Direct,
}

/// The way in which a deployment was last reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// By its objects.
    Direct,
    /// By a report with this hash.
    Bundle(u64),
}

/// The ways in which deployments were last reported, over sessions.
#[derive(Debug, Default)]
pub(super) struct ShownDeployments(HashMap<DeploymentId, (u64, Shown)>);

impl ShownDeployments {
    /// Notes how a deployment was reported, by the number of its record.
    pub(super) fn insert(&mut self, id: DeploymentId, number: u64, shown: Shown) {
        self.0.insert(id, (number, shown));
    }

    /// The way in which a deployment was reported since its record has this number.
    pub(super) fn get(&self, id: &DeploymentId, number: u64) -> Option<Shown> {
        let shown = self.0.get(id).filter(|it| it.0 == number);
        shown.map(|it| it.1)
    }

    pub(super) fn remove(&mut self, id: &DeploymentId) {
        self.0.remove(id);
    }

    fn retain(&mut self, recorded: &RecordedDeployments) {
        self.0.retain(|id, _| recorded.contains_key(id));
    }
}

/// Consequence of the present state for one deployment.
#[derive(Debug)]
pub(super) enum Step {
    /// Its objects are reported, with these faults.
    Direct(DeploymentId, Vec<Arc<str>>),
    /// Its report, with this hash, is told and counts from now on. The others are not used.
    Bundle(Box<Bundle>, u64, Vec<StateKey>),
    /// Its report was told, and counts.
    Unchanged(DeploymentId),
    /// Its report cannot be used, and nothing else is.
    Unreadable(DeploymentId, StateKey, BundleError),
    /// Nobody reports on it any more.
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
    /// Deployments to be looked at.
    due: BTreeSet<DeploymentId>,
    /// Deployments whose reports lag behind, with the time at which they are taken all the same.
    handovers: BTreeMap<DeploymentId, Instant>,
    /// Reports that were told not to be used.
    unused: HashMap<DeploymentId, BTreeSet<StateKey>>,
    /// Watches of which a report is needed whole that is not.
    wanted: BTreeSet<WatchId>,
}

impl Deployments {
    pub(super) fn new(mode: ReportMode) -> Self {
        Self {
            mode,
            ..Self::default()
        }
    }

    /// Replaces the deployments that are sent to the cluster. Returns those that are no more.
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

    /// The deployments that are sent to the cluster.
    pub(super) fn recorded(&self) -> Arc<RecordedDeployments> {
        Arc::clone(&self.recorded)
    }

    /// The number of the record of a deployment; none where it is not recorded.
    pub(super) fn number(&self, id: &DeploymentId) -> Option<u64> {
        self.recorded.get(id).map(|it| it.number)
    }

    /// Watches of which a report is needed whole that is not. Answered once.
    pub(super) fn take_wanted(&mut self) -> BTreeSet<WatchId> {
        for id in self.states.take_changed() {
            if let Some(recorded) = self.recorded.get(&id) {
                let first = self.states.of(&id, &recorded.namespace).into_iter().next();
                self.want(first);
                self.due.insert(id);
            }
        }
        std::mem::take(&mut self.wanted)
    }

    /// The time at which a report is to be taken although it lags behind.
    pub(super) fn wakes_at(&self) -> Option<Instant> {
        self.handovers.values().min().copied()
    }

    /// Consequences for the deployments that changed. `is_caught_up` tells whether a report has what is
    /// seen of its app.
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
        // Kept only where its report still lags behind: whoever waits for it would wake for ever.
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
        let unused: BTreeSet<StateKey> = keys.into_iter().collect();
        let state = self.states.get_mut(&key)?;
        match &state.content {
            Content::Read(bundle) => {
                let hash = status_hash(bundle);
                let is_same_unused = self.unused.get(&id).is_none_or(|it| *it == unused);
                if shown == Some(Shown::Bundle(hash)) && is_same_unused {
                    state.content = Content::Told(hash);
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
                let told = Content::Told(hash);
                let Content::Read(bundle) = std::mem::replace(&mut state.content, told) else {
                    return None;
                };
                let keys = unused.iter().cloned().collect();
                self.unused.insert(id, unused);
                Some(Step::Bundle(bundle, hash, keys))
            }
            Content::Told(hash)
                if shown == Some(Shown::Bundle(*hash))
                    && self.unused.get(&id).is_some_and(|it| *it == unused) =>
            {
                Some(Step::Unchanged(id))
            }
            Content::NotAsked | Content::Told(_) => {
                // To be told again, and by now nobody has it.
                state.content = Content::NotAsked;
                self.want(Some(key));
                None
            }
            Content::Refused(BundleError::NoStatus) if self.mode == ReportMode::Auto => {
                Some(Step::Direct(id, Vec::new()))
            }
            Content::Refused(error) if self.mode == ReportMode::Auto => {
                let fault = format!("{}: {error}", key.origin());
                Some(Step::Direct(id, vec![fault.into()]))
            }
            Content::Refused(error) => Some(Step::Unreadable(id, key.clone(), error.clone())),
        }
    }

    /// Asks for the whole of a report that was not read.
    fn want(&mut self, key: Option<StateKey>) {
        let Some(key) = key.filter(|_| self.mode != ReportMode::Direct) else {
            return;
        };
        let state = self.states.get_mut(&key);
        if state.is_some_and(|it| matches!(it.content, Content::NotAsked)) {
            self.wanted.insert(key.watch);
        }
    }
}

#[cfg(test)]
mod tests;
