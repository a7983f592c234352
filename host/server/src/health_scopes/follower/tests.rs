use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;

use kindsight_health_scope::{Health, ScopeHealths};
use kindsight_lifecycle::{
    Applied, CannotSend, Deletion, InstalledDefinition, Preview, SentDefinition, SentResource,
    Target,
};
use kindsight_model::{DigName, Object, Phase, Verdict};
use kindsight_read_model::{ChangedSubjects, ReadModelWriter};
use kindsight_status::{
    AppView, ApplicationKey, ClusterInput, ContextView, Reported, Staleness, project,
};
use kindsight_store::{Leased, RedbStore, Store};
use serde_json::{Value, json};

use super::*;

/// Takes each status, and keeps its health.
#[derive(Default)]
struct Written(Mutex<Vec<String>>);

impl Written {
    fn healths(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Sender for Written {
    fn apply_status(&self, status: &SentStatus<'_>) -> Result<(), SendError> {
        let body: Value = serde_json::from_str(&status.forms[0]).unwrap();
        let health = body["status"]["health"].as_str().unwrap();
        self.0.lock().unwrap().push(health.to_owned());
        Ok(())
    }

    fn check(&self, _: &ClusterName) -> Result<(), CannotSend> {
        unreachable!("only statuses are written")
    }

    fn vet(&self, _: &Target, _: &SentResource<'_>) -> Result<(), SendError> {
        unreachable!("only statuses are written")
    }

    fn apply(&self, _: &Target, _: &SentResource<'_>) -> Result<Applied, SendError> {
        unreachable!("only statuses are written")
    }

    fn preview(&self, _: &Target, _: &SentResource<'_>) -> Result<Preview, SendError> {
        unreachable!("only statuses are written")
    }

    fn read(&self, _: &Target, _: &SentResource<'_>) -> Result<String, SendError> {
        unreachable!("only statuses are written")
    }

    fn delete(&self, _: &Target, _: &SentResource<'_>) -> Result<Deletion, SendError> {
        unreachable!("only statuses are written")
    }

    fn announce(&self, _: &Target) -> Result<(), SendError> {
        unreachable!("only statuses are written")
    }

    fn install(&self, _: &SentDefinition<'_>) -> Result<InstalledDefinition, SendError> {
        unreachable!("only statuses are written")
    }

    fn removed(&self, _: &Target) -> Result<(), SendError> {
        unreachable!("only statuses are written")
    }
}

fn cluster() -> ClusterName {
    "p+edge01".parse().unwrap()
}

fn scope() -> Arc<HealthScope> {
    let object = json!({"metadata": {"namespace": "web", "name": "shop", "uid": "u1"}});
    Arc::new(HealthScope::read(object.to_string().as_bytes()).unwrap())
}

/// A host that shares the cluster, and follows its only scope.
struct Stage {
    writer: ReadModelWriter,
    written: Arc<Written>,
    healths: ScopeHealths,
    ownership: Ownership,
    store: Arc<dyn Store>,
    follower: Option<Follower>,
    states: watch::Receiver<WatchedObjects<HealthScope>>,
    _state: watch::Sender<WatchedObjects<HealthScope>>,
}

impl Stage {
    fn new() -> Self {
        let writer = ReadModelWriter::default();
        let written = Arc::new(Written::default());
        let healths = ScopeHealths::default();
        let ownership = Ownership::new("a:1".parse().unwrap(), Instant::now);
        let mut follower = Follower::new(
            &KubernetesCluster::in_cluster(cluster()),
            writer.read_model().clone(),
            healths.begin(&cluster()),
            Arc::clone(&written) as Arc<dyn Sender>,
            Some(ownership.clone()),
        );
        // The scope has been known for so long that no wait for a report is left.
        follower.book.set_scopes(&[scope()], 0);
        let place = ("web".into(), "shop".into());
        let (state, states) = watch::channel(WatchedObjects {
            objects: BTreeMap::from([(place, scope())]),
            away: BTreeMap::new(),
            is_listed: true,
        });
        Self {
            writer,
            written,
            healths,
            ownership,
            store: Arc::new(RedbStore::in_memory().unwrap()),
            follower: Some(follower),
            states,
            _state: state,
        }
    }

    /// Publishes the application that the scope selects, with one Deployment.
    fn publish(&mut self, phase: Phase, stale: Option<Staleness>) {
        let object = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"namespace": "web", "name": "front", "uid": "front"}});
        let reported = Reported {
            objects: std::iter::once(Object::from_json(object.to_string()).unwrap()).collect(),
            verdicts: vec![Verdict::host(phase, "Why", "of front")],
            stale,
            ..Reported::default()
        };
        let input = ClusterInput {
            cluster: cluster(),
            namespace: "web".into(),
            expected: Vec::new(),
            reported: Some(reported),
            unseen: Vec::new(),
            faults: Vec::new(),
        };
        let view = ContextView {
            apps: vec![AppView::new(
                "front".into(),
                vec![Arc::new(project(input, None, now_ms()))],
            )],
            ..ContextView::default()
        };
        let name = DigName::health_scope("shop", "web").unwrap();
        let key = ApplicationKey::Found(name);
        self.writer.publish(&key, view, Vec::new());
    }

    fn grant(&self) {
        let Ok(Leased::Granted(lease)) = self.store.lease("clusters/p+edge01") else {
            panic!("no lease");
        };
        self.ownership.grant(cluster(), &lease, &self.store);
    }

    /// Compares the status of the scope once. Returns the health of every status that was written until then.
    async fn step(&mut self) -> Vec<String> {
        let mut follower = self.follower.take().unwrap();
        follower.book.note_changed(&ChangedSubjects::All);
        let stepped = follower.stepped(&mut self.states).await;
        self.follower = Some(stepped.unwrap());
        self.written.healths()
    }

    /// The health of the scope in answers.
    fn health(&self) -> Health {
        let found = self.healths.all(|_, _| true);
        found.first().unwrap().health
    }
}

