//! An application that an AppContext sends to a watched cluster. Its state is taken from the reports of a monitor, or
//! from its objects if there is no monitor.

use std::sync::Arc;

use kindsight_appcontext::{
    Action, AppContexts, ContextMeta, NewApp, NewCluster, NewContext, NewResource, Record, Records,
    ResourceName, StatusChange,
};
use kindsight_cluster::{Cluster, Options};
use kindsight_clusters::{ClusterSource, WatchOptions};
use kindsight_model::{
    BundleDialect, ClusterName, ContextId, DigName, LifecycleState, ReportMode, RsyncStatus,
};
use kindsight_store::Store;
use serde_json::{Value, json};

use crate::monitor;
use crate::stage::{NAMESPACE, SHOP, Stage, labelled, resources, workload};

/// Path of the status of the group in the context.
pub(crate) const PROD: &str =
    "/v2/projects/p/composite-apps/suite/v1/deployment-intent-groups/prod/status?type=cluster";

const ID: &str = "4711";
const FRONT: &str = "4711-front";

/// All objects of the app `front`. Each has the label of the deployment and the labels of a chart.
pub(crate) fn front() -> Vec<Value> {
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "front"},
        "spec": {"selector": {"app": "front"}, "ports": [{"port": 80}]}});
    let config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}});
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"},
        "stringData": {"password": "not to be seen"}});
    let pods = json!({"emco/deployment-id": FRONT});
    let mut objects = vec![
        workload("Deployment", "front", &pods, &json!({"replicas": 2})),
        labelled(service, "front"),
        labelled(config, "front"),
        labelled(secret, "front"),
    ];
    for object in &mut objects {
        object["metadata"]["labels"]["emco/deployment-id"] = FRONT.into();
    }
    objects
}

/// A manifest of the app `front` that was never applied.
fn missing() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "missing", "namespace": NAMESPACE}})
}

/// A manifest of a Kind that the cluster does not have.
fn crane() -> Value {
    json!({"apiVersion": "example.org/v1", "kind": "Crane",
        "metadata": {"name": "big", "namespace": NAMESPACE}})
}

fn app(name: &str, cluster: &ClusterName, manifests: &[Value]) -> NewApp {
    let resources = manifests.iter().map(|manifest| {
        let text = |pointer| manifest.pointer(pointer).and_then(Value::as_str);
        let text = |pointer| text(pointer).expect("a text");
        NewResource {
            resource: ResourceName::new(text("/metadata/name"), text("/kind")).expect("a name"),
            manifest: manifest.to_string(),
        }
    });
    NewApp {
        name: name.to_owned(),
        clusters: vec![NewCluster {
            cluster: cluster.clone(),
            group: None,
            resources: resources.collect(),
        }],
    }
}

/// Writes the context and its record, as an orchestrator would.
pub(crate) fn instantiate(stage: &Stage) -> (AppContexts, ContextId) {
    let cluster = "kubeconfig+edge01".parse().expect("a name");
    instantiate_in(&stage.store, &cluster)
}

/// Writes the context and its record into a store, for a cluster of this name.
pub(crate) fn instantiate_in(
    store: &Arc<dyn Store>,
    cluster: &ClusterName,
) -> (AppContexts, ContextId) {
    let name = DigName::new("p", "suite", "v1", "prod").expect("a name");
    let sent = [front(), vec![missing()]].concat();
    let context = NewContext {
        meta: ContextMeta {
            namespace: NAMESPACE.to_owned(),
            ..ContextMeta::of_dig(&name)
        },
        apps: vec![
            app("front", cluster, &sent),
            app("yard", cluster, &[crane()]),
        ],
    };
    let id: ContextId = ID.parse().expect("an id");
    let contexts = AppContexts::new(Arc::clone(store));
    contexts.create_as(&id, &context).expect("a context");
    let resources = context.apps[0].clusters[0].resources.iter();
    let applied = resources.map(|resource| StatusChange {
        app: "front",
        cluster,
        resource: &resource.resource,
        status: RsyncStatus::Applied,
    });
    let applied: Vec<StatusChange<'_>> = applied.collect();
    let recorded = contexts.record_resource_statuses(&id, &applied);
    let _ = recorded.expect("the statuses");
    let record = Record {
        profile: None,
        actions: vec![Action {
            state: LifecycleState::Instantiated,
            instance: Some(id.clone()),
            time: "2026-01-01T00:00:00Z".to_owned(),
            revision: 0,
        }],
    };
    let records = Records::new(Arc::clone(store));
    records.create(&name, &record).expect("a record");
    (contexts, id)
}

