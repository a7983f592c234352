use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use kindsight_model::ContextStatus;

use super::stage::{Host, NOW, app, draft, manifest, name};
use crate::{Command, Draft, NotPrepared, Outcome, Stored};

fn of_kind(api_version: &str, kind: &str, name: &str) -> String {
    format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}}}\n")
}

#[test]
fn namespaces_and_definitions_of_kinds_are_sent_first_and_removed_last() {
    let host = Host::new();
    let manifests = vec![
        manifest("one"),
        of_kind("apiextensions.k8s.io/v1", "CustomResourceDefinition", "crd"),
        manifest("two"),
        of_kind("v1", "Namespace", "space"),
    ];
    host.put_apps(vec![app("front", &["lab+a"], manifests)])
        .unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    let sent = ["lab+a space", "lab+a crd", "lab+a one", "lab+a two"];
    assert_eq!(host.clusters.state().sent, sent);
    // A namespace stays while a resource is being deleted.
    host.clusters.state().finalizers.insert("two".to_owned());
    host.act(Command::Terminate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Retry);
    assert_eq!(
        host.clusters.resources(),
        ["lab+a crd", "lab+a space", "lab+a two"]
    );
    host.clusters.state().finalizers.clear();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Terminated));
}

#[test]
fn an_update_removes_namespaces_and_definitions_of_kinds_last() {
    let host = Host::new();
    let manifests = vec![
        of_kind("apiextensions.k8s.io/v1", "CustomResourceDefinition", "crd"),
        of_kind("v1", "Namespace", "web"),
        manifest("api"),
        manifest("one"),
    ];
    host.put_apps(vec![app("front", &["lab+a"], manifests)])
        .unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    // The namespace and the definition stay while a resource is being deleted.
    host.clusters.state().finalizers.insert("api".to_owned());
    let next = vec![app("front", &["lab+a"], vec![manifest("one")])];
    assert_eq!(host.update(next), Outcome::Retry);
    assert_eq!(
        host.clusters.resources(),
        ["lab+a api", "lab+a crd", "lab+a one", "lab+a web"]
    );
    host.clusters.state().finalizers.clear();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.clusters.resources(), ["lab+a one"]);
}

#[test]
fn a_resource_of_another_application_fails_the_instance_before_anything_is_sent() {
    let host = Host::new();
    host.clusters.state().foreign.insert("front-two".to_owned());
    assert_eq!(host.instantiate(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::InstantiateFailed));
    assert_eq!(host.clusters.state().sent, [""; 0]);
    assert_eq!(
        host.problems(),
        [
            "lab+a front-two+ConfigMap: it belongs to another",
            "lab+b front-two+ConfigMap: it belongs to another"
        ]
    );
    assert_eq!(
        host.statuses(),
        [
            "lab+a back-one Pending",
            "lab+a back-two Pending",
            "lab+a front-one Pending",
            "lab+a front-two Failed",
            "lab+b front-one Pending",
            "lab+b front-two Failed",
        ]
    );
    host.clusters.state().foreign.clear();
    host.act(Command::Update).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Instantiated));
    assert_eq!(host.problems(), [""; 0]);
}

#[test]
fn a_controller_changes_the_context_or_fails_the_instance_before_anything_is_sent() {
    let host = Host::new();
    let failure = NotPrepared::Unreachable("the controller far does not answer".to_owned());
    host.clusters.state().controller_fails = Some(failure);
    assert_eq!(host.instantiate(), Outcome::Retry);
    let failure = NotPrepared::Refused("the controller place failed".to_owned());
    host.clusters.state().controller_fails = Some(failure);
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::InstantiateFailed));
    assert_eq!(
        host.problems(),
        ["lab+a back-one+ConfigMap: the controller place failed"]
    );
    assert_eq!(host.clusters.state().sent, [""; 0]);
    host.clusters.state().controller_fails = None;
    host.clusters.state().left_out = Some("lab+a".to_owned());
    host.act(Command::Update).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(
        host.clusters.resources(),
        [
            "lab+a back-one",
            "lab+a back-two",
            "lab+b front-one",
            "lab+b front-two"
        ]
    );
}

#[test]
fn controllers_receive_the_intents_of_the_revision() {
    let host = Host::new();
    let put = |intent: &str| {
        let controllers = vec![("near".to_owned(), intent.to_owned())];
        let draft = Draft {
            controllers,
            ..draft()
        };
        host.groups.put(&name(), None, draft, NOW).unwrap()
    };
    let asked = || host.clusters.state().intents["near"].clone();
    put("customers");
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    host.run().unwrap();
    assert_eq!(asked(), "customers");
    assert_eq!(put("customers"), Stored::Unchanged);
    assert_eq!(put("costs"), Stored::Changed);
    host.act(Command::Approve).unwrap();
    host.act(Command::Update).unwrap();
    host.run().unwrap();
    assert_eq!(asked(), "costs");
    host.act(Command::Rollback(1)).unwrap();
    host.run().unwrap();
    assert_eq!(asked(), "customers");
}

#[test]
fn the_reason_of_a_failed_or_retried_resource_is_kept_until_it_is_sent() {
    let host = Host::new();
    host.clusters.state().unreachable.insert("lab+b".to_owned());
    host.clusters.state().refused.insert("back-two".to_owned());
    assert_eq!(host.instantiate(), Outcome::Retry);
    assert_eq!(
        host.problems(),
        [
            "lab+a back-two+ConfigMap: told to",
            "lab+b front-one+ConfigMap: told to",
            "lab+b front-two+ConfigMap: told to",
        ]
    );
    host.clusters.state().unreachable.clear();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.problems(), ["lab+a back-two+ConfigMap: told to"]);
}

#[test]
fn a_cluster_that_is_slow_does_not_delay_another_cluster() {
    let host = Host::new();
    let (sent, other_was_sent) = mpsc::channel();
    let other_was_sent = Mutex::new(other_was_sent);
    let before = move |cluster: &str, name: &str| match (cluster, name) {
        ("lab+b", "front-two") => sent.send(()).unwrap(),
        // The first resource of the slow cluster is sent after the last one of the other.
        ("lab+a", "back-one") => {
            let wait = Duration::from_mins(1);
            other_was_sent.lock().unwrap().recv_timeout(wait).unwrap();
        }
        _ => {}
    };
    host.clusters.state().before = Some(Arc::new(before));
    assert_eq!(host.instantiate(), Outcome::Complete);
}
