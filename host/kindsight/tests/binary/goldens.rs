//! The responses that the specification prescribes, over HTTP, from a store filled through the
//! AppContext library.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use kindsight_appcontext::{
    Action, AppContexts, ContextMeta, NewApp, NewCluster, NewContext, NewResource, Record,
    Recorded, Records, ResourceName, StatusChange,
};
use kindsight_model::{ClusterName, ContextId, ContextStatus, DigName, RsyncStatus};
use kindsight_store::{RedbStore, Store};
use serde_json::{Value, json};

use crate::monitor::{Monitor, deployment};
use crate::process::Server;

mod deployed;

pub(crate) const DIG: &str = "testvfw/compositevfw/v1/vfw_deployment_intent_group";
/// The context that is instantiated now.
pub(crate) const CONTEXT: &str = "2755581958183303505";
const TERMINATED: &str = "2621114006130701074";
/// The context of the own resources of the first cluster.
pub(crate) const NETWORK: &str = "9116473999070524329";
/// The golden that contains objects.
const DETAIL: &str = "dig-detail-cluster-sink-configmap.json";
const CLUSTERS: [&str; 2] = ["vfw-cluster-provider+edge01", "vfw-cluster-provider+edge02"];

/// Apps in their order, and their resources: name, Kind, apiVersion.
pub(crate) type Apps<'a> = &'a [(&'a str, &'a [(&'a str, &'a str, &'a str)])];

const VFW: Apps<'_> = &[
    (
        "packetgen",
        &[
            ("fw0-packetgen", "Deployment", "apps/v1"),
            ("packetgen-service", "Service", "v1"),
        ],
    ),
    ("firewall", &[("fw0-firewall", "Deployment", "apps/v1")]),
    (
        "sink",
        &[
            ("fw0-sink", "Deployment", "apps/v1"),
            ("sink-configmap", "ConfigMap", "v1"),
            ("sink-service", "Service", "v1"),
        ],
    ),
];

const NETWORK_INTENTS: Apps<'_> = &[(
    "network-intents",
    &[
        (
            "emco-private-net",
            "ProviderNetwork",
            "k8s.plugin.opnfv.org/v1alpha1",
        ),
        (
            "protected-private-net",
            "Network",
            "k8s.plugin.opnfv.org/v1alpha1",
        ),
        (
            "unprotected-private-net",
            "ProviderNetwork",
            "k8s.plugin.opnfv.org/v1alpha1",
        ),
    ],
)];

pub(crate) fn status_path(query: &str) -> String {
    let dig = "deployment-intent-groups/vfw_deployment_intent_group";
    format!("/v2/projects/testvfw/composite-apps/compositevfw/v1/{dig}/status{query}")
}

/// Apps in their order, and the clusters that each of them is sent to.
pub(crate) type Sent<'a> = (Apps<'a>, &'a [&'a str]);
/// The state of a context and of each of its resources.
pub(crate) type States = (ContextStatus, RsyncStatus);
/// A writer of a context of a group.
pub(crate) type WriteContext<'a> = &'a dyn Fn(&ContextId, &DigName, Sent<'_>, States);

/// Fills the store of a data directory with the contexts and records of the goldens.
pub(crate) fn fill_store(data: &Path) {
    fill_file(data, &golden("dig-default.json"));
}

fn fill_file(data: &Path, response: &Value) {
    let store: Arc<dyn Store> = Arc::new(RedbStore::open(&data.join("store.redb")).unwrap());
    let contexts = AppContexts::new(Arc::clone(&store));
    fill(&store, response, &|id, dig, sent, states| {
        instantiate(&contexts, id, dig, sent, states);
    });
}

/// Fills a store with the records of the goldens, and has their contexts written.
pub(crate) fn fill(store: &Arc<dyn Store>, response: &Value, write: WriteContext<'_>) {
    let [project, composite_app, version, dig] = DIG.split('/').collect::<Vec<_>>()[..] else {
        panic!("four parts");
    };
    let name = DigName::new(project, composite_app, version, dig).unwrap();
    let record = Record {
        profile: Some("vfw_composite-profile".to_owned()),
        actions: actions(response),
    };
    let records = Records::new(Arc::clone(store));
    records.create(&name, &record).unwrap();
    let mut written = BTreeSet::new();
    for action in record.actions {
        let Some(id) = action.instance else { continue };
        let (status, rsync) = match id.as_str() {
            TERMINATED => (ContextStatus::Terminated, RsyncStatus::Deleted),
            _ => (ContextStatus::Instantiated, RsyncStatus::Applied),
        };
        if written.insert(id.to_string()) {
            write(&id, &name, (VFW, &CLUSTERS), (status, rsync));
        }
    }
    let cluster = Record {
        profile: None,
        actions: actions(&golden("cluster-network-intents.json")),
    };
    let edge: ClusterName = CLUSTERS[0].parse().unwrap();
    records.create(&edge, &cluster).unwrap();
    let id = NETWORK.parse().unwrap();
    let applied = (ContextStatus::Instantiated, RsyncStatus::Applied);
    write(&id, &name, (NETWORK_INTENTS, &CLUSTERS[..1]), applied);
    instances(&records, write);
}

/// Creates the group of the golden list of instances. Its request says `v1.0` and its answer `v1`:
/// the answer has the names in its contexts.
fn instances(records: &Records, write: WriteContext<'_>) {
    let list = golden("dig-instances-list.json");
    let asked = DigName::new("myproject", "composite-app-xyz", "v1.0", "dig-xyz").unwrap();
    let instantiated = DigName::new("myproject", "composite-app-xyz", "v1", "dig-xyz").unwrap();
    let ids = list["instances"].as_array().unwrap().iter();
    let ids: Vec<ContextId> = ids
        .map(|id| id.as_str().unwrap().parse().unwrap())
        .collect();
    let actions = ids.iter().map(|id| {
        serde_json::from_value(json!({"state": "Instantiated", "instance": id.as_str(), "time": "2021-01-01T00:00:00Z"})).unwrap()
    });
    let record = Record {
        profile: None,
        actions: actions.collect(),
    };
    records.create(&asked, &record).unwrap();
    let applied = (ContextStatus::Instantiated, RsyncStatus::Applied);
    for id in &ids {
        write(id, &instantiated, (&[], &[]), applied.clone());
    }
}

/// The manifest of a resource, as YAML. Monitors report no spec or an old one, so interpreters use its spec.
pub(crate) fn manifest((name, kind, api_version): (&str, &str, &str)) -> String {
    let spec = match kind {
        "Service" => "spec:\n  type: ClusterIP\n",
        "Deployment" => "spec:\n  replicas: 1\n",
        _ => "",
    };
    format!("apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: {name}\n{spec}")
}

pub(crate) fn instantiate(
    contexts: &AppContexts,
    id: &ContextId,
    dig: &DigName,
    (apps, clusters): Sent<'_>,
    (status, rsync): States,
) {
    let resource = |&(name, kind, api_version): &(&str, &str, &str)| NewResource {
        resource: ResourceName::new(name, kind).unwrap(),
        manifest: manifest((name, kind, api_version)),
    };
    let cluster = |name: &str, resources: &[(&str, &str, &str)]| NewCluster {
        cluster: name.parse().unwrap(),
        group: None,
        resources: resources.iter().map(resource).collect(),
    };
    let app = |(name, resources): &(&str, &[(&str, &str, &str)])| NewApp {
        name: (*name).to_owned(),
        clusters: clusters
            .iter()
            .map(|name| cluster(name, resources))
            .collect(),
    };
    let new = NewContext {
        meta: ContextMeta::of_dig(dig),
        apps: apps.iter().map(app).collect(),
    };
    contexts.create_as(id, &new).unwrap();
    let recorded = contexts.record_status(id, status).unwrap();
    assert!(matches!(recorded, Recorded::Written(_)));
    for app in &new.apps {
        for cluster in &app.clusters {
            let change = |resource| StatusChange {
                app: &app.name,
                cluster: &cluster.cluster,
                resource,
                status: rsync,
            };
            let changes: Vec<_> = cluster
                .resources
                .iter()
                .map(|resource| change(&resource.resource))
                .collect();
            let recorded = contexts.record_resource_statuses(id, &changes).unwrap();
            assert!(changes.is_empty() || matches!(recorded, Recorded::Written(_)));
        }
    }
}

fn actions(response: &Value) -> Vec<Action> {
    let actions = response["state"]["Actions"].as_array().unwrap().iter();
    let action = |action: &Value| json!({"state": action["State"], "instance": action["ContextId"], "time": action["TimeStamp"]});
    actions
        .map(|golden| serde_json::from_value(action(golden)).unwrap())
        .collect()
}

pub(crate) fn golden(file: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Checks that every field of `expected` is in `got` with the same value, arrays in the same order.
fn contains(got: &Value, expected: &Value, at: &str) {
    match (got, expected) {
        (Value::Object(got), Value::Object(expected)) => {
            for (key, value) in expected {
                let got = got
                    .get(key)
                    .unwrap_or_else(|| panic!("{at}/{key} is missing"));
                contains(got, value, &format!("{at}/{key}"));
            }
        }
        (Value::Array(got), Value::Array(expected)) => {
            assert_eq!(got.len(), expected.len(), "{at}");
            for (position, (got, expected)) in got.iter().zip(expected).enumerate() {
                contains(got, expected, &format!("{at}/{position}"));
            }
        }
        _ => assert_eq!(got, expected, "{at}"),
    }
}

fn check(server: &Server, path: &str, file: &str) {
    check_against(server, path, &golden(file), file);
}

fn check_against(server: &Server, path: &str, expected: &Value, file: &str) {
    let (status, got) = server.get(path);
    assert_eq!(status, 200, "{file}: {got}");
    contains(&got, expected, file);
}

/// The golden with the details of ConfigMaps as a monitor reports them. It is from a monitor of ONAP.
fn detail_of(monitor: Monitor) -> Value {
    let mut response = golden(DETAIL);
    for cluster in response["apps"][0]["clusters"].as_array_mut().unwrap() {
        let detail = &mut cluster["resources"][0]["detail"];
        let status = monitor.status(&json!({"configMapStatuses": [detail.take()]}));
        *detail = status["configMapStatuses"][0].clone();
    }
    response
}

/// Writes reports of both clusters on the app `sink`, as a monitor writes them; returns `--cluster` values. The golden
/// shows the ConfigMap. The specs are older than the manifests: more replicas, and another type of Service.
pub(crate) fn reports(folder: &Path, monitor: Monitor) -> Vec<String> {
    let response = golden(DETAIL);
    let mut sink = deployment("fw0-sink", 1, 1);
    sink["spec"]["replicas"] = 3.into();
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "sink-service", "namespace": "default"},
        "spec": {"type": "LoadBalancer"}, "status": {"loadBalancer": {}},
    });
    let mut clusters = Vec::new();
    for (name, cluster) in CLUSTERS
        .iter()
        .zip(response["apps"][0]["clusters"].as_array().unwrap())
    {
        let objects = json!({
            "deploymentStatuses": [sink],
            "serviceStatuses": [service],
            "configMapStatuses": [cluster["resources"][0]["detail"]],
        });
        let report = monitor.bundle(&format!("{CONTEXT}-sink"), &objects);
        let reports = folder.join(name);
        std::fs::create_dir_all(&reports).unwrap();
        std::fs::write(reports.join("sink.json"), report.to_string()).unwrap();
        clusters.push(format!("{name}={}", reports.display()));
    }
    clusters
}

