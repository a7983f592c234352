//! The state of the pipeline between two events, and the handling of each event.

mod clusters;
mod contexts;
mod found;
mod ownership;
mod references;
mod remember;
mod reports;
mod store;
mod upstream;
pub(crate) mod withheld;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use kindsight_appcontext::{AppContexts, Records};
use kindsight_clusters::{Identities, Needs, RemoteInventories};
use kindsight_interpreter::Interpreters;
use kindsight_leases::Ownership;
use kindsight_model::ClusterName;
use kindsight_read_model::ReadModel;
use kindsight_status::{Staleness, TransitionCause};

use crate::application_state::ReportedObjects;
use crate::applications::Applications;
use crate::bundle_queue::BundleQueue;
use crate::due::{self, Rounds};
use crate::event::Event;
use crate::groups::Groups;
use crate::live_kinds::LiveKinds;
use crate::needs::RelatedNeeds;
use crate::progress::Progress;
use crate::publisher::Publisher;
use crate::recorded::RecordedApps;
use crate::remembered::{RememberedCluster, RememberedStatuses};
use crate::shared::{Shared, Timeouts};
use crate::swap::Swap;
use crate::unclaimed::Unclaimed;
use references::References;
use withheld::Withheld;

/// The state between two events.
pub struct Pipeline {
    contexts: AppContexts,
    records: Records,
    shared: Shared,
    publisher: Publisher,
    applications: Applications,
    groups: Groups,
    references: References,
    bundles: BundleQueue,
    /// The clusters that this host owns; `None` if it does not share clusters.
    ownership: Option<Ownership>,
    /// Events of clusters whose lease ended.
    withheld: HashMap<ClusterName, Withheld>,
    /// Clusters that this host has taken over and whose new source has published nothing yet.
    new_sources: HashSet<ClusterName>,
    /// Set while the store of contexts is away.
    store_away: Option<Staleness>,
    unclaimed: Unclaimed,
    /// True if reports on the contexts of other orchestrators are stored too.
    is_rsync: bool,
    recorded: RecordedApps,
    /// The last-known state of clusters before the start.
    last_known: HashMap<ClusterName, RememberedCluster>,
    /// The statuses that were reported without a spec before the start, until the contexts are loaded.
    last_statuses: RememberedStatuses,
    rechecks: Rounds,
    /// When grace times of clusters were last looked at, in Unix milliseconds.
    grace_seen_ms: i64,
    /// Number of reports handled so far.
    reports: u64,
    swap: Swap,
    related: RelatedNeeds,
    /// The inventories that list resources of other clusters.
    inventories: RemoteInventories,
}

impl Pipeline {
    /// A pipeline without any contexts yet, and with a read model of its own. Contexts and records may be in one
    /// store, or in two.
    pub fn new(contexts: AppContexts, records: Records, interpreters: Arc<Interpreters>) -> Self {
        Self {
            contexts,
            records,
            swap: Swap::new(interpreters.published()),
            related: RelatedNeeds::of(&interpreters.published()),
            inventories: RemoteInventories::default(),
            shared: Shared::new(interpreters),
            publisher: Publisher::default(),
            applications: Applications::default(),
            groups: Groups::default(),
            references: References::default(),
            bundles: BundleQueue::default(),
            ownership: None,
            withheld: HashMap::new(),
            new_sources: HashSet::new(),
            store_away: None,
            unclaimed: Unclaimed::default(),
            is_rsync: false,
            recorded: RecordedApps::default(),
            last_known: HashMap::new(),
            last_statuses: RememberedStatuses::default(),
            rechecks: Rounds::default(),
            grace_seen_ms: i64::MIN,
            reports: 0,
        }
    }

    /// Stores the reports on all contexts, as the rsync of an orchestrator does. By default, only the reports on contexts
    /// of kindsight are stored.
    pub fn store_all_reports(&mut self) {
        self.is_rsync = true;
    }

    /// Ends waits of applications after these times.
    pub fn set_timeouts(&mut self, timeouts: Timeouts) {
        self.shared.timeouts = timeouts;
    }

    /// Marks applications as stale for so long after the start of a cluster while it has not answered for every
    /// Kind.
    #[must_use]
    pub fn with_kind_grace(mut self, grace: Duration) -> Self {
        self.shared.clusters.grace = grace;
        self
    }

    /// The read model that it publishes to.
    pub fn read_model(&self) -> &ReadModel {
        self.publisher.read_model()
    }

