//! Apps of contexts without a report of a monitor: their state is derived from watched objects.

use std::sync::Arc;

use kindsight_appcontext::{AppContexts, NewResource, ResourceName, StoredBundle};
use kindsight_clusters::ClusterEvent;
use kindsight_model::{
    Coverage, DigName, KindCoverage, KindState, Object, Origin, Report, Scope, Subject,
};
use kindsight_status::ApplicationKey;
use serde_json::json;

use super::found::{deployment, has, stage as found_stage};
use super::stage::{Stage, context, deployments};
use crate::Event;

/// The id of the context.
const ID: &str = "7";

/// All that is seen of an app, where Deployments and ConfigMaps are watched.
fn seen(objects: Vec<Object>) -> Event {
    let mut coverage = Coverage::nothing();
    for (group, kind) in [("apps", "Deployment"), ("", "ConfigMap")] {
        let complete = KindCoverage::new(KindState::Complete);
        coverage.set(group, kind, Scope::Cluster, complete);
    }
    let report = Report {
        objects: objects.into(),
        coverage,
        faults: vec!["ResourceBundleState web/7-a: not a report".into()],
        ..Report::empty(Origin::Direct)
    };
    Event::Cluster(ClusterEvent::Reports {
        cluster: "p+c".parse().unwrap(),
        reports: vec![(
            Subject::Deployment(format!("{ID}-a").parse().unwrap()),
            report,
        )],
        missing: Vec::new(),
    })
}

/// A context that sends three resources. The Kind of one of them is not watched.
fn stage() -> Stage {
    let mut stage = Stage::new(&[]);
    let mut new = context(&["a"]);
    let manifests = [
        ("front", "Deployment", "apps/v1"),
        ("settings", "ConfigMap", "v1"),
        ("big", "Crane", "example.org/v1"),
    ];
    let resources = manifests.map(|(name, kind, version)| NewResource {
        resource: ResourceName::new(name, kind).unwrap(),
        manifest: json!({"apiVersion": version, "kind": kind,
            "metadata": {"name": name, "namespace": "web"}})
        .to_string(),
    });
    new.apps[0].clusters[0].resources = resources.into();
    let contexts = AppContexts::new(Arc::clone(&stage.store));
    contexts.create_as(&ID.parse().unwrap(), &new).unwrap();
    stage.resync(0);
    stage
}

/// Name, state and reason of each resource.
fn lines(stage: &Stage) -> Vec<String> {
    let view = stage.view(ID);
    let resources = view.apps[0].clusters()[0].resources().iter();
    let line = resources.map(|resource| {
        let verdict = &resource.verdict;
        format!("{} {} {}", resource.name, verdict.state, verdict.reason)
    });
    line.collect()
}

#[test]
fn what_is_seen_is_judged_and_only_what_is_watched_can_be_missing() {
    let mut stage = stage();
    stage.publish(&["generic", "apps"]);
    stage.follow(0);
    stage.pipeline.handle(seen(vec![deployment("front")]), 1000);
    let expected = [
        "front Ready Available",
        "settings NotPresent ",
        "big Unknown NotReported",
    ];
    let told: Vec<String> = lines(&stage);
    let told: Vec<&str> = told.iter().map(String::as_str).collect();
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.starts_with(expected), "{told}");
    }
    let view = stage.view(ID);
    let faults = view.apps[0].clusters()[0].faults();
    assert_eq!(faults.len(), 1, "{faults:?}");
    // Nobody but a monitor writes what is stored beside a context.
    let contexts = AppContexts::new(Arc::clone(&stage.store));
    let stored = contexts.read(&ID.parse().unwrap()).unwrap().unwrap();
    assert_eq!(stored.apps[0].clusters[0].bundle, StoredBundle::Absent);

    // A report of a monitor takes over, and is taken over from.
    stage.hear(ID, "a", &deployments(2), 2000);
    assert!(lines(&stage)[0].starts_with("front NotPresent"));
    stage.pipeline.handle(seen(vec![deployment("front")]), 3000);
    assert!(lines(&stage)[0].starts_with("front Ready"));
}

