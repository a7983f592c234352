use std::sync::Arc;
use std::thread;

use kindsight_appcontext::Record;
use kindsight_model::{ContextStatus, LifecycleState};

use super::stage::{Host, NOW, app, draft, manifest, name};
use crate::{ACTIONS_KEPT, ACTIONS_MAX, Command, Error, Outcome, Stored};

#[test]
fn an_instance_is_sent_in_order_and_removed_in_reverse_order() {
    let host = Host::new();
    let log = Arc::<std::sync::Mutex<Vec<String>>>::default();
    let before = Arc::clone(&log);
    let before = move |cluster: &str, name: &str| {
        if cluster == "lab+a" {
            before.lock().unwrap().push(name.to_owned());
        }
    };
    host.clusters.state().before = Some(Arc::new(before));
    assert_eq!(host.instantiate(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Instantiated));
    let order = ["back-one", "back-two", "front-one", "front-two"];
    assert_eq!(*log.lock().unwrap(), order);
    assert_eq!(host.clusters.state().announced, 3);
    log.lock().unwrap().clear();
    let manifests: Vec<String> = host.clusters.state().resources.values().cloned().collect();
    let id = host.groups.get(&name()).unwrap().instance.unwrap();
    assert!(manifests[0].contains(&format!(r#""emco/deployment-id":"{id}-back""#)));
    host.act(Command::Terminate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Terminated));
    assert!(log.lock().unwrap().iter().eq(order.iter().rev()));
    assert_eq!(host.clusters.resources(), [""; 0]);
}

#[test]
fn a_refused_resource_fails_the_instance_and_other_clusters_continue() {
    let host = Host::new();
    host.clusters.state().refused.insert("front-one".to_owned());
    assert_eq!(host.instantiate(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::InstantiateFailed));
    assert_eq!(
        host.statuses(),
        [
            "lab+a back-one Applied",
            "lab+a back-two Applied",
            "lab+a front-one Failed",
            "lab+a front-two Pending",
            "lab+b front-one Failed",
            "lab+b front-two Pending",
        ]
    );
    host.act(Command::Terminate).unwrap();
    host.run().unwrap();
    assert_eq!(host.status(), Some(ContextStatus::TerminateFailed));
    assert!(
        host.statuses()
            .contains(&"lab+a front-two Deleted".to_owned())
    );
}

#[test]
fn an_unreachable_cluster_is_retried_and_other_clusters_continue() {
    let host = Host::new();
    host.clusters.state().unreachable.insert("lab+a".to_owned());
    assert_eq!(host.instantiate(), Outcome::Retry);
    assert_eq!(host.status(), Some(ContextStatus::Instantiating));
    assert_eq!(
        host.statuses(),
        [
            "lab+a back-one Retrying",
            "lab+a back-two Retrying",
            "lab+a front-one Retrying",
            "lab+a front-two Retrying",
            "lab+b front-one Applied",
            "lab+b front-two Applied",
        ]
    );
    host.clusters.state().unreachable.clear();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Instantiated));
}

#[test]
fn resources_of_an_unreachable_cluster_are_failed_after_the_last_retry() {
    let host = Host::new().giving_up_after(2);
    let reach = |is_reachable: bool| {
        let unreachable = &mut host.clusters.state().unreachable;
        unreachable.clear();
        if !is_reachable {
            unreachable.insert("lab+a".to_owned());
        }
    };
    reach(false);
    assert_eq!(host.instantiate(), Outcome::Retry);
    assert_eq!(host.run().unwrap(), Outcome::Retry);
    assert_eq!(host.statuses()[0], "lab+a back-one Retrying");
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::InstantiateFailed));
    assert_eq!(host.statuses()[0], "lab+a back-one Failed");
    assert_eq!(host.statuses()[4], "lab+b front-one Applied");
    // The next action has all its retries. A cluster that answers in between begins the count again.
    host.act(Command::Update).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Retry);
    reach(true);
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Instantiated));
    reach(false);
    host.act(Command::Terminate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Retry);
    assert_eq!(host.run().unwrap(), Outcome::Retry);
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::TerminateFailed));
    assert_eq!(host.statuses()[0], "lab+a back-one Failed");
    assert_eq!(host.statuses()[4], "lab+b front-one Deleted");
}

