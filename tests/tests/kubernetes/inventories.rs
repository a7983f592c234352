//! Applications of Argo CD and Flux whose inventories list resources that are deleted.

use std::path::Path;
use std::time::Duration;

use kindsight_cluster::{Cluster, Credentials, Options};
use kindsight_clusters::{ClusterSource, WatchOptions};
use serde_json::{Value, json};

use crate::stage::{NAMESPACE, Stage, define, resources};

/// Status of the Argo CD Application.
const SHOP: &str = "/v2/projects/-/composite-apps/shop/-/deployment-intent-groups/-/status";
/// Status of the Kustomization.
const BASE: &str =
    "/v2/projects/-/composite-apps/base/-/deployment-intent-groups/flux-system/status";
/// Status of the `HelmRelease`.
const CHART: &str =
    "/v2/projects/-/composite-apps/chart/-/deployment-intent-groups/flux-system/status";

/// The Kinds with inventories: group, version, plural, Kind.
const KINDS: [[&str; 4]; 3] = [
    ["argoproj.io", "v1alpha1", "applications", "Application"],
    [
        "kustomize.toolkit.fluxcd.io",
        "v1",
        "kustomizations",
        "Kustomization",
    ],
    [
        "helm.toolkit.fluxcd.io",
        "v2",
        "helmreleases",
        "HelmRelease",
    ],
];

fn admin(cluster: &Cluster) -> Credentials {
    cluster.admin().clone()
}

/// Installs the Kinds with inventories, and waits until the server serves them.
fn install(cluster: &Cluster) {
    for namespace in ["argocd", "flux-system"] {
        cluster.apply(&json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace},
        }));
    }
    for kind in KINDS {
        define(cluster, kind);
    }
}

fn config(name: &str, metadata: &Value) -> Value {
    let mut config = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
    config["metadata"]["name"] = name.into();
    config["metadata"]["namespace"] = NAMESPACE.into();
    config
}

/// A ConfigMap that Argo CD tracks; `tracked` is the name in its tracking id.
fn tracked(name: &str, tracked: &str) -> Value {
    let id = format!("shop:/ConfigMap:{NAMESPACE}/{tracked}");
    config(
        name,
        &json!({"annotations": {"argocd.argoproj.io/tracking-id": id}}),
    )
}

/// The Argo CD Application with these ConfigMaps.
fn application(names: &[&str]) -> Value {
    let resources = names.iter().map(|name| {
        json!({
            "version": "v1", "kind": "ConfigMap", "namespace": NAMESPACE, "name": name,
            "status": "Synced",
        })
    });
    json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"name": "shop", "namespace": "argocd"},
        "spec": {"destination": {
            "server": "https://kubernetes.default.svc", "namespace": NAMESPACE,
        }},
        "status": {
            "controllerNamespace": "argocd", "resources": resources.collect::<Vec<_>>(),
        },
    })
}

/// An object of Flux with these entries in its inventory.
fn flux([group, version, _, kind]: [&str; 4], name: &str, ids: &[&str]) -> Value {
    let entries = ids.iter().map(|id| json!({"id": id, "v": "v1"}));
    json!({
        "apiVersion": format!("{group}/{version}"), "kind": kind,
        "metadata": {"name": name, "namespace": "flux-system"},
        "status": {"inventory": {"entries": entries.collect::<Vec<_>>()}},
    })
}

/// Both resources are missing.
const NONE: [&str; 2] = [
    "kept NotPresent NotInReport",
    "settings NotPresent NotInReport",
];
/// The inventory no longer lists the missing resource.
const UNLISTED: [&str; 2] = ["kept Present Exists", "settings NotPresent Gone"];

fn delete(cluster: &Cluster, name: &str) {
    let maps = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    assert!(cluster.delete(&format!("{maps}/{name}")));
}

/// Restarts the server after its state was written, and calls `change` while no server runs.
fn restart(stage: &mut Stage, data: &Path, change: impl FnOnce(&Stage)) {
    // The server writes its state every two seconds.
    std::thread::sleep(Duration::from_secs(6));
    stage.end_server();
    change(stage);
    stage.start_server(data, admin);
}

/// Waits until the cluster confirms exactly these ConfigMaps as `name state reason`.
fn wait_for(stage: &Stage, target: &str, state: &str, expected: &[&str]) -> Value {
    stage.wait(target, &format!("{expected:?}"), |answer| {
        let lines = resources(answer);
        let lines = lines
            .iter()
            .filter_map(|line| line.split_once("ConfigMap/"));
        let lines: Vec<&str> = lines.map(|(_, resource)| resource).collect();
        answer["stale-since"].is_null() && answer["ready-status"] == state && lines == expected
    })
}

