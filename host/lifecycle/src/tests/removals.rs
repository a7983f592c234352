use kindsight_model::{ContextStatus, LifecycleState};

use super::stage::{Host, app, manifest, name};
use crate::{Command, Outcome};

#[test]
fn a_deletion_that_is_not_complete_is_repeated_and_its_reason_is_shown() {
    let host = Host::new();
    host.instantiate();
    host.clusters
        .state()
        .finalizers
        .insert("front-one".to_owned());
    host.act(Command::Terminate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Retry);
    assert_eq!(host.status(), Some(ContextStatus::Terminating));
    assert_eq!(
        host.problems(),
        [
            "lab+a front-one+ConfigMap: it has the finalizer kept",
            "lab+b front-one+ConfigMap: it has the finalizer kept",
        ]
    );
    assert!(
        host.statuses()
            .contains(&"lab+a front-one Pending".to_owned())
    );
    assert_eq!(
        host.clusters.resources(),
        ["lab+a front-one", "lab+b front-one"]
    );
    host.clusters.state().finalizers.clear();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Terminated));
    assert_eq!(host.problems(), [""; 0]);
}

#[test]
fn a_resource_that_belongs_to_another_owner_stays() {
    let host = Host::new();
    host.instantiate();
    host.clusters.state().foreign.insert("back-one".to_owned());
    host.act(Command::Terminate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Terminated));
    assert_eq!(host.clusters.resources(), ["lab+a back-one"]);
    assert_eq!(
        host.problems(),
        ["lab+a back-one+ConfigMap: it belongs to another"]
    );
}

#[test]
fn a_failed_termination_can_be_repeated() {
    let host = Host::new();
    host.instantiate();
    host.clusters.state().refused.insert("front-one".to_owned());
    let left = ["lab+a front-one", "lab+b front-one"];
    for _ in 0..2 {
        host.act(Command::Terminate).unwrap();
        assert!(host.groups.get(&name()).unwrap().situation.is_running);
        assert_eq!(host.run().unwrap(), Outcome::Complete);
        assert_eq!(host.status(), Some(ContextStatus::TerminateFailed));
        assert_eq!(host.clusters.resources(), left);
    }
    host.clusters.state().refused.clear();
    host.act(Command::Approve).unwrap();
    host.act(Command::Terminate).unwrap();
    // Another process continues it.
    assert_eq!(host.groups.unfinished().unwrap().len(), 1);
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Terminated));
    assert_eq!(host.states().last(), Some(&LifecycleState::Terminated));
    assert_eq!(host.clusters.resources(), [""; 0]);
    let refused = host.refusal(Command::Terminate);
    assert!(refused.contains("terminated already"), "{refused}");
    host.act(Command::Instantiate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Instantiated));
}

#[test]
fn a_termination_has_all_its_retries_after_those_of_the_instantiation() {
    let host = Host::new().giving_up_after(1);
    host.clusters.state().unreachable.insert("lab+a".to_owned());
    assert_eq!(host.instantiate(), Outcome::Retry);
    host.act(Command::Terminate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Retry);
    host.clusters.state().unreachable.clear();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Terminated));
}

#[test]
fn a_termination_gives_up_on_the_remains_of_an_app_after_the_last_retry() {
    let host = Host::new().giving_up_after(1);
    host.instantiate();
    host.clusters.state().keeps_remains = true;
    host.act(Command::Terminate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Retry);
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Terminated));
    assert_eq!(host.clusters.resources(), [""; 0]);
}

#[test]
fn the_remains_of_an_app_are_removed_with_the_next_retry() {
    let host = Host::new();
    host.instantiate();
    host.clusters.state().keeps_remains = true;
    host.act(Command::Terminate).unwrap();
    for _ in 0..2 {
        assert_eq!(host.run().unwrap(), Outcome::Retry);
        assert_eq!(host.clusters.resources(), [""; 0]);
    }
    host.clusters.state().keeps_remains = false;
    assert_eq!(host.run().unwrap(), Outcome::Complete);
}

#[test]
fn the_remains_of_an_app_that_an_update_moves_are_removed_with_the_next_retry() {
    let host = Host::new();
    let front = |cluster| app("front", &[cluster], vec![manifest("one"), manifest("two")]);
    host.put_apps(vec![front("lab+a")]).unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    host.clusters.state().keeps_remains = true;
    assert_eq!(host.update(vec![front("lab+b")]), Outcome::Retry);
    assert_eq!(host.run().unwrap(), Outcome::Retry);
    assert_eq!(
        host.clusters.resources(),
        ["lab+b one", "lab+b two"],
        "the resources are removed"
    );
    assert_eq!(host.status(), Some(ContextStatus::Instantiating));
    host.clusters.state().keeps_remains = false;
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Instantiated));
    let state = host.clusters.state();
    assert!(state.without_remains.contains("lab+a front"));
}

#[test]
fn a_termination_does_not_wait_for_a_cluster_that_was_never_asked() {
    let host = Host::new();
    let mut front = app("front", &["lab+a"], vec![manifest("one")]);
    host.put_apps(vec![front.clone()]).unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    front.clusters.push("lab+b".to_owned());
    front.any_of = vec![Vec::from(["lab+c", "lab+d"].map(str::to_owned))];
    host.put_apps(vec![front]).unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Update).unwrap();
    let away = ["lab+b", "lab+d"].map(str::to_owned);
    host.clusters.state().unreachable.extend(away);
    host.act(Command::Terminate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Terminated));
    assert_eq!(host.clusters.resources(), [""; 0]);
}
