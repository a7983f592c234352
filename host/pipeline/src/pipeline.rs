//! The state of the pipeline between two events, and the handling of each event.

mod clusters;
mod found;
mod remember;
mod reports;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use kindsight_appcontext::{AppContexts, ContextList, ContextSnapshot, Records};
use kindsight_clusters::Needs;
use kindsight_interpreter::Interpreters;
use kindsight_model::{ClusterName, ContextId};
use kindsight_status::{ApplicationKey, ConnectionView, ReadModel, Staleness, TransitionCause};
use kindsight_store::{Revision, Store, chain};

use crate::application_state::{ApplicationState, ReportedObjects};
use crate::due::{self, Rounds};
use crate::event::Event;
use crate::judge::Judge;
use crate::needs::Asked;
use crate::progress::Progress;
use crate::publisher::Publisher;
use crate::recorded::RecordedApps;
use crate::swap::Swap;
use crate::unclaimed::Unclaimed;
use crate::{Error, records};

/// Time for which an object of a found application that is there no more is listed, by default.
pub const GONE_FOR: Duration = Duration::from_mins(10);

/// The state between two events.
pub struct Pipeline {
    contexts: AppContexts,
    records: Records,
    interpreters: Arc<Interpreters>,
    publisher: Publisher,
    states: HashMap<ApplicationKey, ApplicationState>,
    /// Revisions of own changes that the store has not notified of yet.
    own_revisions: BTreeSet<Revision>,
    unclaimed: Unclaimed,
    recorded: RecordedApps,
    /// Clusters that cannot be reached.
    unreachable: HashMap<ClusterName, Staleness>,
    /// Faults of clusters that concern nobody knows which app.
    cluster_faults: HashMap<ClusterName, Arc<[Arc<str>]>>,
    connections: HashMap<ClusterName, ConnectionView>,
    rechecks: Rounds,
    gone_for: Duration,
    /// Time before which nothing that is gone is to be forgotten, in Unix milliseconds; none where nothing is
    /// gone.
    forget_at_ms: Option<i64>,
    /// Number of reports handled so far.
    reports: u64,
    swap: Swap,
    asked: Asked,
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
            asked: Asked::by(&interpreters.published()),
            interpreters,
            publisher: Publisher::new(read_model),
            states: HashMap::new(),
            own_revisions: BTreeSet::new(),
            unclaimed: Unclaimed::default(),
            recorded: RecordedApps::default(),
            unreachable: HashMap::new(),
            cluster_faults: HashMap::new(),
            connections: HashMap::new(),
            rechecks: Rounds::default(),
            gone_for: GONE_FOR,
            forget_at_ms: None,
            reports: 0,
        }
    }

    /// Lists an object of a found application that is there no more for so long.
    #[must_use]
    pub fn listing_gone_for(self, gone_for: Duration) -> Self {
        Self { gone_for, ..self }
    }

    /// Publishes everything in the store, so that queries are answered with the last known state.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn load(&mut self, now_ms: i64) -> Result<Loaded, Error> {
        let revision = self.read_all(now_ms)?.revision;
        let states = &self.states;
        self.publisher
            .retain_histories(|key| states.contains_key(key));
        self.recorded.publish();
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
        records::publish_all(&self.records, self.publisher.read_model())
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
                records::publish_dig(&self.records, self.publisher.read_model(), &name);
            }
            Event::ClusterRecord(name) => {
                records::publish_cluster(&self.records, self.publisher.read_model(), &name);
            }
            Event::Resync => self.resync(now_ms),
        }
        self.recorded.publish();
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
        let key = ApplicationKey::Context(id.clone());
        let before = self.states.remove(&key);
        let Some(snapshot) = snapshot else {
            if before.is_some() {
                self.publisher.remove(&key);
            }
            self.recorded.set(id, None);
            return;
        };
        let is_new = before.is_none();
        let judge = Judge {
            interpreters: &self.interpreters,
            // A set that is published meanwhile is followed slice by slice.
            set: self.swap.goal(),
        };
        let mut state = ApplicationState::reconciled(snapshot, before, judge, now_ms);
        for (cluster, cause) in &self.unreachable {
            state.change_all(cluster, |placement| placement.unreachable(cause));
        }
        for (cluster, faults) in &self.cluster_faults {
            state.change_all(cluster, |it| it.set_cluster_faults(faults));
        }
        self.publisher.publish(&key, state.view(&key), now_ms);
        self.recorded.set(id, Some(state.deployments()));
        self.states.insert(key, state);
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
        let known = self.states.keys().filter_map(ApplicationKey::context);
        let known: BTreeSet<ContextId> = known.cloned().collect();
        for id in known.difference(&stored) {
            self.reconcile(id, None, now_ms);
        }
    }

    /// Judges objects again that asked for it and are due, by the set of their application, and forgets what
    /// is gone for long enough. A round of judging takes some tens of milliseconds, and the next one waits nine
    /// times as long. Returns the time of the next round, in Unix milliseconds.
    pub fn recheck(&mut self, clock: impl Fn() -> i64) -> Option<i64> {
        let began_ms = clock();
        self.forget_gone(began_ms);
        if self.rechecks.waits_until(began_ms).is_none() {
            let due = self.states.iter().filter_map(|(key, state)| {
                let at = state.recheck_at_ms().filter(|at| *at <= began_ms)?;
                Some((at, key.clone()))
            });
            let mut due: Vec<(i64, ApplicationKey)> = due.collect();
            due.sort();
            let is_any = !due.is_empty();
            for (_, key) in due {
                if let Some(state) = self.states.get_mut(&key)
                    && !due::is_over(began_ms, clock())
                {
                    let change = state.recheck(&self.interpreters, began_ms, &clock);
                    let (view, cause) = (|| state.view(&key), TransitionCause::Observed);
                    self.publisher
                        .publish_change(change, &key, view, cause, began_ms);
                }
            }
            if is_any {
                self.rechecks.ended(began_ms, clock());
            }
        }
        let next = self
            .states
            .values()
            .filter_map(ApplicationState::recheck_at_ms);
        let next = next.min();
        let next = next.map(|at| at.max(self.rechecks.waits_until(clock()).unwrap_or(at)));
        next.into_iter().chain(self.forget_at_ms).min()
    }

    /// Returns whether any view is still judged by another set than the published one.
    pub fn swap_pending(&self) -> bool {
        self.swap.is_pending(&self.interpreters.published())
    }

    /// Judges one slice of the objects that a swap affects. Does nothing if none is pending. To be called,
    /// with events in between, until [`swap_pending`](Self::swap_pending) is false.
    pub fn follow_swap(&mut self, now_ms: i64) {
        let (states, interpreters) = (&mut self.states, &self.interpreters);
        let before = self.swap.goal().generation();
        let changed = self.swap.slice(states, interpreters, now_ms);
        if self.swap.goal().generation() != before {
            self.asked.follow(self.swap.goal());
        }
        for (key, change) in changed {
            if let Some(state) = self.states.get(&key) {
                let (view, cause) = (|| state.view(&key), TransitionCause::Interpreters);
                self.publisher
                    .publish_change(change, &key, view, cause, now_ms);
                std::thread::yield_now();
            }
        }
        self.swap.published();
    }

    /// Needs of the published interpreters and of the contexts, for the sources of clusters.
    pub fn needs(&self) -> Needs {
        Needs {
            related: self.asked.subscribe(),
            recorded: self.recorded.subscribe(),
            ..Needs::default()
        }
    }

    /// The progress of swaps, for other threads to read.
    pub fn progress(&self) -> Arc<Progress> {
        self.swap.progress()
    }

    /// Everything the clusters reported, in order of placement. It is shared, not copied.
    pub fn inventory(&self) -> Vec<ReportedObjects> {
        let states = self.states.iter();
        let mut reported: Vec<_> = states
            .flat_map(|(key, state)| state.reported(key))
            .collect();
        reported.sort_by(|a, b| a.placement.cmp(&b.placement));
        reported
    }
}
