//! The state of the pipeline between two events, and the handling of each event.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use kindsight_appcontext::{AppContexts, ContextList, ContextSnapshot, Recorded, Records};
use kindsight_clusters::ClusterEvent;
use kindsight_interpreter::Interpreters;
use kindsight_model::{Bundle, ClusterName, ContextId, DeploymentId};
use kindsight_status::{ReadModel, Staleness};
use kindsight_store::{Revision, Store, chain};

use crate::context_state::{ContextState, ReportedObjects};
use crate::due::{self, Rounds};
use crate::event::Event;
use crate::judge::Judge;
use crate::placement::Placement;
use crate::progress::Progress;
use crate::swap::Swap;
use crate::unclaimed::Unclaimed;
use crate::{Error, records};

/// Maximum number of own changes that the store has not notified of yet; of more, the oldest is forgotten
/// and read again.
const OWN_REVISIONS_MAX: usize = 64 * 1024;

/// The state between two events.
pub struct Pipeline {
    contexts: AppContexts,
    records: Records,
    interpreters: Arc<Interpreters>,
    read_model: Arc<ReadModel>,
    states: HashMap<ContextId, ContextState>,
    /// Revisions of own changes that the store has not notified of yet.
    own_revisions: BTreeSet<Revision>,
    unclaimed: Unclaimed,
    /// Clusters that cannot be reached.
    unreachable: HashMap<ClusterName, Staleness>,
    /// Faults of clusters that concern nobody knows which app.
    cluster_faults: HashMap<ClusterName, Arc<[Arc<str>]>>,
    rechecks: Rounds,
    /// Number of reports handled so far.
    reports: u64,
    swap: Swap,
}

/// The result of loading what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "changes after the revision have to be followed"]
pub struct Loaded {
    /// Everything up to this revision was read: [`follow`](crate::follow) from here.
    pub revision: Revision,
}

impl Pipeline {
    /// A pipeline without any contexts yet.
    pub fn new(
        store: Arc<dyn Store>,
        interpreters: Arc<Interpreters>,
        read_model: Arc<ReadModel>,
    ) -> Self {
        Self {
            contexts: AppContexts::new(Arc::clone(&store)),
            records: Records::new(store),
            swap: Swap::new(interpreters.published()),
            interpreters,
            read_model,
            states: HashMap::new(),
            own_revisions: BTreeSet::new(),
            unclaimed: Unclaimed::default(),
            unreachable: HashMap::new(),
            cluster_faults: HashMap::new(),
            rechecks: Rounds::default(),
            reports: 0,
        }
    }

