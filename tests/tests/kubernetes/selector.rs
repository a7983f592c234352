//! Clusters with a configured selector. Only labelled objects are requested from the API server. Objects that an
//! application owns are found nevertheless.

mod audit;

use std::thread;
use std::time::{Duration, Instant};

use kindsight_cluster::Options;
use kindsight_clusters::{ClusterSource, Selection, WatchOptions};
use serde_json::{Value, json};

use crate::context::{PROD, front, instantiate};
use crate::health_scopes::workload_definition;
use crate::stage::{NAMESPACE, PATIENCE, SHOP, Stage, labelled, resources};
use audit::Audit;

/// A cluster with the selector `team=web`, watched with all permissions. `children` are further Kinds of objects with
/// owners.
fn stage(children: &[&str]) -> Option<(Stage, Audit)> {
    let audit = Audit::new();
    let options = audit.asked_of(Options::api_server("edge01"));
    let selection = Selection {
        selector: kindsight_model::parse_selector("team=web").expect("a selector"),
        children: children
            .iter()
            .map(|pattern| pattern.parse().expect("a pattern"))
            .collect(),
    };
    let stage = Stage::start_as(
        &[options],
        |cluster| cluster.admin().clone(),
        |source| match source {
            ClusterSource::Kubernetes(cluster) => {
                let options = WatchOptions {
                    selection: Some(selection.clone()),
                    // Without Events only; Leases are watched too, so that a swap changes the watch of a Kind.
                    left_out: ["Event".into(), "Event.events.k8s.io".into()].into(),
                    ..WatchOptions::default()
                };
                ClusterSource::Kubernetes(Box::new(cluster.with_options(options)))
            }
            source @ (ClusterSource::Folder(_) | ClusterSource::Pushed(_)) => source,
        },
    )?;
    Some((stage, audit))
}

/// An object with the labels of the application `shop`, and with the label `team=web` if `of_team`.
fn object(api_version: &str, kind: &str, name: &str, of_team: bool) -> Value {
    let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}});
    let mut object = labelled(object, "front");
    if of_team {
        object["metadata"]["labels"]["team"] = "web".into();
    }
    object
}

fn config(name: &str, of_team: bool) -> Value {
    object("v1", "ConfigMap", name, of_team)
}

/// The object without the labels of the application, and with this owner.
fn owned(mut object: Value, owner: &Value) -> Value {
    object["metadata"]["labels"] = json!({"app": "front"});
    let text = |pointer| owner.pointer(pointer).cloned().expect("a text");
    object["metadata"]["ownerReferences"] = json!([{
        "apiVersion": text("/apiVersion"), "kind": text("/kind"),
        "name": text("/metadata/name"), "uid": text("/metadata/uid"),
    }]);
    object
}

/// A Deployment, or a ReplicaSet.
fn workload(kind: &str, name: &str, of_team: bool) -> Value {
    let mut workload = object("apps/v1", kind, name, of_team);
    workload["spec"] = json!({
        "selector": {"matchLabels": {"app": "front"}},
        "template": {
            "metadata": {"labels": {"app": "front"}},
            "spec": {"containers": [{"name": "main", "image": "example.org/main:1"}]},
        },
    });
    workload
}

fn pod(name: &str) -> Value {
    let mut pod = object("v1", "Pod", name, false);
    pod["spec"] = json!({"containers": [{"name": "main", "image": "example.org/main:1"}]});
    pod
}

/// Kinds and names of the resources in an answer, and the state of resources that are not known to exist.
fn names(answer: &Value) -> Vec<String> {
    let lines = resources(answer);
    let names = lines.iter().filter_map(|line| {
        let mut words = line.split(' ').skip(2);
        let (name, state) = (words.next()?, words.next()?);
        Some(match state {
            "NotPresent" | "Unknown" => format!("{name} {state}"),
            _ => name.to_owned(),
        })
    });
    names.collect()
}

fn wait_for(stage: &Stage, what: &str, expected: &[&str]) {
    stage.wait(SHOP, what, |answer| names(answer) == expected);
}

fn label(stage: &Stage, name: &str, team: Option<&str>) {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps/{name}");
    let patch = json!({"metadata": {"labels": {"team": team}}});
    stage.clusters[0].patch(&path, "application/merge-patch+json", &patch);
}

#[test]
fn labelled_objects_are_found_with_all_objects_that_they_own() {
    let Some((stage, audit)) = stage(&[]) else {
        return;
    };
    let cluster = &stage.clusters[0];
    stage.wait_for_cluster("edge01", "its selector is shown", |cluster| {
        cluster["connection"] == "connected" && cluster["selector"] == "team=web"
    });
    let deployment = cluster.apply(&workload("Deployment", "front", true));
    let set = workload("ReplicaSet", "front-1", false);
    let set = cluster.apply(&owned(set, &deployment));
    cluster.apply(&owned(pod("front-1-a"), &set));
    cluster.apply(&config("settings", true));
    // The Kind of the first object is watched without the selector, the Kind of the others with it.
    cluster.apply(&pod("stray"));
    cluster.apply(&config("other", false));
    cluster.apply(&owned(config("owned", false), &deployment));
    let all = [
        "ConfigMap/settings",
        "Deployment/front",
        "Pod/front-1-a",
        "ReplicaSet/front-1",
    ];
    wait_for(
        &stage,
        "labelled objects and their children are found",
        &all,
    );

    label(&stage, "settings", None);
    // It exists without its label, so it is not listed as gone.
    wait_for(&stage, "it left", &all[1..]);
    label(&stage, "other", Some("web"));
    let other = [&["ConfigMap/other"][..], &all[1..]].concat();
    wait_for(&stage, "the added label is noticed", &other);

    // Lists, watches, and separate reads of Kinds whose objects became necessary without the selector.
    for (plural, is_cut) in [
        ("configmaps", true),
        ("deployments", true),
        ("secrets", true),
        ("leases", true),
        ("customresourcedefinitions", false),
        ("replicasets", false),
        ("pods", false),
        // A rule requests the Services of any Ingress.
        ("services", false),
    ] {
        let asked = audit.requests(plural);
        assert!(!asked.is_empty(), "{plural}");
        let selector = "&labelSelector=team%3Dweb";
        let is_so = |uri: &String| uri.contains(selector) == is_cut;
        assert!(asked.iter().all(is_so), "{asked:#?}");
    }
    let part = format!("/namespaces/{NAMESPACE}/configmaps?limit=");
    let asked = audit.requests("configmaps");
    assert!(asked.iter().any(|uri| uri.contains(&part)), "{asked:#?}");
}