#[test]
fn what_is_seen_of_a_cluster_that_is_not_heard_is_stale() {
    let mut stage = stage();
    let cluster = || "p+c".parse().unwrap();
    let stale = ClusterEvent::Stale {
        cluster: cluster(),
        reason: "Pods are not allowed".to_owned(),
    };
    stage.pipeline.handle(Event::Cluster(stale), 1000);
    stage.pipeline.handle(seen(vec![deployment("front")]), 2000);
    let since = |stage: &Stage| {
        let view = stage.view(ID);
        let stale = view.apps[0].clusters()[0].report().stale().cloned();
        stale.map(|it| it.since_ms)
    };
    assert_eq!(since(&stage), Some(1000));
    let synced = ClusterEvent::Synced { cluster: cluster() };
    stage.pipeline.handle(Event::Cluster(synced), 3000);
    assert_eq!(since(&stage), None);
    assert!(lines(&stage)[0].starts_with("front Ready"));
}

#[test]
fn a_report_on_a_context_that_was_deleted_is_nobodys() {
    let mut stage = stage();
    let recorded = stage.pipeline.needs().recorded;
    let cluster = "p+c".parse().unwrap();
    assert_eq!(recorded.borrow().of(&cluster).len(), 1);
    let contexts = AppContexts::new(Arc::clone(&stage.store));
    assert!(contexts.delete(&ID.parse().unwrap()).unwrap());
    stage.resync(1000);
    assert!(recorded.borrow().of(&cluster).is_empty());
    stage.pipeline.handle(seen(vec![deployment("front")]), 2000);
    let id = ID.parse().unwrap();
    assert!(
        stage
            .read_model
            .inspect(|model| model.context(&id).is_none())
    );
}

#[test]
fn what_a_context_covers_from_now_on_is_not_told_to_be_gone() {
    let mut stage = found_stage();
    stage.tell(
        has("p+a", "front", [deployment("front"), deployment("side")]),
        1000,
    );
    let mut rest = has("p+a", "front", [deployment("side")]);
    rest.left = vec![deployment("front")];
    stage.tell(rest, 2000);
    let lines = stage.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains(" side "), "{lines:?}");
    // Nor is what other rules may have given to another application.
    let mut none = has("p+a", "front", []);
    none.left = vec![deployment("side")];
    stage.tell(none, 3000);
    assert_eq!(stage.shop(), None);
}

#[test]
fn an_application_of_the_configuration_is_shown_by_its_own_name() {
    let mut stage = found_stage();
    let mut front = has("p+a", "front", [deployment("front")]);
    let name = DigName::new("shop", "web", "v1", "prod").unwrap();
    front.application = name.clone();
    stage.tell(front, 1000);
    let shown = stage.read_model.application(&ApplicationKey::Found(name));
    assert!(shown.is_some());
}

#[test]
fn the_history_does_not_tell_what_may_be_elsewhere_to_be_gone() {
    let mut stage = found_stage();
    let all = ["front", "side", "more", "last"].map(deployment);
    stage.tell(has("p+a", "front", all), 1000);
    let mut rest = has("p+a", "front", ["front", "more", "last"].map(deployment));
    rest.left = vec![deployment("side")];
    stage.tell(rest, 2000);
    let mut rest = has("p+a", "front", ["front", "last"].map(deployment));
    rest.left = vec![deployment("more")];
    stage.tell(rest, 3000);
    let key = ApplicationKey::Found(DigName::found("shop", Some("web")).unwrap());
    let (_, history) = stage.read_model.application_history(&key);
    let history = history.unwrap();
    let left = history
        .transitions
        .iter()
        .filter(|entry| entry.transition.to.is_none());
    let left: Vec<String> = left
        .map(|entry| {
            let resource = entry.transition.resource.as_ref().unwrap();
            format!("{} {}", resource.name, entry.transition.reason)
        })
        .collect();
    assert_eq!(left, ["side Left", "more Left"]);
}