    /// The contexts that it loads, and stores reports beside.
    pub fn contexts(&self) -> &AppContexts {
        &self.contexts
    }

    /// The reports that wait to be stored.
    pub fn bundles(&self) -> &BundleQueue {
        &self.bundles
    }

    /// Handles one event. One that cannot be used is logged and affects nothing else.
    pub fn handle(&mut self, event: Event, now_ms: i64) {
        match event {
            Event::Cluster(event) => self.handle_cluster(event, now_ms),
            Event::Stores(changes) => self.take_stores(changes, now_ms),
            Event::Upstream(event) => self.take_upstream(event, now_ms),
            Event::States(news) => self.groups.take_states(news, &mut self.publisher),
            Event::Resumed { cluster, complete } => {
                let is_complete = self.resume(&cluster, now_ms);
                // The sharer of clusters ends with the server.
                let _ = complete.send(is_complete);
            }
            Event::Marker(handled) => {
                // The sender of the marker may be gone.
                let _ = handled.send(());
            }
        }
        self.recorded.publish();
    }

    /// Handles the changes that time causes: objects that are forgotten, grace times that end, and verdicts that are
    /// due for a recheck. Returns the time of the next change, in Unix milliseconds.
    ///
    /// A round of rechecks takes some tens of milliseconds, and the next one waits nine times as long.
    pub fn recheck(&mut self, clock: impl Fn() -> i64) -> Option<i64> {
        let began_ms = clock();
        self.expire(began_ms);
        self.end_grace(began_ms);
        self.unclaimed.log(began_ms);
        if self.rechecks.waits_until(began_ms).is_none() {
            self.recheck_round(began_ms, &clock);
        }
        let recheck = self.applications.recheck_at_ms();
        let recheck = recheck.map(|at| at.max(self.rechecks.waits_until(clock()).unwrap_or(at)));
        let expires = self.applications.expires_at_ms();
        let grace_ends = self.shared.clusters.grace_ends_ms(began_ms);
        let times = [recheck, expires, grace_ends, self.unclaimed.log_due_ms()];
        times.into_iter().flatten().min()
    }

    /// Evaluates the objects whose recheck is due again, with the set of their application.
    fn recheck_round(&mut self, began_ms: i64, clock: &impl Fn() -> i64) {
        let due = self.applications.due_for_recheck(began_ms);
        let is_any = !due.is_empty();
        for key in due {
            if due::is_over(began_ms, clock()) {
                break;
            }
            let shared = &self.shared;
            let change = self.applications.update(&key, shared, |state| {
                state.recheck(&shared.interpreters, began_ms, clock)
            });
            if let (Some(change), Some(state)) = (change, self.applications.get(&key)) {
                let (view, cause) = (|| state.view(&key), TransitionCause::Observed);
                self.publisher
                    .publish_change(change, &key, view, cause, began_ms);
            }
        }
        if is_any {
            self.rechecks.ended(began_ms, clock());
        }
    }

    /// Returns whether any view is still judged by another set than the published one.
    pub fn swap_pending(&self) -> bool {
        self.swap.is_pending(&self.shared.interpreters.published())
    }

    /// Judges one slice of the objects that a swap affects. Does nothing if none is pending. To be called,
    /// with events in between, until [`swap_pending`](Self::swap_pending) is false.
    pub fn follow_swap(&mut self, now_ms: i64) {
        let before = self.swap.goal().generation();
        let changed = self
            .swap
            .slice(&mut self.applications, &self.shared, now_ms);
        if self.swap.goal().generation() != before {
            self.related.follow(self.swap.goal());
            self.shared.kinds = LiveKinds::of(self.swap.goal());
        }
        for (key, change) in changed {
            if let Some(state) = self.applications.get(&key) {
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
            related: self.related.subscribe(),
            recorded: self.recorded.subscribe(),
            identities: Identities::with_known(self.last_known.keys().cloned()),
            inventories: self.inventories.clone(),
            ..Needs::default()
        }
    }

    /// The progress of swaps, for other threads to read.
    pub fn progress(&self) -> Arc<Progress> {
        self.swap.progress()
    }

    /// Everything the clusters reported, in order of placement. It is shared, not copied.
    pub fn reported_objects(&self) -> Vec<ReportedObjects> {
        let applications = self.applications.iter();
        let mut reported: Vec<_> = applications
            .flat_map(|(key, state)| state.reported(key))
            .collect();
        reported.sort_by(|a, b| a.placement.cmp(&b.placement));
        reported
    }
}