#[test]
fn the_specified_responses_are_returned() {
    for monitor in Monitor::ALL {
        let data = tempfile::tempdir().unwrap();
        fill_store(data.path());
        let server = Server::start(data.path(), &reports(data.path(), monitor));
        check_all(&server, monitor);
    }
}

/// Checks every answer that the specification prescribes for this moment, and the states of the other resources in the
/// reports of this monitor.
pub(crate) fn check_all(server: &Server, monitor: Monitor) {
    check_group(server, monitor);
    let cluster = "/v2/cluster-providers/vfw-cluster-provider/clusters/edge01/status";
    check(server, cluster, "cluster-network-intents.json");
    let instances = "/v2/projects/myproject/composite-apps/composite-app-xyz/v1.0/deployment-intent-groups/dig-xyz/status?instance";
    check(server, instances, "dig-instances-list.json");
}

/// Checks the answers about the group of the vFW.
fn check_group(server: &Server, monitor: Monitor) {
    for (query, file) in [
        ("", "dig-default.json"),
        ("?output=summary", "dig-summary.json"),
        (
            "?output=all&type=rsync&resource=fw0-packetgen&resource=sink-configmap&instance=2621114006130701074",
            "dig-instance-two-resources.json",
        ),
    ] {
        check(server, &status_path(query), file);
    }
    let detail = "?output=detail&type=cluster&app=sink&resource=sink-configmap";
    check_against(server, &status_path(detail), &detail_of(monitor), DETAIL);
    // The manifests that were sent decide, not the specs of the reports.
    let (_, sink) = server.get(&status_path("?type=cluster&app=sink&explain=true"));
    assert_eq!(
        sink["cluster-status"],
        json!({"Present": 2, "Ready": 4}),
        "{monitor:?}: {sink}"
    );
    let resources = sink["apps"][0]["clusters"][0]["resources"].as_array();
    let from_manifest = resources
        .unwrap()
        .iter()
        .filter(|resource| resource["spec"] == "manifest");
    assert_eq!(from_manifest.count(), 2, "{monitor:?}: {sink}");
}

#[test]
fn the_specified_response_from_another_state_is_returned() {
    let data = tempfile::tempdir().unwrap();
    let file = "dig-by-cluster.json";
    fill_file(data.path(), &golden(file));
    let server = Server::start(data.path(), &[]);
    check(
        &server,
        &status_path("?cluster=vfw-cluster-provider%2Bedge02"),
        file,
    );
}