/// The app `front` of an answer; resources in order.
fn of_front(answer: &Value) -> Value {
    let mut apps = answer["apps"].as_array().into_iter().flatten();
    let mut front = apps.find(|app| app["name"] == "front").cloned();
    if let Some(front) = &mut front {
        let all = front["clusters"][0]["resources"].as_array_mut();
        all.expect("resources")
            .sort_by_key(|resource| format!("{}/{}", resource["GVK"]["Kind"], resource["name"]));
    }
    front.unwrap_or_default()
}

fn pods(answer: &Value) -> usize {
    let lines = resources(answer);
    lines
        .iter()
        .filter(|line| line.contains(" front Pod/"))
        .count()
}

/// Returns whether two Pods of the app `front` are shown, and its Deployment is ready. The answer must be current: it is
/// stale while a new Kind is listed, for example the Kind of the reports of a monitor.
fn is_rolled_out(answer: &Value) -> bool {
    let lines = resources(answer);
    let is_ready = lines
        .iter()
        .any(|line| line.starts_with("edge01 front Deployment/front Ready"));
    is_ready && pods(answer) == 2 && answer.get("stale-since").is_none()
}

/// Returns whether the store has a report on the app `front`.
fn is_stored(contexts: &AppContexts, id: &ContextId) -> bool {
    let context = contexts.read(id).expect("a store").expect("a context");
    let mut apps = context.apps.iter();
    let front = apps.find(|app| app.name == "front").expect("the app");
    front.clusters[0].bundle.json().is_some()
}

/// Waits for an answer, and checks that no answer shows an existing object as missing or unknown.
fn wait(stage: &Stage, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    stage.wait(PROD, what, |answer| {
        for line in resources(answer) {
            let is_wrong = line.contains(" NotPresent ") || line.contains(" Unknown ");
            let is_known = line.contains("/missing ") || line.contains("/big ");
            assert!(!is_wrong || is_known, "{what}: {line}");
        }
        is_so(answer)
    })
}

fn scale(cluster: &Cluster, replicas: usize) {
    let path = format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments/front");
    let patch = json!({"spec": {"replicas": replicas}});
    cluster.patch(&path, "application/merge-patch+json", &patch);
    let is_done = |deployment: &Value| deployment["status"]["readyReplicas"] == replicas;
    cluster.wait(&path, is_done, crate::stage::PATIENCE);
}

