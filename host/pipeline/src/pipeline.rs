//! The state of the pipeline between two events, and the handling of each event.

mod clusters;
mod contexts;
mod found;
mod references;
mod remember;
mod reports;
mod store;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use kindsight_appcontext::{AppContexts, Records};
use kindsight_clusters::Needs;
use kindsight_interpreter::Interpreters;
use kindsight_model::{ClusterName, ContextId, RecordSubject};
use kindsight_status::{ApplicationKey, ConnectionView, ReadModel, Staleness, TransitionCause};
use kindsight_store::Revision;

use crate::application_state::{ApplicationState, ReportedObjects};
use crate::bundle_queue::BundleQueue;
use crate::due::{self, Rounds};
use crate::event::Event;
use crate::groups::Groups;
use crate::needs::Asked;
use crate::progress::Progress;
use crate::publisher::Publisher;
use crate::recorded::RecordedApps;
use crate::swap::Swap;
use crate::unclaimed::Unclaimed;
use references::References;

/// Time for which an object of a found application that is there no more is listed, by default.
pub const GONE_FOR: Duration = Duration::from_mins(10);

/// The state between two events.
pub struct Pipeline {
    contexts: AppContexts,
    records: Records,
    interpreters: Arc<Interpreters>,
    publisher: Publisher,
    states: HashMap<ApplicationKey, ApplicationState>,
    groups: Groups,
    references: References,
    bundles: BundleQueue,
    /// Set while the store of contexts is away.
    store_away: Option<Staleness>,
    /// When the store is read again that is reached and could not be read, in Unix milliseconds.
    read_again_at_ms: Option<i64>,
    /// When the records are read again that could not be read, in Unix milliseconds.
    records_again_at_ms: Option<i64>,
    /// Contexts that could not be read while the store answered.
    unread: BTreeSet<ContextId>,
    /// When those are read again, in Unix milliseconds.
    unread_again_at_ms: Option<i64>,
    unclaimed: Unclaimed,
    recorded: RecordedApps,
    /// Clusters that cannot be reached.
    unreachable: HashMap<ClusterName, Staleness>,
    /// Faults of clusters that concern nobody knows which app.
    cluster_faults: HashMap<ClusterName, Arc<[Arc<str>]>>,
    connections: HashMap<ClusterName, ConnectionView>,
    /// The label selectors that objects of clusters were looked for by before the start.
    selectors: HashMap<ClusterName, Option<Arc<str>>>,
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
    /// Every context up to this revision of their store was read: [`follow`](crate::follow) from here.
    pub contexts: Revision,
    /// Every record up to this revision of their store was read.
    pub records: Revision,
}

impl Pipeline {
    /// A pipeline without any contexts yet. Contexts and records may be in one store, or in two.
    pub fn new(
        contexts: AppContexts,
        records: Records,
        interpreters: Arc<Interpreters>,
        read_model: Arc<ReadModel>,
    ) -> Self {
        Self {
            contexts,
            records,
            swap: Swap::new(interpreters.published()),
            asked: Asked::by(&interpreters.published()),
            interpreters,
            publisher: Publisher::new(read_model),
            states: HashMap::new(),
            groups: Groups::default(),
            references: References::default(),
            bundles: BundleQueue::default(),
            store_away: None,
            read_again_at_ms: None,
            records_again_at_ms: None,
            unread: BTreeSet::new(),
            unread_again_at_ms: None,
            unclaimed: Unclaimed::default(),
            recorded: RecordedApps::default(),
            unreachable: HashMap::new(),
            cluster_faults: HashMap::new(),
            connections: HashMap::new(),
            selectors: HashMap::new(),
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

    /// The contexts that it reads, to be followed.
    pub fn contexts(&self) -> &AppContexts {
        &self.contexts
    }

    /// The records that it reads, to be followed.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// The reports that wait to be stored.
    pub(crate) fn bundles(&self) -> &BundleQueue {
        &self.bundles
    }

    /// Handles one event. One that cannot be used is logged and affects nothing else.
    pub fn handle(&mut self, event: Event, now_ms: i64) {
        match event {
            Event::Cluster(event) => self.handle_cluster(event, now_ms),
            Event::Context { id, revision } => self.context_changed(&id, revision, now_ms),
            Event::DigRecord(name) => self.record_changed(&RecordSubject::Group(name), now_ms),
            Event::ClusterRecord(name) => {
                self.record_changed(&RecordSubject::Cluster(name), now_ms);
            }
            Event::Resync => self.resync(now_ms),
            Event::ResyncRecords => self.resync_records(now_ms),
            Event::Store(connection) => self.store_connection(&connection, now_ms),
            Event::States(news) => self.groups.take_states(news, self.publisher.read_model()),
        }
        self.recorded.publish();
    }

    /// Judges objects again that asked for it and are due, by the set of their application, and forgets what
    /// is gone for long enough. A round of judging takes some tens of milliseconds, and the next one waits nine
    /// times as long. Returns the time of the next round, in Unix milliseconds.
    pub fn recheck(&mut self, clock: impl Fn() -> i64) -> Option<i64> {
        let began_ms = clock();
        self.forget_gone(began_ms);
        self.read_what_was_missed(began_ms);
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
        let others = self.forget_at_ms.into_iter().chain(self.read_next_ms());
        next.into_iter().chain(others).min()
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