#[test]
fn a_deleted_resource_of_an_inventory_is_not_present_also_after_a_restart() {
    let stage = Stage::start(&[Options::api_server("edge01")], admin);
    let Some(mut stage) = stage else { return };
    let data = tempfile::tempdir().expect("a folder");
    install(&stage.clusters[0]);
    stage.start_server(data.path(), admin);
    for object in [
        tracked("kept", "kept"),
        tracked("settings", "settings"),
        // A controller copied the annotations of another object.
        tracked("copy", "settings"),
        application(&["kept", "settings"]),
    ] {
        stage.clusters[0].apply(&object);
    }
    let both = ["kept Present Exists", "settings Present Exists"];
    wait_for(&stage, SHOP, "Present", &both);

    delete(&stage.clusters[0], "settings");
    let missing = ["kept Present Exists", "settings NotPresent NotInReport"];
    let answer = wait_for(&stage, SHOP, "NotPresent", &missing);
    assert!(
        answer["ready-reason"]
            .to_string()
            .contains("ConfigMap settings"),
        "{answer:#}"
    );

    restart(&mut stage, data.path(), |stage| {
        delete(&stage.clusters[0], "kept");
    });
    wait_for(&stage, SHOP, "NotPresent", &NONE);

    stage.clusters[0].apply(&tracked("kept", "kept"));
    stage.clusters[0].apply(&application(&["kept"]));
    wait_for(&stage, SHOP, "Present", &UNLISTED);
}

#[test]
fn an_application_counts_in_the_cluster_of_its_destination() {
    let options = ["hub", "edge"].map(Options::api_server);
    let Some(stage) = Stage::start(&options, admin) else {
        return;
    };
    let [hub, edge] = &*stage.clusters else {
        panic!("two clusters");
    };
    install(hub);
    edge.apply(&tracked("kept", "kept"));
    let to = |destination: &Value| {
        let mut application = application(&["kept", "settings"]);
        application["spec"]["destination"] = destination.clone();
        hub.apply(&application);
    };
    let missing = ["kept Present Exists", "settings NotPresent NotInReport"];
    let kept = ["kept Present Exists"];
    for destination in [
        json!({"name": "edge", "server": null}),
        json!({"name": null, "server": stage.proxies[1].url()}),
    ] {
        to(&destination);
        let answer = wait_for(&stage, SHOP, "NotPresent", &missing);
        let lines = resources(&answer);
        assert!(
            lines.iter().all(|line| line.starts_with("edge ")),
            "{lines:?}"
        );
        // No watched cluster has this name.
        to(&json!({"name": "far", "server": null}));
        let fault = "Application argocd/shop in cluster kubeconfig+hub is not compared with its cluster: no watched cluster has the name far; missing resources may be unknown";
        stage.wait(SHOP, fault, |answer| answer.to_string().contains(fault));
        wait_for(&stage, SHOP, "Present", &kept);
    }
}

/// The sources of clusters. That of the cluster `edge` lists a kubeconfig in the cluster of Flux.
fn listing_a_kubeconfig(source: ClusterSource) -> ClusterSource {
    match source {
        ClusterSource::Kubernetes(cluster) if &*cluster.name().name == "edge" => {
            let listed = "kubeconfig+hub/flux-system/tenant".parse();
            let options = WatchOptions {
                kubeconfigs: [listed.expect("a reference")].into(),
                ..WatchOptions::default()
            };
            ClusterSource::Kubernetes(Box::new(cluster.with_options(options)))
        }
        source => source,
    }
}