#[test]
fn a_kind_that_is_served_later_has_all_objects_that_its_rule_needs() {
    let Some((stage, audit)) = stage(&[]) else {
        return;
    };
    let cluster = &stage.clusters[0];
    cluster.apply(&config("settings", true));
    wait_for(
        &stage,
        "a labelled object is found",
        &["ConfigMap/settings"],
    );
    let is_cut = |uri: &String| uri.contains("&labelSelector=");
    assert!(audit.requests("deployments").iter().all(is_cut));
    // A built-in rule needs the Deployments of this Kind.
    cluster.apply(&workload_definition());
    let began = Instant::now();
    while audit.requests("deployments").iter().all(is_cut) {
        assert!(began.elapsed() < PATIENCE, "Deployments are still cut");
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn children_below_an_owner_without_the_labels_are_found_where_the_configuration_names_its_kind() {
    for (children, expected) in [
        (&[][..], &["ConfigMap/last", "ServiceAccount/owner"][..]),
        (
            &["Deployment.*"],
            &[
                "ConfigMap/last",
                "Deployment/front",
                "Pod/front-1-a",
                "ReplicaSet/front-1",
                "ServiceAccount/owner",
            ],
        ),
    ] {
        let Some((stage, _audit)) = stage(children) else {
            return;
        };
        let cluster = &stage.clusters[0];
        let owner = cluster.apply(&object("v1", "ServiceAccount", "owner", true));
        let deployment = cluster.apply(&owned(workload("Deployment", "front", false), &owner));
        let set = workload("ReplicaSet", "front-1", false);
        let set = cluster.apply(&owned(set, &deployment));
        cluster.apply(&owned(pod("front-1-a"), &set));
        cluster.apply(&config("last", true));
        wait_for(&stage, "its owned objects are found", expected);
    }
}

#[test]
fn a_kind_that_an_interpreter_needs_is_watched_without_the_selector() {
    let Some((stage, audit)) = stage(&[]) else {
        return;
    };
    let cluster = &stage.clusters[0];
    cluster.apply(
        &json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "leader", "namespace": NAMESPACE}, "spec": {"holderIdentity": "me"}}),
    );
    let mut settings = config("settings", true);
    settings["data"] = json!({"lease": "leader"});
    cluster.apply(&settings);
    wait_for(&stage, "it is found", &["ConfigMap/settings"]);
    stage.drop_interpreter("leases");
    stage.wait(SHOP, "the Lease is known", |answer| {
        // An absence is shown only if all objects of the Kind were listed.
        let lines = resources(answer);
        assert!(
            !lines.iter().any(|line| line.contains("NoLease")),
            "{lines:#?}"
        );
        lines.iter().any(|line| line.ends_with("Ready Held"))
    });
    let asked = audit.requests("leases");
    let is_cut = |uri: &String| uri.contains("labelSelector");
    assert!(asked.iter().any(is_cut), "before: {asked:#?}");
    assert!(!asked.iter().all(is_cut), "after: {asked:#?}");
}

#[test]
fn resources_of_an_app_context_are_shown_without_the_labels() {
    let Some((stage, audit)) = stage(&[]) else {
        return;
    };
    let cluster = &stage.clusters[0];
    for object in front() {
        cluster.apply(&object);
    }
    cluster.apply(&config("kept", true));
    wait_for(&stage, "nothing else is found", &["ConfigMap/kept"]);
    let (contexts, id) = instantiate(&stage);
    let sent = [
        "ConfigMap/missing NotPresent",
        "ConfigMap/settings",
        "Crane/big Unknown",
        "Deployment/front",
        "Secret/key",
        "Service/front",
    ];
    stage.wait(PROD, "its resources are shown", |answer| {
        let lines = names(answer);
        // No object is shown as missing before all Kinds were listed.
        let is_wrong = |name: &&String| name.ends_with(" NotPresent") && **name != sent[0];
        assert_eq!(lines.iter().find(is_wrong), None);
        let mut lines = lines;
        lines.sort();
        lines == sent
    });
    let asked = audit.requests("configmaps");
    assert!(
        !asked.iter().all(|uri| uri.contains("labelSelector")),
        "{asked:#?}"
    );
    contexts.delete(&id).expect("deleted");
    stage.wait("/v2/applications", "it is no longer sent", |answer| {
        let all = answer["applications"].as_array().into_iter().flatten();
        let suite = all.filter(|application| application["composite-app-name"] == "suite");
        suite
            .map(|application| &application["clusters"])
            .eq([&json!([])])
    });
    wait_for(&stage, "the other object is unchanged", &["ConfigMap/kept"]);
    let history = crate::history::transitions(&stage);
    assert_eq!(history, ["kept - > Present", "- - > Present"]);
}