#[test]
fn a_termination_ends_a_running_instantiation() {
    let host = Arc::new(Host::new());
    let other = Host::over_same(&host);
    host.clusters.state().before = Some(Arc::new(move |_, name| {
        if name == "back-two" && other.states().last() == Some(&LifecycleState::Instantiated) {
            other.act(Command::Terminate).unwrap();
        }
    }));
    assert_eq!(host.instantiate(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Terminated));
    assert_eq!(host.clusters.resources(), [""; 0]);
}

#[test]
fn a_stop_ends_the_retries_and_the_group_can_be_terminated() {
    let host = Host::new();
    host.clusters.state().unreachable.insert("lab+a".to_owned());
    host.instantiate();
    host.act(Command::Stop).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::InstantiateFailed));
    assert_eq!(host.statuses()[0], "lab+a back-one Failed");
    assert!(host.refusal(Command::Stop).contains("stopped already"));
    assert!(
        host.refusal(Command::Instantiate)
            .contains("terminated first")
    );
    host.act(Command::Terminate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Retry);
    host.act(Command::Stop).unwrap();
    host.run().unwrap();
    assert_eq!(host.status(), Some(ContextStatus::TerminateFailed));
    // The removal is taken up again.
    host.clusters.state().unreachable.clear();
    host.act(Command::Terminate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Terminated));
    assert_eq!(host.clusters.resources(), [""; 0]);
}

#[test]
fn a_terminated_group_is_instantiated_again_as_another_instance() {
    let host = Host::new();
    host.instantiate();
    let first = host.groups.get(&name()).unwrap().instance;
    host.act(Command::Terminate).unwrap();
    assert!(
        host.refusal(Command::Instantiate)
            .contains("still being removed")
    );
    host.run().unwrap();
    host.act(Command::Instantiate).unwrap();
    host.run().unwrap();
    assert_ne!(host.groups.get(&name()).unwrap().instance, first);
    let revisions: Vec<i64> = host.record().actions.iter().map(|it| it.revision).collect();
    assert_eq!(revisions, [0, 0, 1, 0, 2]);
}

#[test]
fn an_approval_does_not_end_a_termination() {
    let host = Host::new();
    host.instantiate();
    host.act(Command::Terminate).unwrap();
    host.act(Command::Approve).unwrap();
    assert!(
        host.refusal(Command::Instantiate)
            .contains("still being removed")
    );
    host.run().unwrap();
    assert_eq!(host.clusters.resources(), [""; 0]);
    host.act(Command::Instantiate).unwrap();
}

#[test]
fn a_changed_intent_needs_another_approval() {
    let host = Host::new();
    assert_eq!(host.put().unwrap(), Stored::Created);
    host.act(Command::Approve).unwrap();
    assert_eq!(host.put().unwrap(), Stored::Unchanged);
    let changed = || host.groups.put(&name(), Some("other"), draft(), NOW);
    assert_eq!(changed().unwrap(), Stored::Changed);
    assert!(
        host.refusal(Command::Instantiate)
            .contains("approved first")
    );
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    host.run().unwrap();
    host.act(Command::Terminate).unwrap();
    let refused = host.put().unwrap_err().to_string();
    assert!(refused.contains("still being removed"), "{refused}");
}

#[test]
fn clusters_that_nothing_can_be_sent_to_are_refused_before_anything_is_sent() {
    let host = Host::new();
    let put = |cluster: &str| {
        let mut draft = draft();
        draft.apps[1].clusters = vec![cluster.to_owned()];
        host.groups.put(&name(), None, draft, NOW).unwrap();
    };
    put("lab+unknown");
    let refused = host.refusal(Command::Approve);
    assert_eq!(refused, "the cluster lab+unknown is not configured");
    put("lab+api");
    host.act(Command::Approve).unwrap();
    assert!(host.refusal(Command::Instantiate).contains("lab+api"));
    assert_eq!(host.clusters.state().changes, 0);
    assert!(host.contexts.list().unwrap().ids.is_empty());
}

