//! A store that stops at a write, and a group.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kindsight_appcontext::{AppContexts, Record, Records};
use kindsight_model::{
    ContextId, ContextStatus, DigName, LifecycleState, RecordSubject, RsyncStatus,
};
use kindsight_store::{
    Batch, Connection, Entry, Error as StoreError, Keys, Leased, Range, RedbStore,
    Result as StoreResult, Revision, Store, StoreLimits, Watch,
};
use tokio::sync::watch::Receiver;

use super::clusters::{Clusters, Controller};
use crate::{
    Command, Draft, DraftApp, Error, Groups, Job, Outcome, Readiness, ResourceProblem, Result,
    Sequence, Stored,
};

pub(super) const NOW: &str = "2026-11-24T20:00:00Z";

/// The number of instances that are kept.
pub(super) const INSTANCES: usize = 3;

pub(super) fn name() -> RecordSubject {
    RecordSubject::Group(DigName::new("p", "shop", "v1", "prod").unwrap())
}

pub(super) fn manifest(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n")
}

/// An app with these manifests in these clusters.
pub(super) fn app(name: &str, clusters: &[&str], manifests: Vec<String>) -> DraftApp {
    DraftApp {
        name: name.to_owned(),
        clusters: clusters
            .iter()
            .map(|cluster| (*cluster).to_owned())
            .collect(),
        any_of: Vec::new(),
        manifests,
        depends_on: Vec::new(),
        resource_dependencies: Vec::new(),
    }
}

/// Two apps with two resources each: one in two clusters, one in one cluster.
pub(super) fn draft() -> Draft {
    let manifests =
        |name: &str| Vec::from(["one", "two"].map(|part| manifest(&format!("{name}-{part}"))));
    Draft {
        apps: vec![
            app("back", &["lab+a"], manifests("back")),
            app("front", &["lab+a", "lab+b"], manifests("front")),
        ],
        ..Draft::default()
    }
}

/// A store in which only the first writes succeed, as if the process were killed.
pub(super) struct StoppingStore {
    store: Arc<RedbStore>,
    writes_left: AtomicUsize,
    /// The write at which the process ends is stored, but its success is not reported.
    stores_last: bool,
}

impl Store for StoppingStore {
    fn entry(&self, key: &str) -> StoreResult<Option<Entry>> {
        self.store.entry(key)
    }

    fn range(&self, prefix: &str) -> StoreResult<Range> {
        self.store.range(prefix)
    }

    fn keys(&self, prefix: &str) -> StoreResult<Keys> {
        self.store.keys(prefix)
    }

    fn apply(&self, batch: &Batch) -> StoreResult<Revision> {
        let left = self.writes_left.load(Ordering::Relaxed);
        if left > 0 {
            self.writes_left.store(left - 1, Ordering::Relaxed);
            return self.store.apply(batch);
        }
        if self.stores_last && self.writes_left.swap(usize::MAX, Ordering::Relaxed) == 0 {
            self.store.apply(batch)?;
        }
        self.writes_left.store(0, Ordering::Relaxed);
        let reason = "the process ended".to_owned();
        Err(StoreError::Unavailable { reason })
    }

    fn watch(&self, prefix: &str, after: Revision) -> StoreResult<Watch> {
        self.store.watch(prefix, after)
    }

    fn lease(&self, name: &str) -> StoreResult<Leased> {
        self.store.lease(name)
    }

    fn limits(&self) -> StoreLimits {
        self.store.limits()
    }

    fn connection(&self) -> Receiver<Connection> {
        self.store.connection()
    }
}

/// A process: groups and a sequence over a store.
pub(super) struct Host {
    pub(super) groups: Groups,
    pub(super) contexts: AppContexts,
    pub(super) records: Records,
    pub(super) clusters: Arc<Clusters>,
    pub(super) store: Arc<dyn Store>,
    sequence: Sequence,
}

impl Host {
    /// Another caller of the same process.
    pub(super) fn over_same(other: &Self) -> Self {
        Self {
            groups: other.groups.clone(),
            contexts: other.contexts.clone(),
            records: other.records.clone(),
            clusters: Arc::clone(&other.clusters),
            store: Arc::clone(&other.store),
            sequence: other.sequence.clone(),
        }
    }

    pub(super) fn new() -> Self {
        Self::over(Arc::new(RedbStore::in_memory().unwrap()), Arc::default())
    }