#[tokio::test]
async fn only_the_owner_of_a_cluster_writes_and_it_waits_for_its_own_list() {
    let mut stage = Stage::new();
    let stale = Staleness {
        since_ms: 0,
        reason: "the data of the owner has not arrived".into(),
    };
    stage.publish(Phase::Ready, Some(stale));
    let none: [&str; 0] = [];
    assert_eq!(stage.step().await, none);
    // Every host answers queries.
    assert_eq!(stage.health(), Health::Unknown);
    stage.grant();
    assert_eq!(stage.step().await, none, "the cluster is being listed");
    stage.publish(Phase::Ready, None);
    assert_eq!(stage.step().await, ["healthy"]);
    stage.ownership.revoke(&cluster());
    stage.publish(Phase::Failed, None);
    assert_eq!(stage.step().await, ["healthy"]);
    assert_eq!(stage.health(), Health::Unhealthy);
    stage.grant();
    assert_eq!(stage.step().await, ["healthy", "unhealthy"]);
}

#[tokio::test]
async fn a_host_that_takes_a_cluster_over_again_compares_every_status_again() {
    let mut stage = Stage::new();
    stage.publish(Phase::Ready, None);
    stage.grant();
    assert_eq!(stage.step().await, ["healthy"]);
    // The object in the watch does not show the status, as if another owner had replaced it meanwhile.
    stage.ownership.revoke(&cluster());
    assert_eq!(stage.step().await, ["healthy"]);
    stage.grant();
    assert_eq!(stage.step().await, ["healthy", "healthy"]);
}

#[tokio::test]
async fn a_host_that_shares_no_clusters_writes() {
    let mut stage = Stage::new();
    if let Some(follower) = &mut stage.follower {
        follower.ownership = None;
    }
    stage.publish(Phase::Ready, None);
    assert_eq!(stage.step().await, ["healthy"]);
}

#[tokio::test]
async fn a_step_that_ends_after_the_removal_of_its_cluster_has_no_effect_on_answers() {
    let mut stage = Stage::new();
    stage.publish(Phase::Ready, None);
    stage.step().await;
    assert_eq!(stage.health(), Health::Healthy);
    stage.healths.remove(&cluster());
    stage.publish(Phase::Failed, None);
    stage.step().await;
    assert!(stage.healths.all(|_, _| true).is_empty());
}
