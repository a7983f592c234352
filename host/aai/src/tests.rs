//! The updater over a read model, a store and an inventory that enforces A&AI's rules.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kindsight_cluster::{Inventory, InventoryFault};
use kindsight_model::{ClusterName, DigName, Object, Phase, Verdict};
use kindsight_outgoing::{Destinations, Endpoint, EndpointSettings};
use kindsight_read_model::ReadModelWriter;
use kindsight_status::{
    AppView, ApplicationKey, ClusterInput, ConnectionState, ConnectionView, ContextView, Reported,
    Staleness, project,
};
use kindsight_store::{RedbStore, Store};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::{AaiSettings, CloudPlace, Health, Updater};

mod health_scopes;
mod incomplete_reports;
mod removed_clusters;

/// Maximum time until an update arrives on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// The timeout of a request in these tests.
const TIMEOUT: Duration = Duration::from_secs(2);
const VNF: &str = "network/generic-vnfs/generic-vnf/vnf-1";

struct Scene {
    inventory: Inventory,
    writer: ReadModelWriter,
    store: Arc<dyn Store>,
    is_listed: Arc<AtomicBool>,
    running: Option<(CancellationToken, JoinHandle<()>)>,
    health: Health,
}

pub(crate) fn cluster() -> ClusterName {
    "lab+a".parse().unwrap()
}

pub(crate) fn name() -> DigName {
    DigName::found("shop", Some("default")).unwrap()
}

pub(crate) fn settings(inventory: &Inventory) -> AaiSettings {
    let destinations = Arc::new(Destinations {
        hosts: Vec::new(),
        addresses: vec!["127.0.0.1".parse().unwrap()],
    });
    let endpoint = EndpointSettings {
        url: inventory.url(),
        ca: None,
        client_certificate: None,
        credentials: None,
        timeout: TIMEOUT,
    };
    let place = CloudPlace {
        owner: "CloudOwner".into(),
        region: "RegionOne".into(),
        tenant: "tenant-1".into(),
    };
    AaiSettings {
        endpoint: Endpoint::new(endpoint, &destinations).unwrap(),
        version: "v14".into(),
        app_id: "kindsight".into(),
        kinds: vec!["Pod".into()],
        clusters: [(cluster(), place)].into(),
        requests_per_second: 200,
    }
}

fn pod(name: &str, module: &str) -> Object {
    let labels = json!({"generic-vnf-id": "vnf-1", "vfmodule-id": module});
    let object = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": format!("uid-{name}"), "labels": labels},
        "status": {"podIP": "10.1.2.3"},
    });
    Object::from_json(object.to_string()).unwrap()
}

fn reported(objects: &[(Object, Phase)]) -> Reported {
    let (objects, phases): (Vec<Object>, Vec<Phase>) = objects.iter().cloned().unzip();
    let verdicts = phases.into_iter().map(|phase| Verdict::host(phase, "", ""));
    Reported {
        objects: objects.into(),
        verdicts: verdicts.collect(),
        ..Reported::default()
    }
}

fn view(objects: &[(Object, Phase)], stale: bool) -> ContextView {
    let stale = stale.then(|| Staleness {
        since_ms: 1,
        reason: "unreachable".into(),
    });
    view_of(Reported {
        stale,
        ..reported(objects)
    })
}

fn view_of(reported: Reported) -> ContextView {
    let input = ClusterInput {
        cluster: cluster(),
        namespace: "".into(),
        expected: Vec::new(),
        reported: Some(reported),
        unseen: Vec::new(),
        faults: Vec::new(),
    };
    ContextView {
        meta: Some(name()),
        apps: vec![AppView::new(
            "shop".into(),
            vec![Arc::new(project(input, None, 1))],
        )],
        ..ContextView::default()
    }
}

impl Scene {
    fn new() -> Self {
        let mut scene = Self {
            inventory: Inventory::start(),
            writer: ReadModelWriter::default(),
            store: Arc::new(RedbStore::in_memory().unwrap()),
            is_listed: Arc::new(AtomicBool::new(true)),
            running: None,
            health: Health::default(),
        };
        scene.connect(ConnectionState::Connected);
        scene.start();
        scene
    }