#[test]
fn a_kustomization_counts_in_the_cluster_of_its_kubeconfig() {
    let options = ["hub", "edge"].map(Options::api_server);
    let Some(stage) = Stage::start_as(&options, admin, listing_a_kubeconfig) else {
        return;
    };
    let [hub, edge] = &*stage.clusters else {
        panic!("two clusters");
    };
    install(hub);
    let labels = json!({"labels": {
        "kustomize.toolkit.fluxcd.io/name": "base",
        "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
    }});
    edge.apply(&config("kept", &labels));
    let ids = ["kept", "settings"].map(|name| format!("{NAMESPACE}_{name}__ConfigMap"));
    let through = |kubeconfig: &Value| {
        let mut kustomization = flux(KINDS[1], "base", &ids.each_ref().map(String::as_str));
        kustomization["spec"] = json!({"kubeConfig": kubeconfig});
        hub.apply(&kustomization);
    };
    let missing = ["kept Present Exists", "settings NotPresent NotInReport"];
    for kubeconfig in [
        json!({"secretRef": {"name": "edge"}, "configMapRef": null}),
        json!({"secretRef": {"name": "edge-kubeconfig"}, "configMapRef": null}),
        json!({"secretRef": null, "configMapRef": {"name": "edge"}}),
        json!({"secretRef": {"name": "tenant"}, "configMapRef": null}),
    ] {
        through(&kubeconfig);
        let answer = wait_for(&stage, BASE, "NotPresent", &missing);
        let lines = resources(&answer);
        assert!(
            lines.iter().all(|line| line.starts_with("edge ")),
            "{lines:?}"
        );
        // No watched cluster has this name.
        through(&json!({"secretRef": {"name": "far"}, "configMapRef": null}));
        let fault = "Kustomization flux-system/base in cluster kubeconfig+hub is not compared with its cluster: the name of Secret flux-system/far is the name of no watched cluster, and no table [[cluster]] has flux-system/far in `kubeconfig-refs`; missing resources may be unknown";
        stage.wait(BASE, fault, |answer| answer.to_string().contains(fault));
        wait_for(&stage, BASE, "Present", &["kept Present Exists"]);
    }
}

#[test]
fn the_inventory_of_a_cluster_that_does_not_answer_counts_after_a_restart() {
    let options = ["hub", "edge"].map(Options::api_server);
    let Some(mut stage) = Stage::start(&options, admin) else {
        return;
    };
    let data = tempfile::tempdir().expect("a folder");
    install(&stage.clusters[0]);
    stage.start_server(data.path(), admin);
    for name in ["kept", "settings"] {
        stage.clusters[1].apply(&tracked(name, name));
    }
    let list = |stage: &Stage, names: &[&str]| {
        let mut application = application(names);
        application["spec"]["destination"] = json!({"name": "edge"});
        stage.clusters[0].apply(&application);
    };
    list(&stage, &["kept", "settings"]);
    let both = ["kept Present Exists", "settings Present Exists"];
    wait_for(&stage, SHOP, "Present", &both);
    delete(&stage.clusters[1], "settings");
    let missing = ["kept Present Exists", "settings NotPresent NotInReport"];
    wait_for(&stage, SHOP, "NotPresent", &missing);

    restart(&mut stage, data.path(), |stage| {
        stage.proxies[0].close();
        delete(&stage.clusters[1], "kept");
    });
    wait_for(&stage, SHOP, "NotPresent", &NONE);

    stage.clusters[1].apply(&tracked("kept", "kept"));
    list(&stage, &["kept"]);
    wait_for(&stage, SHOP, "NotPresent", &missing);
    stage.proxies[0].open();
    wait_for(&stage, SHOP, "Present", &UNLISTED);
}

#[test]
fn the_deleted_resources_of_flux_are_not_present() {
    let stage = Stage::start(&[Options::api_server("edge01")], admin);
    let Some(stage) = stage else { return };
    install(&stage.clusters[0]);
    let labels = json!({"labels": {
        "kustomize.toolkit.fluxcd.io/name": "base",
        "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
        "app.kubernetes.io/part-of": "suite",
    }});
    stage.clusters[0].apply(&config("settings", &labels));
    let listed = format!("{NAMESPACE}_settings__ConfigMap");
    stage.clusters[0].apply(&flux(KINDS[1], "base", &[&listed]));
    wait_for(&stage, BASE, "Present", &["settings Present Exists"]);
    let explained = stage.server.get(&format!("{BASE}?explain=true"));
    let explained = explained.expect("an answer");
    assert_eq!(
        explained["apps"][0]["clusters"][0]["resources"][0]["claims"],
        json!({
            "evidence": "label kustomize.toolkit.fluxcd.io/name",
            "others": [{
                "application": "-/suite/-/-", "evidence": "label app.kubernetes.io/part-of",
            }],
        })
    );
    delete(&stage.clusters[0], "settings");
    wait_for(
        &stage,
        BASE,
        "NotPresent",
        &["settings NotPresent NotInReport"],
    );

    // A resource that never existed, and one without a mark.
    stage.clusters[0].apply(&config("unmarked", &json!({})));
    let ids = ["web_unmarked__ConfigMap", "web_never__ConfigMap"];
    stage.clusters[0].apply(&flux(KINDS[2], "chart", &ids));
    let expected = ["never NotPresent NotInReport", "unmarked Present Exists"];
    wait_for(&stage, CHART, "NotPresent", &expected);
}
