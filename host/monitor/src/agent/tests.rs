use kindsight_clusters::{KubernetesCluster, StateMetadata};
use kindsight_model::{BundleFormat, Object, Origin};

use super::*;
use crate::WriteLimits;

const APP: &str = "7-front";

/// An agent that may create objects. It sends no request.
fn agent() -> Agent {
    let name = "lab+edge".parse().unwrap();
    let options = MonitorOptions {
        cluster: KubernetesCluster::from_kubeconfig(name, "no-kubeconfig", None),
        identity: "a".parse().unwrap(),
        may_create: true,
        watch_lifetime: Duration::from_mins(8),
        format: BundleFormat::default(),
        push: None,
        limits: WriteLimits::default(),
    };
    Agent::new(options, watch::channel(Arc::default()).0)
}

fn app() -> DeploymentId {
    APP.parse().unwrap()
}

fn state(uid: &str) -> StateMetadata {
    StateMetadata {
        namespace: "default".into(),
        name: APP.into(),
        uid: uid.into(),
        version: "1".into(),
        deployment: Some(app()),
        annotations: std::collections::BTreeMap::new(),
        owners: Vec::new(),
        status_managers: Vec::new(),
    }
}

/// The report of the source on the app.
fn reports(agent: &Agent, objects: &[&str]) -> ClusterEvent {
    let objects = objects
        .iter()
        .map(|json| Object::from_json((*json).to_owned()).unwrap());
    let report = Report {
        objects: objects.collect(),
        ..Report::empty(Origin::Direct)
    };
    ClusterEvent::Reports {
        cluster: agent.cluster.clone(),
        reports: vec![(Subject::Deployment(app()), report)],
        missing: Vec::new(),
    }
}

#[test]
fn a_deleted_object_of_an_app_with_objects_is_created_and_written_again() {
    let mut agent = agent();
    agent.take_state(BundleStateEvent::Listed(vec![state("u")]));
    let settings = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"}}"#;
    agent.take_event(reports(&agent, &[settings]));
    assert_eq!(agent.creations.next_at(), None);
    agent.take_state(BundleStateEvent::Deleted(Box::new(state("u"))));
    assert!(agent.creations.next_at().is_some());
    assert_eq!(agent.targets.next_at(), None);
    agent.take_state(BundleStateEvent::Applied(Box::new(state("v"))));
    assert_eq!(agent.creations.next_at(), None);
    assert!(agent.targets.next_at().is_some());
    assert!(agent.reports.contains_key(&app()), "the source is silent");
}

#[test]
fn a_deleted_object_of_an_app_without_objects_is_not_created_again() {
    let mut agent = agent();
    agent.take_state(BundleStateEvent::Listed(vec![state("u")]));
    agent.take_event(reports(&agent, &[]));
    agent.take_state(BundleStateEvent::Deleted(Box::new(state("u"))));
    assert_eq!(agent.creations.next_at(), None);
    assert!(!agent.reports.contains_key(&app()));
}

#[test]
fn no_object_is_created_again_in_another_cluster() {
    let mut agent = agent();
    agent.take_state(BundleStateEvent::Listed(vec![state("u")]));
    let settings = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"}}"#;
    agent.take_event(reports(&agent, &[settings]));
    // The watch of the other cluster is faster than the source.
    agent.take_state(BundleStateEvent::Listed(Vec::new()));
    assert!(agent.creations.next_at().is_some());
    let cluster = agent.cluster.clone();
    agent.take_event(ClusterEvent::Removed { cluster });
    assert_eq!(agent.creations.next_at(), None);
}