#[test]
fn an_app_of_a_context_is_the_same_by_monitor_and_by_objects() {
    let Some(stage) = Stage::whole(&["edge01"]) else {
        return;
    };
    let cluster = &stage.clusters[0];
    for object in front() {
        cluster.apply(&object);
    }
    stage.wait_for_state("Ready");
    // Objects that were found by their labels now belong to the context, and are not listed as gone.
    let (contexts, id) = instantiate(&stage);
    stage.wait(PROD, "its objects are shown", is_rolled_out);
    let list = stage.wait("/v2/applications", "it is not found twice", |answer| {
        answer["applications"]
            .as_array()
            .is_some_and(|list| list.len() == 1)
    });
    assert_eq!(list["applications"][0]["project"], "p");
    let direct = wait(&stage, "its objects are shown", is_rolled_out);
    let lines = resources(&direct);
    for expected in [
        "edge01 front ConfigMap/missing NotPresent",
        "edge01 front Secret/key Present",
        "edge01 yard Crane/big Unknown NotReported",
    ] {
        assert!(
            lines.iter().any(|line| line.starts_with(expected)),
            "{expected} in {lines:#?}"
        );
    }
    assert!(!is_stored(&contexts, &id), "there is no report");

    // An incomplete first report of a monitor hides no object.
    monitor::install(cluster);
    monitor::begin(cluster, FRONT);
    let everything = monitor::everything(cluster, FRONT);
    let half =
        json!({"ready": false, "resourceCount": 0, "podStatuses": everything["podStatuses"]});
    monitor::report(cluster, FRONT, &half);
    scale(cluster, 3);
    wait(&stage, "the report lags behind", |answer| pods(answer) == 3);
    assert!(!is_stored(&contexts, &id), "the report is not used yet");
    scale(cluster, 2);
    let direct = wait(&stage, "its objects are shown", is_rolled_out);

    // With a report on all objects, the answer is the same as from objects.
    monitor::report(cluster, FRONT, &monitor::everything(cluster, FRONT));
    wait(&stage, "the report is used", |_| is_stored(&contexts, &id));
    let bundle = wait(&stage, "the report is shown", is_rolled_out);
    assert_eq!(of_front(&bundle), of_front(&direct));
    // A report without owners and with old specs gives the same answer apart from the owners.
    let pruned = monitor::pruned(cluster, FRONT);
    monitor::report(cluster, FRONT, &pruned);
    let bundle = wait(&stage, "the pruned report is shown", |answer| {
        of_front(answer) != of_front(&direct)
    });
    assert_eq!(resources(&bundle), resources(&direct));
    // Only the monitor's report counts, and it does not contain this change.
    scale(cluster, 3);
    let seen = wait(&stage, "the report is unchanged", is_rolled_out);
    assert_eq!(pods(&seen), 2);

    // Without the monitor, the state is taken from the objects again.
    monitor::uninstall(cluster);
    let direct = wait(&stage, "its objects are shown again", |answer| {
        pods(answer) == 3
    });
    assert!(direct.get("stale-since").is_none(), "{direct:#}");

    // Without the context, they are found by their labels.
    contexts.delete(&id).expect("deleted");
    stage.wait(SHOP, "its objects are found", |answer| {
        answer["ready-status"] == "Ready"
            && resources(answer).iter().any(|line| line.contains("Pod/"))
    });
}

#[test]
fn a_report_of_kindsights_monitor_gives_the_same_answer_as_the_objects() {
    let Some(stage) = Stage::whole(&["edge01"]) else {
        return;
    };
    let cluster = &stage.clusters[0];
    let (contexts, id) = instantiate(&stage);
    for object in front() {
        cluster.apply(&object);
    }
    scale(cluster, 2);
    let is_rolled_out = |answer: &Value| {
        let lines = resources(answer);
        let is_ready = |line: &String| line.starts_with("edge01 front Deployment/front Ready");
        // On a busy machine, other Kinds may still be listed.
        let is_answered = of_front(answer)["unanswered"].is_null();
        pods(answer) == 2 && lines.iter().any(is_ready) && is_answered
    };
    let direct = stage.wait(PROD, "its objects are shown", is_rolled_out);
    monitor::install_own(cluster);
    monitor::begin(cluster, FRONT);
    monitor::write(
        cluster,
        &monitor::encoded(cluster, FRONT, BundleDialect::V22, &[]),
    );
    wait(&stage, "the report is used", |_| is_stored(&contexts, &id));
    let bundle = wait(&stage, "the report is shown", is_rolled_out);
    assert_eq!(of_front(&bundle), of_front(&direct));

    // Secrets that the monitor may not read any more were not deleted.
    let forbidden = monitor::encoded(cluster, FRONT, BundleDialect::V22, &["Secret"]);
    monitor::write(cluster, &forbidden);
    stage.wait(PROD, "its Secret is unknown", |answer| {
        let lines = resources(answer);
        let mut secrets = lines.iter().filter(|line| line.contains(" Secret/key "));
        assert!(
            !lines
                .iter()
                .any(|line| line.contains("Secret/key NotPresent")),
            "{lines:#?}"
        );
        secrets.any(|line| line.contains(" Unknown "))
    });

    // The other Kinds of a report for ONAP are in a further object.
    scale(cluster, 3);
    let onap = monitor::encoded(cluster, FRONT, BundleDialect::Onap, &[]);
    assert_eq!(onap.further.len(), 1);
    monitor::write(cluster, &onap);
    let bundle = stage.wait(PROD, "both objects are shown", |answer| pods(answer) == 3);
    monitor::uninstall(cluster);
    let direct = wait(&stage, "its objects are shown again", |answer| {
        of_front(answer)["clusters"][0]["resources"]
            == of_front(&bundle)["clusters"][0]["resources"]
    });
    assert_eq!(pods(&direct), 3);
}

