//! A store that stops at a write, clusters in memory, and a group.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use kindsight_appcontext::{AppContexts, DigRecord, Records, ResourceName};
use kindsight_model::{
    ClusterName, ContextId, ContextStatus, DigName, LifecycleState, RsyncStatus,
};
use kindsight_store::{
    Batch, Connection, Entry, Error as StoreError, Keys, Range, RedbStore, Result as StoreResult,
    Revision, Store, StoreLimits, Watch,
};
use tokio::sync::watch::Receiver;

use crate::{
    Applied, CannotSend, Change, Command, Deletion, Draft, DraftApp, Error, Groups, Job,
    NotPrepared, Outcome, Preparation, Preview, Readiness, ResourceProblem, Result, SendError,
    Sender, SentResource, Sequence, Stored, Target,
};

pub(super) const NOW: &str = "2026-11-24T20:00:00Z";

/// The number of instances that are kept.
pub(super) const INSTANCES: usize = 3;

pub(super) fn name() -> DigName {
    DigName::new("p", "shop", "v1", "prod").unwrap()
}

pub(super) fn manifest(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n")
}

/// An app with these manifests in these clusters.
pub(super) fn app(name: &str, clusters: &[&str], manifests: Vec<String>) -> DraftApp {
    DraftApp {
        name: name.to_owned(),
        clusters: clusters.iter().map(|it| (*it).to_owned()).collect(),
        any_of: Vec::new(),
        manifests,
        depends_on: Vec::new(),
        resource_dependencies: Vec::new(),
    }
}

/// Two apps with two resources each: one in two clusters, one in one cluster.
pub(super) fn draft() -> Draft {
    let manifests =
        |name: &str| Vec::from(["one", "two"].map(|it| manifest(&format!("{name}-{it}"))));
    Draft {
        apps: vec![
            app("back", &["lab+a"], manifests("back")),
            app("front", &["lab+a", "lab+b"], manifests("front")),
        ],
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

    fn limits(&self) -> StoreLimits {
        self.store.limits()
    }

    fn connection(&self) -> Receiver<Connection> {
        self.store.connection()
    }
}

/// Called with the cluster and the name of a resource.
type Before = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// Clusters in memory.
#[derive(Default)]
pub(super) struct Clusters(Mutex<State>);

#[derive(Default)]
pub(super) struct State {
    /// The manifests, by cluster, label, and name of the resource.
    pub(super) resources: BTreeMap<(String, String, String), String>,
    /// The number of calls that changed a cluster.
    pub(super) changes: usize,
    pub(super) unreachable: BTreeSet<String>,
    /// The names of resources that clusters refuse.
    pub(super) refused: BTreeSet<String>,
    /// The names of resources that belong to another application.
    pub(super) foreign: BTreeSet<String>,
    /// The names of resources with a finalizer.
    pub(super) finalizers: BTreeSet<String>,
    /// The resources that were sent, as `cluster name`.
    pub(super) sent: Vec<String>,
    /// The number of calls of `announce`.
    pub(super) announced: usize,
    /// The apps and resources that are ready.
    pub(super) ready: BTreeSet<String>,
    /// The cluster that a controller takes each new context out of.
    pub(super) left_out: Option<String>,
    /// The reason why the controller fails.
    pub(super) controller_fails: Option<NotPrepared>,
    /// The time of the readiness.
    pub(super) now: Duration,
    /// Called before each resource is sent or removed.
    pub(super) before: Option<Before>,
}

impl Clusters {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// `cluster resource` of every resource.
    pub(super) fn resources(&self) -> Vec<String> {
        let state = self.state();
        let keys = state.resources.keys();
        keys.map(|(cluster, _, name)| format!("{cluster} {name}"))
            .collect()
    }

    fn begin(&self, target: &Target, name: &str) -> Result<MutexGuard<'_, State>, SendError> {
        let before = self.state().before.clone();
        if let Some(before) = before {
            before(&target.cluster.to_string(), name);
        }
        let state = self.state();
        if state.unreachable.contains(&target.cluster.to_string()) {
            return Err(SendError::Unreachable("told to".to_owned()));
        }
        if state.refused.contains(name) {
            return Err(SendError::Refused("told to".to_owned()));
        }
        Ok(state)
    }
}

fn key(target: &Target, resource: &SentResource<'_>) -> (String, String, String) {
    let name = resource.name.to_owned();
    (
        target.cluster.to_string(),
        target.deployment.to_string(),
        name,
    )
}

impl Sender for Clusters {
    fn check(&self, cluster: &ClusterName) -> Result<(), CannotSend> {
        match &*cluster.name {
            "unknown" => Err(CannotSend::Unknown(cluster.clone())),
            "api" => Err(CannotSend::Unsupported {
                cluster: cluster.clone(),
                reason: "it is not a folder",
            }),
            _ => Ok(()),
        }
    }