    fn start(&mut self) {
        self.start_with(settings(&self.inventory));
    }

    fn start_with(&mut self, settings: AaiSettings) {
        let is_listed = Arc::clone(&self.is_listed);
        let updater = Updater::new(
            settings,
            self.writer.read_model().clone(),
            Arc::clone(&self.store),
            Arc::new(move |_| is_listed.load(Ordering::Relaxed)),
        );
        self.health = updater.health();
        let stop = CancellationToken::new();
        let run = updater.run(stop.clone());
        let running = TaskTracker::new().spawn(async move {
            run.await.unwrap();
        });
        self.running = Some((stop, running));
    }

    /// Ends the updater as a killed process does: at any point.
    async fn kill(&mut self) {
        let (_, running) = self.running.take().unwrap();
        running.abort();
        let _ = running.await;
    }

    async fn stop(&mut self) {
        let (stop, running) = self.running.take().unwrap();
        stop.cancel();
        running.await.unwrap();
    }

    fn publish(&mut self, objects: &[(Object, Phase)]) {
        self.publish_view(view(objects, false));
    }

    fn publish_view(&mut self, view: ContextView) {
        let key = ApplicationKey::Found(name());
        self.writer.publish(&key, view, Vec::new());
    }

    fn connect(&mut self, state: ConnectionState) {
        let connection = ConnectionView {
            owner: kindsight_status::ClusterOwner::default(),
            state,
            since_ms: 1,
            reason: None,
            faults: Arc::default(),
            heard_ms: None,
            facts: None,
            coverage: None,
        };
        self.writer.publish_connection(&cluster(), Some(connection));
    }

    /// The vservers as `name status module`.
    fn vservers(&self) -> Vec<String> {
        let vservers = self.inventory.vservers().into_iter();
        let shown = vservers.map(|(name, object)| {
            let relations = object["relationship-list"]["relationship"].as_array();
            let links = relations
                .into_iter()
                .flatten()
                .map(|it| &it["related-link"]);
            let modules = links.filter_map(|link| link.as_str()?.rsplit_once("/vf-module/"));
            let modules: Vec<&str> = modules.map(|(_, module)| module).collect();
            let status = object["prov-status"].as_str().unwrap_or_default();
            format!("{name} {status} {}", modules.join("+"))
        });
        shown.collect()
    }