/// A complete cluster whose `AppContexts` are reported in this mode. All objects are applied, and the context exists.
fn in_mode(mode: ReportMode) -> Option<(Stage, AppContexts, ContextId)> {
    let options = [Options::new("edge01")];
    let stage = Stage::start_as(
        &options,
        |cluster| cluster.admin().clone(),
        |source| match source {
            ClusterSource::Kubernetes(cluster) => {
                let options = WatchOptions {
                    mode,
                    ..WatchOptions::default()
                };
                ClusterSource::Kubernetes(Box::new(cluster.with_options(options)))
            }
            source @ (ClusterSource::Folder(_) | ClusterSource::Pushed(_)) => source,
        },
    )?;
    monitor::install(&stage.clusters[0]);
    let (contexts, id) = instantiate(&stage);
    for object in front() {
        stage.apply(&object);
    }
    scale(&stage.clusters[0], 2);
    Some((stage, contexts, id))
}

#[test]
fn a_cluster_in_mode_bundles_shows_the_reports_of_its_monitor() {
    let Some((stage, contexts, id)) = in_mode(ReportMode::Bundles) else {
        return;
    };
    let cluster = &stage.clusters[0];
    stage.wait_for_cluster("edge01", "its mode is shown", |cluster| {
        cluster["connection"] == "connected" && cluster["mode"] == "bundles"
    });
    let nothing = stage.wait(PROD, "nothing is known", |answer| !answer["apps"].is_null());
    let lines = resources(&nothing);
    let front = lines.iter().find(|line| line.contains("Deployment/front"));
    assert!(
        front.is_some_and(|line| line.contains(" Unknown ")),
        "{lines:#?}"
    );
    monitor::begin(cluster, FRONT);
    monitor::report(cluster, FRONT, &monitor::everything(cluster, FRONT));
    stage.wait(PROD, "the report is shown", |answer| pods(answer) == 2);
    // The report is stored after it is shown.
    stage.wait(PROD, "it is stored", |_| is_stored(&contexts, &id));
    scale(cluster, 3);
    monitor::report(cluster, FRONT, &monitor::everything(cluster, FRONT));
    stage.wait(PROD, "the next report is shown", |answer| pods(answer) == 3);
}

#[test]
fn a_cluster_of_objects_alone_reads_no_report() {
    let Some((stage, contexts, id)) = in_mode(ReportMode::Direct) else {
        return;
    };
    let cluster = &stage.clusters[0];
    monitor::begin(cluster, FRONT);
    monitor::report(cluster, FRONT, &monitor::everything(cluster, FRONT));
    stage.wait(PROD, "its objects are shown", |answer| pods(answer) == 2);
    scale(cluster, 3);
    stage.wait(PROD, "they are followed", |answer| pods(answer) == 3);
    assert!(!is_stored(&contexts, &id), "the report is not read");
}