    /// Publishes everything in the store, so that queries are answered with the last known state.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn load(&mut self, now_ms: i64) -> Result<Loaded, Error> {
        let revision = self.read_all(now_ms)?.revision;
        Ok(Loaded { revision })
    }

    /// Reads every record and every context, and returns the list of contexts.
    fn read_all(&mut self, now_ms: i64) -> Result<ContextList, Error> {
        let failed = |what: &str| {
            let what = what.to_owned();
            move |source| Error::Store { what, source }
        };
        let list = self
            .contexts
            .list()
            .map_err(failed("the list of AppContexts"))?;
        records::publish_all(&self.records, &self.read_model)
            .map_err(failed("the records of groups and clusters"))?;
        for id in &list.ids {
            let snapshot = self.contexts.read(id);
            let snapshot = snapshot.map_err(failed(&format!("AppContext {id}")))?;
            self.reconcile(id, snapshot, now_ms);
        }
        Ok(list)
    }

    /// The AppContext library that it reads, to be followed.
    pub fn contexts(&self) -> &AppContexts {
        &self.contexts
    }

    /// Handles one event. One that cannot be used is logged and affects nothing else.
    pub fn handle(&mut self, event: Event, now_ms: i64) {
        match event {
            Event::Cluster(event) => self.handle_cluster(event, now_ms),
            Event::Context { id, revision } => {
                // Revisions come in order: there are no more notifications of earlier ones.
                self.own_revisions = self.own_revisions.split_off(&revision);
                if !self.own_revisions.contains(&revision) {
                    self.refresh(&id, now_ms);
                }
            }
            Event::DigRecord(name) => {
                records::publish_dig(&self.records, &self.read_model, &name);
            }
            Event::ClusterRecord(name) => {
                records::publish_cluster(&self.records, &self.read_model, &name);
            }
            Event::Resync => self.resync(now_ms),
        }
    }

    fn handle_cluster(&mut self, event: ClusterEvent, now_ms: i64) {
        match event {
            ClusterEvent::Bundle { cluster, bundle } => self.report(&cluster, bundle, now_ms),
            ClusterEvent::Gone {
                cluster,
                deployment,
            } => {
                tracing::info!(%cluster, %deployment, "cluster no longer reports on this app");
                self.unclaimed
                    .forget(|of, it| *of == cluster && it.deployment == deployment);
                self.change(&deployment, &cluster, |placement, _| placement.gone(now_ms));
            }
            // Not used by any source yet.
            ClusterEvent::Application { .. }
            | ClusterEvent::Removed { .. }
            | ClusterEvent::Facts { .. } => {}
            ClusterEvent::Unreadable {
                cluster,
                deployment,
                may_be_newer,
                origin,
                error,
            } => {
                tracing::warn!(%cluster, origin, error, "report not readable");
                if let Some(deployment) = deployment {
                    self.change(&deployment, &cluster, |placement, _| {
                        placement.fault(origin, &error, may_be_newer, now_ms)
                    });
                }
            }
            ClusterEvent::Faults { cluster, faults } => {
                let faults: Arc<[Arc<str>]> = faults.into_iter().map(Arc::from).collect();
                self.change_all(&cluster, |it| it.set_cluster_faults(&faults));
                // None is what a placement begins with.
                self.cluster_faults.remove(&cluster);
                if !faults.is_empty() {
                    self.cluster_faults.insert(cluster, faults);
                }
            }
            ClusterEvent::Stale { cluster, reason } => {
                tracing::warn!(%cluster, reason, "cluster cannot be reached");
                let known = self.unreachable.get(&cluster);
                let cause = Staleness {
                    since_ms: known.map_or(now_ms, |known| known.since_ms),
                    reason: format!("the cluster cannot be reached: {reason}").into(),
                };
                self.change_all(&cluster, |placement| placement.unreachable(&cause));
                self.unreachable.insert(cluster, cause);
            }
            ClusterEvent::Synced { cluster } => {
                self.unreachable.remove(&cluster);
                self.change_all(&cluster, |placement| placement.synced(now_ms));
            }
        }
    }

    /// Stores a bundle, and judges it where it changed.
    fn report(&mut self, cluster: &ClusterName, mut bundle: Bundle, now_ms: i64) {
        if !self.states.contains_key(&bundle.deployment.context) {
            // The context was written, but the store has not notified of it yet. Read before the report is
            // stored: what is stored tells what its reporter covers.
            self.refresh(&bundle.deployment.context.clone(), now_ms);
        }
        let state = self.states.get(&bundle.deployment.context);
        if let Some(placement) = state.and_then(|it| it.placement(&bundle.deployment.app, cluster))
        {
            placement.complete(&mut bundle);
        }
        let DeploymentId { context, app } = &bundle.deployment;
        let recorded = self
            .contexts
            .record_bundle(context, app, cluster, &bundle.status_json);
        match recorded {
            Ok(Recorded::Written(revision)) => self.note_own(revision),
            Ok(Recorded::Unchanged) => {}
            Ok(Recorded::NotFound) => {
                tracing::warn!(%cluster, deployment = %bundle.deployment, "report on an app that no AppContext sends to this cluster; it waits for one");
                self.unclaimed.keep(cluster.clone(), bundle);
                return;
            }
            Err(error) => {
                // Published although it is not stored: the current state matters more than the state
                // after a restart, and the next report tries again.
                tracing::error!(%cluster, deployment = %bundle.deployment, error = chain(&error), "report not stored");
            }
        }
        let deployment = bundle.deployment.clone();
        if !self.states.contains_key(&deployment.context) {
            // The context was written, but the store has not notified of it yet.
            self.refresh(&deployment.context, now_ms);
        }
        let mut is_set_back = false;
        self.change(&deployment, cluster, |placement, judge| {
            is_set_back = placement.report(bundle, judge, now_ms);
            true
        });
        self.note_report(&deployment.context, is_set_back);
    }

    fn note_own(&mut self, revision: Revision) {
        self.own_revisions.insert(revision);
        if self.own_revisions.len() > OWN_REVISIONS_MAX {
            self.own_revisions.pop_first();
        }
    }

    /// Records the order of reports: after a swap, contexts with the latest reports are judged first.
    fn note_report(&mut self, context: &ContextId, is_set_back: bool) {
        self.reports += 1;
        if let Some(state) = self.states.get_mut(context) {
            let before = std::mem::replace(&mut state.last_report, self.reports);
            let after = self.reports;
            self.swap.reported(context, before, after, is_set_back);
        }
    }

    /// Reads a context again. One that cannot be read stays as it is.
    fn refresh(&mut self, id: &ContextId, now_ms: i64) {
        match self.contexts.read(id) {
            Ok(snapshot) => self.reconcile(id, snapshot, now_ms),
            Err(error) => {
                tracing::error!(context = %id, error = chain(&error), "AppContext not readable; its last known state stays");
            }
        }
    }

    /// Reconciles the state of a context with the store (none if it was deleted), and publishes it.
    fn reconcile(&mut self, id: &ContextId, snapshot: Option<ContextSnapshot>, now_ms: i64) {
        let Some(snapshot) = snapshot else {
            if self.states.remove(id).is_some() {
                self.read_model.publish_context(id, None);
            }
            return;
        };
        let before = self.states.remove(id);
        let is_new = before.is_none();
        let judge = Judge {
            interpreters: &self.interpreters,
            // A set that is published meanwhile is followed slice by slice.
            set: self.swap.goal(),
        };
        let mut state = ContextState::reconciled(snapshot, before, judge, now_ms);
        for (cluster, cause) in &self.unreachable {
            state.change_all(cluster, |placement| placement.unreachable(cause));
        }
        for (cluster, faults) in &self.cluster_faults {
            state.change_all(cluster, |it| it.set_cluster_faults(faults));
        }
        publish(&self.read_model, id, &state);
        self.states.insert(id.clone(), state);
        if is_new {
            for (cluster, bundle) in self.unclaimed.claim(id) {
                self.report(&cluster, bundle, now_ms);
            }
        }
    }

    /// Reads everything stored again, and forgets the contexts that are gone.
    fn resync(&mut self, now_ms: i64) {
        self.own_revisions.clear();
        let list = match self.read_all(now_ms) {
            Ok(list) => list,
            Err(error) => {
                tracing::error!(
                    error = chain(&error),
                    "the store cannot be read again; the last known state stays"
                );
                return;
            }
        };
        let stored: BTreeSet<ContextId> = list.ids.into_iter().collect();
        let known: BTreeSet<ContextId> = self.states.keys().cloned().collect();
        for id in known.difference(&stored) {
            self.reconcile(id, None, now_ms);
        }
    }

    /// Judges objects again that asked for it and are due, by the set of their context. A round takes some
    /// tens of milliseconds, and the next one waits nine times as long. Returns the time of the next round,
    /// in Unix milliseconds.
    pub fn recheck(&mut self, clock: impl Fn() -> i64) -> Option<i64> {
        let began_ms = clock();
        if self.rechecks.waits_until(began_ms).is_none() {
            let due = self.states.iter().filter_map(|(id, state)| {
                let at = state.recheck_at_ms().filter(|at| *at <= began_ms)?;
                Some((at, id.clone()))
            });
            let mut due: Vec<(i64, ContextId)> = due.collect();
            due.sort();
            let is_any = !due.is_empty();
            for (_, id) in due {
                if let Some(state) = self.states.get_mut(&id)
                    && !due::is_over(began_ms, clock())
                {
                    let change = state.recheck(&self.interpreters, began_ms, &clock);
                    change.publish(&self.read_model, &id, || state.view(&id));
                }
            }
            if is_any {
                self.rechecks.ended(began_ms, clock());
            }
        }
        let next = self.states.values().filter_map(ContextState::recheck_at_ms);
        let next = next.min()?;
        Some(next.max(self.rechecks.waits_until(clock()).unwrap_or(next)))
    }

    /// Returns whether any view is still judged by another set than the published one.
    pub fn swap_pending(&self) -> bool {
        self.swap.is_pending(&self.interpreters.published())
    }

    /// Judges one slice of the objects that a swap affects. Does nothing if none is pending. To be called,
    /// with events in between, until [`swap_pending`](Self::swap_pending) is false.
    pub fn follow_swap(&mut self, now_ms: i64) {
        let (states, interpreters) = (&mut self.states, &self.interpreters);
        for (id, change) in self.swap.slice(states, interpreters, now_ms) {
            if let Some(state) = self.states.get(&id) {
                change.publish(&self.read_model, &id, || state.view(&id));
                std::thread::yield_now();
            }
        }
        self.swap.published();
    }

    /// The progress of swaps, for other threads to read.
    pub fn progress(&self) -> Arc<Progress> {
        self.swap.progress()
    }

    /// Everything the clusters reported, in order of placement. It is shared, not copied.
    pub fn inventory(&self) -> Vec<ReportedObjects> {
        let states = self.states.iter();
        let mut reported: Vec<_> = states.flat_map(|(id, state)| state.reported(id)).collect();
        reported.sort_by(|a, b| a.placement.cmp(&b.placement));
        reported
    }

    /// Changes one placement, and publishes it where `change` says that it did.
    fn change(
        &mut self,
        deployment: &DeploymentId,
        cluster: &ClusterName,
        change: impl FnOnce(&mut Placement, Judge<'_>) -> bool,
    ) {
        let DeploymentId { context, app } = deployment;
        if let Some(state) = self.states.get_mut(context)
            && state.change(app, cluster, &self.interpreters, change)
        {
            publish(&self.read_model, context, state);
        }
    }

    /// Changes every placement in a cluster, and publishes the contexts in which `change` says that it
    /// did.
    fn change_all(&mut self, cluster: &ClusterName, change: impl Fn(&mut Placement) -> bool) {
        for (id, state) in &mut self.states {
            if state.change_all(cluster, &change) {
                publish(&self.read_model, id, state);
            }
        }
    }
}

fn publish(read_model: &ReadModel, id: &ContextId, state: &ContextState) {
    read_model.publish_context(id, Some(state.view(id)));
}