    async fn wait_for(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let began = Instant::now();
        while !is_so(self) {
            let counts = self.health.counts();
            let vservers = self.vservers();
            assert!(
                began.elapsed() < PATIENCE,
                "{what}: {vservers:?} {counts:?} {:?}",
                self.health.notes()
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn wait_for_vservers(&self, expected: &[&str]) {
        self.wait_for("vservers", |scene| scene.vservers() == expected)
            .await;
        self.wait_until_idle().await;
    }

    async fn wait_until_idle(&self) {
        let idle = |scene: &Self| scene.health.counts().waiting == 0;
        self.wait_for("no update waits", idle).await;
    }

    fn operational_status(&self) -> String {
        let vnf = self.inventory.object(VNF).unwrap();
        let status = vnf["operational-status"].as_str();
        status.unwrap_or_default().to_owned()
    }

    fn check_rules(&self) {
        assert_eq!(self.inventory.violations(), Vec::<String>::new());
        let writes = self.inventory.writes();
        for pair in writes.windows(2) {
            let [first, second] = pair else { continue };
            let without_version = |object: &serde_json::Value| {
                let mut object = object.clone();
                object["resource-version"].take();
                object
            };
            let is_repeated = first.path == second.path
                && without_version(&first.object) == without_version(&second.object);
            assert!(!is_repeated, "a write took effect twice: {second:#?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn vservers_follow_the_pods_of_an_application() {
    let mut scene = Scene::new();
    scene.publish(&[
        (pod("a", "module-1"), Phase::Ready),
        (pod("b", "module-1"), Phase::Pending),
    ]);
    let both = ["a Ready module-1", "b Pending module-1"];
    scene.wait_for_vservers(&both).await;
    let out = |scene: &Scene| scene.operational_status() == "out-of-service-path";
    scene.wait_for("the VNF", out).await;

    scene.publish(&[
        (pod("a", "module-2"), Phase::Failed),
        (pod("b", "module-1"), Phase::Ready),
    ]);
    scene
        .wait_for_vservers(&["a Failed module-2", "b Ready module-1"])
        .await;
    // Relations of other clients, and their data, remain.
    let (_, b) = scene.inventory.vservers().remove(1);
    assert_eq!(
        b["relationship-list"]["relationship"]
            .as_array()
            .unwrap()
            .len(),
        2
    );

    scene.publish(&[(pod("b", "module-1"), Phase::Ready)]);
    scene.wait_for_vservers(&["b Ready module-1"]).await;
    let service = |scene: &Scene| scene.operational_status() == "in-service-path";
    scene.wait_for("the VNF", service).await;
    scene.check_rules();

    // The application ends.
    scene.writer.remove(&ApplicationKey::Found(name()));
    scene.wait_for_vservers(&[]).await;
    scene.wait_for("the VNF", out).await;
    assert_eq!(scene.health.counts().items, 0);
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_clients_change_the_same_objects() {
    let mut scene = Scene::new();
    scene.publish(&[(pod("a", "module-1"), Phase::Pending)]);
    scene.wait_for_vservers(&["a Pending module-1"]).await;
    let path = scene.inventory.writes()[0].path.clone();
    let mut object = scene.inventory.object(&path).unwrap();
    object["in-maint"] = true.into();
    scene.inventory.set(&path, object);
    scene.publish(&[(pod("a", "module-1"), Phase::Ready)]);
    scene.wait_for_vservers(&["a Ready module-1"]).await;
    assert_eq!(scene.inventory.object(&path).unwrap()["in-maint"], true);

    // A client that is always faster: 412 after each read, then 409.
    for status in [412, 409] {
        scene.inventory.fail_writes(status, 2);
        let phase = if status == 412 {
            Phase::Failed
        } else {
            Phase::Ready
        };
        scene.publish(&[(pod("a", "module-1"), phase)]);
        let word = if status == 412 { "Failed" } else { "Ready" };
        scene
            .wait_for_vservers(&[&format!("a {word} module-1")])
            .await;
    }
    assert!(scene.health.counts().conflicts >= 4);
    scene.check_rules();
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_is_shown_and_every_update_arrives_after_it() {
    let mut scene = Scene::new();
    let faults = [
        InventoryFault::Status(503),
        InventoryFault::Status(401),
        InventoryFault::Hang,
    ];
    for (number, fault) in faults.into_iter().enumerate() {
        scene.inventory.fail(Some(fault), 0);
        let module = if number == 1 { "module-2" } else { "module-1" };
        scene.publish(&[(pod("a", module), Phase::Ready)]);
        let is_away = |scene: &Scene| scene.health.counts().is_away;
        scene.wait_for("an outage", is_away).await;
        let notes = scene.health.notes();
        assert!(notes[0].contains("A&AI is away"), "{notes:?}");
        // Newer states replace the state that waits.
        scene.publish(&[(pod("a", module), Phase::Failed)]);
        scene.inventory.fail(None, 0);
        scene
            .wait_for_vservers(&[&format!("a Failed {module}")])
            .await;
        assert_eq!(scene.health.notes(), Vec::<String>::new());
        scene.check_rules();
    }
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_has_no_second_effect() {
    let mut scene = Scene::new();
    for (fault, phase) in [
        (InventoryFault::CloseAfter, Phase::Ready),
        (InventoryFault::CloseBefore, Phase::Failed),
        (InventoryFault::CloseAfter, Phase::Pending),
    ] {
        scene.inventory.fail(Some(fault), 1);
        scene.publish(&[(pod("a", "module-1"), phase)]);
        let word = kindsight_status::onap_state(phase);
        scene
            .wait_for_vservers(&[&format!("a {word} module-1")])
            .await;
    }
    scene.inventory.fail(Some(InventoryFault::CloseAfter), 1);
    scene.publish(&[]);
    scene.wait_for_vservers(&[]).await;
    scene.check_rules();
    let vserver = |write: &&kindsight_cluster::InventoryWrite| write.path.contains("/vserver/");
    let writes = scene.inventory.writes();
    let methods: Vec<&str> = writes
        .iter()
        .filter(vserver)
        .map(|it| it.method.as_str())
        .collect();
    assert_eq!(methods, ["PUT", "PUT", "PUT", "DELETE"]);
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_updater_continues_with_what_was_acknowledged() {
    let mut scene = Scene::new();
    let pods = |count: usize, phase: Phase| -> Vec<(Object, Phase)> {
        let pods = (0..count).map(|number| (pod(&format!("p{number:02}"), "module-1"), phase));
        pods.collect()
    };
    scene.publish(&pods(20, Phase::Ready));
    for kills in 1..=4 {
        let enough = move |scene: &Scene| scene.inventory.writes().len() >= kills * 4;
        scene.wait_for("writes", enough).await;
        scene.kill().await;
        scene.start();
    }
    scene
        .wait_for("all", |scene| scene.vservers().len() == 20)
        .await;
    scene.wait_until_idle().await;
    scene.kill().await;

    // While the process is down, Pods go. After the start, their clusters are not heard yet.
    let writes = scene.inventory.writes().len();
    scene.writer.remove(&ApplicationKey::Found(name()));
    scene.is_listed.store(false, Ordering::Relaxed);
    scene.start();
    scene
        .wait_for("the ledger", |scene| scene.health.counts().items == 21)
        .await;
    scene.publish_view(view(&[], true));
    tokio::time::sleep(crate::limits::GATHER * 2).await;
    assert_eq!(
        scene.inventory.writes().len(),
        writes,
        "nothing is removed without proof"
    );

    scene.is_listed.store(true, Ordering::Relaxed);
    scene.publish(&pods(19, Phase::Ready));
    scene
        .wait_for("one is removed", |scene| scene.vservers().len() == 19)
        .await;
    scene.wait_until_idle().await;
    let since: Vec<String> = scene
        .inventory
        .writes()
        .split_off(writes)
        .into_iter()
        .map(|it| it.method)
        .collect();
    assert_eq!(since, ["DELETE"]);
    scene.check_rules();
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_object_does_not_stop_the_others() {
    let mut scene = Scene::new();
    scene.publish(&[
        (pod("a", "module-9"), Phase::Ready),
        (pod("b", "module-1"), Phase::Ready),
    ]);
    scene
        .wait_for("the accepted one", |scene| {
            scene.vservers() == ["b Ready module-1"]
        })
        .await;
    let refused = |scene: &Scene| scene.health.counts().refused == 1;
    scene.wait_for("a refusal", refused).await;
    let notes = scene.health.notes();
    assert!(notes[0].contains("refuses 1 objects"), "{notes:?}");
    assert!(notes[0].contains("vf-module"), "{notes:?}");
    // The module appears.
    let module = json!({"vf-module-id": "module-9"});
    scene
        .inventory
        .set(&format!("{VNF}/vf-modules/vf-module/module-9"), module);
    scene
        .wait_for_vservers(&["a Ready module-9", "b Ready module-1"])
        .await;
    assert_eq!(scene.health.notes(), Vec::<String>::new());
    scene.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_that_goes_during_its_first_write_is_removed() {
    let mut scene = Scene::new();
    scene.inventory.fail(Some(InventoryFault::Hang), 0);
    scene.publish(&[(pod("a", "module-1"), Phase::Ready)]);
    let began = |scene: &Scene| !scene.inventory.requests().is_empty();
    scene.wait_for("the first request", began).await;
    // The update that was begun continues without a plan.
    scene.publish(&[]);
    tokio::time::sleep(crate::limits::GATHER * 3 / 2).await;
    scene.inventory.fail(None, 0);
    // The ledger had the item before the first request.
    let is_forgotten = |scene: &Scene| {
        let ledger = scene.store.range("/kindsight/aai/").unwrap();
        ledger.entries.is_empty()
    };
    scene.wait_for("an empty ledger", is_forgotten).await;
    assert_eq!(scene.vservers(), Vec::<String>::new());
    scene.stop().await;
}