    pub(super) fn over(store: Arc<dyn Store>, clusters: Arc<Clusters>) -> Self {
        let contexts = AppContexts::new(Arc::clone(&store));
        let records = Records::new(Arc::clone(&store));
        let sender = Arc::clone(&clusters);
        Self {
            groups: Groups::new(contexts.clone(), records.clone()),
            sequence: Sequence::new(contexts.clone(), records.clone(), sender)
                .prepared_by(Arc::new(Controller(
                    contexts.clone(),
                    Arc::clone(&clusters),
                )))
                .observing(Arc::clone(&clusters) as Arc<dyn Readiness>)
                .keeping(INSTANCES),
            contexts,
            records,
            clusters,
            store,
        }
    }

    /// A process that ends at the write after the first `writes`.
    pub(super) fn ending(
        store: &Arc<RedbStore>,
        clusters: &Arc<Clusters>,
        writes: usize,
        stores_last: bool,
    ) -> Self {
        let store = StoppingStore {
            store: Arc::clone(store),
            writes_left: writes.into(),
            stores_last,
        };
        Self::over(Arc::new(store), Arc::clone(clusters))
    }

    /// The number of writes so far.
    pub(super) fn writes(&self) -> u64 {
        self.records.list().unwrap().revision.number()
    }

    /// The same process, which gives up after this number of retries.
    pub(super) fn giving_up_after(mut self, retries_max: u32) -> Self {
        self.sequence = self.sequence.giving_up_after(Some(retries_max));
        self
    }

    /// The number of failed attempts and times in memory.
    pub(super) fn remembered(&self) -> usize {
        self.sequence.remembered()
    }

    pub(super) fn put(&self) -> Result<Stored> {
        self.groups.put(&name(), None, draft(), NOW)
    }

    pub(super) fn put_apps(&self, apps: Vec<DraftApp>) -> Result<Stored> {
        self.groups.put(
            &name(),
            None,
            Draft {
                apps,
                ..Draft::default()
            },
            NOW,
        )
    }

    pub(super) fn act(&self, command: Command) -> Result<()> {
        self.act_with(command, false)
    }

    pub(super) fn act_with(&self, command: Command, force: bool) -> Result<()> {
        let command = (command, force);
        let done = self.groups.act(&name(), command, &*self.clusters, NOW);
        done.map(drop)
    }

    pub(super) fn run(&self) -> Result<Outcome> {
        self.run_job(&Job::Subject(name()))
    }

    pub(super) fn run_job(&self, job: &Job) -> Result<Outcome> {
        self.sequence.run(job)
    }

    /// Stores and approves changed content, and updates the group.
    pub(super) fn update(&self, apps: Vec<DraftApp>) -> Outcome {
        self.put_apps(apps).unwrap();
        self.act(Command::Approve).unwrap();
        self.act(Command::Update).unwrap();
        self.run().unwrap()
    }

    /// `cluster resource: reason` of each problem.
    pub(super) fn problems(&self) -> Vec<String> {
        let problems = self.groups.problems(&name()).unwrap().0.into_iter();
        let line = |problem: ResourceProblem| {
            format!("{} {}: {}", problem.cluster, problem.resource, problem.why)
        };
        problems.map(line).collect()
    }

    /// Creates, approves and instantiates the group, and does the work.
    pub(super) fn instantiate(&self) -> Outcome {
        self.put().unwrap();
        self.act(Command::Approve).unwrap();
        self.act(Command::Instantiate).unwrap();
        self.run().unwrap()
    }

    pub(super) fn record(&self) -> Record {
        self.records.get(name()).unwrap().unwrap()
    }

    /// The context of the last instance.
    pub(super) fn instance(&self) -> ContextId {
        self.groups.get(&name()).unwrap().instance.unwrap()
    }

    pub(super) fn states(&self) -> Vec<LifecycleState> {
        let actions = self.record().actions;
        actions.iter().map(|action| action.state).collect()
    }

    pub(super) fn status(&self) -> Option<ContextStatus> {
        self.groups.get(&name()).unwrap().status
    }

    /// `cluster resource status` of every resource of the last instance.
    pub(super) fn statuses(&self) -> Vec<String> {
        let id = self.groups.get(&name()).unwrap().instance.unwrap();
        let snapshot = self.contexts.read(&id).unwrap().unwrap();
        let mut lines = Vec::new();
        for cluster in snapshot.apps.iter().flat_map(|app| &app.clusters) {
            for resource in cluster.resources.iter() {
                let status = resource.status.map_or("-", RsyncStatus::as_str);
                lines.push(format!("{} {} {status}", cluster.cluster, resource.name));
            }
        }
        lines
    }

    pub(super) fn refusal(&self, command: Command) -> String {
        match self.act(command) {
            Err(error @ (Error::Refused(_) | Error::CannotSend(_))) => error.to_string(),
            other => panic!("{other:?}"),
        }
    }
}