    fn vet(&self, target: &Target, resource: &SentResource<'_>) -> Result<(), SendError> {
        let state = self.state();
        if state.unreachable.contains(&target.cluster.to_string()) {
            return Err(SendError::Unreachable("told to".to_owned()));
        }
        if state.foreign.contains(resource.name) {
            return Err(SendError::Refused("it belongs to another".to_owned()));
        }
        Ok(())
    }

    fn apply(&self, target: &Target, resource: &SentResource<'_>) -> Result<Applied, SendError> {
        let mut state = self.begin(target, resource.name)?;
        let line = format!("{} {}", target.cluster, resource.name);
        state.sent.push(line);
        let before = state
            .resources
            .insert(key(target, resource), resource.manifest.to_owned());
        if before.as_deref() != Some(resource.manifest) {
            state.changes += 1;
        }
        Ok(Applied {
            uid: Some(format!("uid of {}", resource.name)),
        })
    }

    fn preview(&self, target: &Target, resource: &SentResource<'_>) -> Result<Preview, SendError> {
        let state = self.begin(target, resource.name)?;
        let change = match state.resources.get(&key(target, resource)) {
            None => Change::Create,
            Some(before) if before == resource.manifest => Change::Unchanged,
            Some(_) => Change::Update,
        };
        Ok(Preview {
            change,
            differences: Vec::new(),
        })
    }

    fn delete(&self, target: &Target, resource: &SentResource<'_>) -> Result<Deletion, SendError> {
        let mut state = self.begin(target, resource.name)?;
        if state.finalizers.contains(resource.name) {
            let why = "it has the finalizer kept".to_owned();
            return Ok(Deletion::Deleting { why });
        }
        if state.foreign.contains(resource.name) {
            let why = "it belongs to another".to_owned();
            return Ok(Deletion::Kept { why });
        }
        if state.resources.remove(&key(target, resource)).is_some() {
            state.changes += 1;
        }
        Ok(Deletion::Deleted)
    }

    fn announce(&self, _: &Target) -> Result<(), SendError> {
        self.state().announced += 1;
        Ok(())
    }

    fn removed(&self, _: &Target) -> Result<(), SendError> {
        Ok(())
    }
}

impl Readiness for Clusters {
    fn is_app_ready(&self, _: &ContextId, app: &str) -> bool {
        self.state().ready.contains(app)
    }

    fn is_resource_ready(
        &self,
        _: &ContextId,
        _: &str,
        _: &ClusterName,
        resource: &ResourceName,
    ) -> bool {
        self.state().ready.contains(resource.name())
    }

    fn is_reachable(&self, cluster: &ClusterName) -> bool {
        !self.state().unreachable.contains(&cluster.to_string())
    }

    fn now(&self) -> Duration {
        self.state().now
    }
}

/// A placement controller.
struct Controller(AppContexts, Arc<Clusters>);

impl Preparation for Controller {
    fn prepare(&self, instance: &ContextId) -> Result<(), NotPrepared> {
        let state = self.1.state();
        if let Some(failure) = &state.controller_fails {
            return Err(failure.clone());
        }
        if let Some(cluster) = &state.left_out {
            let app = self.0.load(instance).unwrap().app("front").unwrap();
            let cluster = app.cluster(&cluster.parse().unwrap());
            cluster.unwrap().delete().unwrap();
        }
        Ok(())
    }
}

/// A process: groups and a sequence over a store.
pub(super) struct Host {
    pub(super) groups: Groups,
    pub(super) contexts: AppContexts,
    pub(super) records: Records,
    pub(super) clusters: Arc<Clusters>,
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
            sequence: other.sequence.clone(),
        }
    }

    pub(super) fn new() -> Self {
        Self::over(Arc::new(RedbStore::in_memory().unwrap()), Arc::default())
    }

    pub(super) fn over(store: Arc<dyn Store>, clusters: Arc<Clusters>) -> Self {
        let contexts = AppContexts::new(Arc::clone(&store));
        let records = Records::new(store);
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

    pub(super) fn put(&self) -> Result<Stored> {
        self.groups.put(&name(), None, draft(), NOW)
    }

    pub(super) fn put_apps(&self, apps: Vec<DraftApp>) -> Result<Stored> {
        self.groups.put(&name(), None, Draft { apps }, NOW)
    }

    pub(super) fn act(&self, command: Command) -> Result<()> {
        let done = self.groups.act(&name(), command, &*self.clusters, NOW);
        done.map(drop)
    }

    pub(super) fn run(&self) -> Result<Outcome> {
        self.run_job(&Job::Group(name()))
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
        let line = |it: ResourceProblem| format!("{} {}: {}", it.cluster, it.resource, it.why);
        problems.map(line).collect()
    }

    /// Creates, approves and instantiates the group, and does the work.
    pub(super) fn instantiate(&self) -> Outcome {
        self.put().unwrap();
        self.act(Command::Approve).unwrap();
        self.act(Command::Instantiate).unwrap();
        self.run().unwrap()
    }

    pub(super) fn record(&self) -> DigRecord {
        self.records.dig(&name()).unwrap().unwrap()
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
