//! Groups, a cluster's network intents and a logical cloud, as emco-base v22.09 writes them.

use kindsight_cluster::EtcdKeys;
use serde_json::{Value, json};

use crate::emco::laid::{Generation, Laid};
use crate::monitor::deployment;

const EDGE01: &str = "provider+edge01";
const EDGE02: &str = "provider+edge02";

/// Writes the keys of all contexts.
pub(super) fn lay(keys: &EtcdKeys) {
    for laid in [
        prod(),
        updated_first(),
        updated_second(),
        made_for_updated(),
        network_intents(),
        logical_cloud(),
        one_app(
            "501",
            "shop/store/v1/terminated",
            "Terminated",
            "Deleted",
            "Available",
        ),
        one_app(
            "601",
            "shop/store/v1/lost",
            "Instantiating",
            "Applied",
            "Retrying",
        ),
    ] {
        keys.put_all(&laid.keys);
    }
}

/// A group with two apps. One app is not ready in one of its clusters.
fn prod() -> Laid {
    let mut laid = Laid::new(Generation::V22, "101", "shop/store/v1/prod");
    let cache = [
        ("cache", "Deployment", "apps/v1"),
        ("settings", "ConfigMap", "v1"),
    ];
    let web = [("web", "Deployment", "apps/v1"), ("web", "Service", "v1")];
    laid.cluster("cache", EDGE01, &cache);
    laid.cluster("web", EDGE01, &web);
    laid.cluster("web", EDGE02, &web);
    laid.ordered().status("Instantiated").rsync("Applied");
    laid.bundle(
        "cache",
        EDGE01,
        &json!({
            "podStatuses": [pod("cache-5d9-x")],
            "deploymentStatuses": [deployment("cache", 1, 1)],
            "configMapStatuses": [config_map("settings")],
        }),
    );
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"type": "ClusterIP", "clusterIP": "10.96.0.7"}, "status": {"loadBalancer": {}},
    });
    laid.bundle(
        "web",
        EDGE01,
        &json!({"deploymentStatuses": [deployment("web", 2, 2)], "serviceStatuses": [service]}),
    );
    laid.bundle(
        "web",
        EDGE02,
        &json!({"deploymentStatuses": [deployment("web", 2, 0)], "serviceStatuses": []}),
    );
    // rsync has not written a status for the other cluster.
    for app in ["cache", "web"] {
        connected(&mut laid, app, "Available");
    }
    laid
}

/// The first instance of an updated group. It remains the status context of the group.
fn updated_first() -> Laid {
    let mut laid = Laid::new(Generation::V22, "201", "shop/store/v1/updated");
    laid.cluster("web", EDGE01, &[("web", "Deployment", "apps/v1")]);
    laid.ordered().status("Updated").rsync("Applied");
    let below = format!("app/web/cluster/{EDGE01}/");
    laid.put(&format!("{below}resource/new+ConfigMap/"), "\"nil\"");
    let applied = r#"{"Status":"Applied"}"#;
    laid.put(&format!("{below}resource/new+ConfigMap/status/"), applied);
    for name in ["web+Deployment", "new+ConfigMap"] {
        laid.put(&format!("{below}resource/{name}/reference/"), "\"202\"");
    }
    laid.put(&format!("{below}reference/"), "\"202\"");
    laid.bundle(
        "web",
        EDGE01,
        &json!({"deploymentStatuses": [deployment("web", 1, 1)], "configMapStatuses": [config_map("new")]}),
    );
    laid
}

/// The instance that the update made, and for which a context of a logical cloud was made.
fn updated_second() -> Laid {
    let meta = r#"{"Project":"shop","CompositeApp":"store","Version":"v1","Release":"fw0","DeploymentIntentGroup":"updated","Namespace":"default","Level":"0","ChildContextIDs":["203"],"LogicalCloud":"cloud","LogicalCloudNamespace":"ns","LogicalCloudLevel":"1"}"#;
    let mut laid = Laid::with_meta(Generation::V22, "202", meta);
    let resources = [("web", "Deployment", "apps/v1"), ("new", "ConfigMap", "v1")];
    laid.cluster("web", EDGE01, &resources);
    laid.ordered().status("Instantiated");
    laid.put("statusappctxid/", "\"201\"");
    connected(&mut laid, "web", "Available");
    laid
}

fn made_for_updated() -> Laid {
    one_app(
        "203",
        "shop/store/v1/child",
        "Instantiated",
        "Applied",
        "Available",
    )
}

fn network_intents() -> Laid {
    let meta = r#"{"Project":"","CompositeApp":"","Version":"","Release":"","DeploymentIntentGroup":"","Namespace":"","Level":"","ChildContextIDs":null}"#;
    let mut laid = Laid::with_meta(Generation::V22, "301", meta);
    let networks = [("net", "Network", "k8s.plugin.opnfv.org/v1alpha1")];
    laid.cluster("network-intents", EDGE01, &networks);
    laid.ordered().status("Instantiated").rsync("Applied");
    connected(&mut laid, "network-intents", "Available");
    // The monitor's report does not contain it.
    laid.bundle("network-intents", EDGE01, &json!({"resourceStatuses": []}));
    laid
}

fn logical_cloud() -> Laid {
    let meta = r#"{"Project":"shop","CompositeApp":"\u003cnil\u003e","Version":"\u003cnil\u003e","Release":"\u003cnil\u003e","DeploymentIntentGroup":"\u003cnil\u003e","Namespace":"ns","Level":"1","ChildContextIDs":[],"LogicalCloud":"cloud","LogicalCloudNamespace":"ns","LogicalCloudLevel":"1"}"#;
    let mut laid = Laid::with_meta(Generation::V22, "401", meta);
    laid.cluster("logical-cloud", EDGE01, &[("ns", "Namespace", "v1")]);
    laid.ordered().status("Instantiated").rsync("Applied");
    connected(&mut laid, "logical-cloud", "Available");
    laid
}

/// A group with one Deployment, without a report.
fn one_app(id: &str, dig: &str, status: &str, rsync: &str, connectivity: &str) -> Laid {
    let mut laid = Laid::new(Generation::V22, id, dig);
    laid.cluster("web", EDGE01, &[("web", "Deployment", "apps/v1")]);
    laid.ordered().status(status).rsync(rsync);
    connected(&mut laid, "web", connectivity);
    laid
}

/// Writes what rsync says of its connection to the first cluster.
fn connected(laid: &mut Laid, app: &str, word: &str) {
    let key = format!("app/{app}/cluster/{EDGE01}/readystatus/");
    laid.put(&key, format!("\"{word}\""));
}

fn config_map(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"}, "data": {"title": "a <b> & c"},
    })
}

fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "cache"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"name": "cache", "ready": true, "restartCount": 0, "state": {"running": {}}}]},
    })
}