#[test]
fn a_group_is_deleted_with_its_contexts_after_the_termination() {
    let host = Host::new();
    host.instantiate();
    let delete = || host.groups.delete(&name());
    assert!(delete().is_err());
    host.act(Command::Terminate).unwrap();
    let refused = delete().unwrap_err().to_string();
    assert!(refused.contains("still being removed"), "{refused}");
    host.run().unwrap();
    delete().unwrap();
    assert!(matches!(delete(), Err(Error::NotFound(_))));
    assert!(host.contexts.list().unwrap().ids.is_empty());
    assert!(host.records.intent(name()).unwrap().is_none());
}

#[test]
fn concurrent_callers_lose_no_action() {
    let host = Arc::new(Host::new());
    host.put().unwrap();
    host.act(Command::Approve).unwrap();
    let callers: Vec<_> = (0..8)
        .map(|_| {
            let host = Arc::clone(&host);
            thread::spawn(move || host.act(Command::Instantiate).is_ok())
        })
        .collect();
    let successes = callers.into_iter().map(|caller| caller.join().unwrap());
    assert_eq!(successes.filter(|it| *it).count(), 1);
    assert_eq!(host.states().len(), 3);
}

#[test]
fn a_group_without_an_intent_is_read_only() {
    let host = Host::new();
    host.records.create(name(), &Record::default()).unwrap();
    assert!(matches!(
        host.act(Command::Approve),
        Err(Error::ReadOnly(_))
    ));
    assert!(matches!(host.put(), Err(Error::ReadOnly(_))));
    assert!(matches!(
        host.groups.delete(&name()),
        Err(Error::ReadOnly(_))
    ));
    host.run().unwrap();
}

#[test]
fn a_record_with_too_many_actions_can_still_be_terminated() {
    let host = Host::new();
    host.instantiate();
    let seen = host.record();
    let mut full = seen.clone();
    let first = full.actions[0].clone();
    full.actions.splice(0..0, vec![first; ACTIONS_MAX]);
    let intent = host.records.intent(name()).unwrap().unwrap();
    host.records
        .replace_with_intent(name(), &seen, &full, &intent)
        .unwrap();
    host.act(Command::Terminate).unwrap();
    host.run().unwrap();
    let error = host.act(Command::Instantiate).unwrap_err();
    assert!(matches!(error, Error::ActionsMax), "{error}");
    host.groups.delete(&name()).unwrap();
}

#[test]
fn a_group_can_be_instantiated_any_number_of_times() {
    const LIVES: usize = ACTIONS_KEPT * 3 / 5;
    let host = Host::new();
    host.put_apps(vec![app("front", &["lab+a"], vec![manifest("one")])])
        .unwrap();
    host.act(Command::Approve).unwrap();
    for _ in 0..LIVES {
        host.act(Command::Instantiate).unwrap();
        host.run().unwrap();
        host.act(Command::Terminate).unwrap();
        host.run().unwrap();
    }
    let record = host.record();
    assert!(record.actions.len() <= ACTIONS_KEPT + 2);
    assert_eq!(host.states()[0], LifecycleState::Created);
    let group = host.groups.get(&name()).unwrap();
    assert_eq!(usize::try_from(group.revision).unwrap(), LIVES);
    assert_eq!(host.status(), Some(ContextStatus::Terminated));
    assert_eq!(host.statuses(), ["lab+a one Deleted"]);
    // A later update keeps the statuses of its first instance, whatever is removed.
    host.act(Command::Instantiate).unwrap();
    host.run().unwrap();
    let first = host.instance();
    for _ in 0..LIVES {
        host.act(Command::Update).unwrap();
        host.run().unwrap();
    }
    assert!(host.record().actions.len() <= ACTIONS_KEPT + 2);
    host.act(Command::Terminate).unwrap();
    host.run().unwrap();
    let snapshot = host.contexts.read(&first).unwrap();
    assert!(snapshot.is_some());
    assert!(host.clusters.resources().is_empty());
}
