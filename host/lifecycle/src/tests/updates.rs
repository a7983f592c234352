use kindsight_appcontext::IntentCondition;
use kindsight_model::{ContextStatus, LifecycleState};

use super::stage::{Host, INSTANCES, app, draft, manifest, name};
use crate::{Command, DraftApp, DraftDependency, Error, Outcome, Stored};

fn changed(name: &str) -> String {
    manifest(name) + "data: {changed: 'true'}\n"
}

/// The app `front` in these clusters.
fn front(clusters: &[&str], manifests: &[String]) -> DraftApp {
    app("front", clusters, manifests.to_vec())
}

/// A group with the resources `one` and `two` of an app in the cluster `lab+a`.
fn instantiated() -> Host {
    let host = Host::new();
    let manifests = [manifest("one"), manifest("two")];
    host.put_apps(vec![front(&["lab+a"], &manifests)]).unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    host.clusters.state().sent.clear();
    host
}

/// The labels of all resources in the clusters.
fn labels(host: &Host) -> Vec<String> {
    let state = host.clusters.state();
    let labels = state.resources.keys().map(|(_, label, _)| label.clone());
    let mut labels: Vec<String> = labels.collect();
    labels.dedup();
    labels
}

#[test]
fn an_update_sends_only_changed_and_new_resources_and_removes_the_others() {
    let host = instantiated();
    let (first, label) = (host.instance(), labels(&host));
    let manifests = [manifest("one"), changed("three"), manifest("four")];
    let with_two = [manifest("one"), changed("two"), manifest("three")];
    assert_eq!(
        host.update(vec![front(&["lab+a"], &with_two)]),
        Outcome::Complete
    );
    assert_eq!(host.clusters.state().sent, ["lab+a two", "lab+a three"]);
    assert_eq!(host.status(), Some(ContextStatus::Instantiated));
    assert_ne!(host.instance(), first);
    host.clusters.state().sent.clear();
    host.update(vec![front(&["lab+a"], &manifests)]);
    assert_eq!(host.clusters.state().sent, ["lab+a three", "lab+a four"]);
    assert_eq!(
        host.clusters.resources(),
        ["lab+a four", "lab+a one", "lab+a three"]
    );
    assert_eq!(labels(&host), label, "the label never changes");
    assert_eq!(
        host.statuses(),
        [
            "lab+a one Applied",
            "lab+a three Applied",
            "lab+a four Applied"
        ]
    );
    let actions = host.record().actions;
    let last = actions.iter().map(|action| (action.state, action.revision));
    let last: Vec<_> = last.skip(2).collect();
    assert_eq!(
        last,
        [
            (LifecycleState::Instantiated, 1),
            (LifecycleState::Updated, 1),
            (LifecycleState::Instantiated, 2),
            (LifecycleState::Updated, 2),
            (LifecycleState::Instantiated, 3)
        ]
    );
    let status = |id| host.contexts.read(id).unwrap().unwrap().status;
    assert_eq!(status(&first), Some(ContextStatus::Other("Updated".into())));
}

#[test]
fn changed_content_of_an_instantiated_group_needs_an_approval() {
    let host = instantiated();
    let next = vec![front(&["lab+a"], &[changed("one")])];
    assert!(host.refusal(Command::Approve).contains("approved already"));
    assert_eq!(host.put_apps(next.clone()).unwrap(), Stored::Changed);
    assert_eq!(host.put_apps(next).unwrap(), Stored::Unchanged);
    assert_eq!(host.states().last(), Some(&LifecycleState::Instantiated));
    assert!(host.refusal(Command::Update).contains("approved first"));
    host.act(Command::Terminate).unwrap();
    host.run().unwrap();
    let refused = host.refusal(Command::Instantiate);
    assert!(refused.contains("approved first"), "{refused}");
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    host.run().unwrap();
    assert_eq!(host.clusters.resources(), ["lab+a one"]);
}

#[test]
fn an_update_with_the_same_content_sends_only_what_is_missing() {
    let host = instantiated();
    host.act(Command::Update).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.clusters.state().sent, [""; 0]);
    host.clusters
        .state()
        .resources
        .retain(|(_, _, name), _| name != "two");
    host.act(Command::Update).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.clusters.state().sent, ["lab+a two"]);
}

#[test]
fn only_the_revision_that_asks_for_it_overwrites_the_fields_of_others() {
    let host = instantiated();
    host.put_apps(vec![front(&["lab+a"], &[changed("one"), manifest("two")])])
        .unwrap();
    host.act(Command::Approve).unwrap();
    host.act_with(Command::Update, true).unwrap();
    host.run().unwrap();
    host.act(Command::Rollback(1)).unwrap();
    host.run().unwrap();
    let sent = ["lab+a one by force", "lab+a one"];
    assert_eq!(host.clusters.state().sent, sent);
}

#[test]
fn an_app_that_moves_is_removed_after_it_was_sent() {
    let host = instantiated();
    host.clusters.state().unreachable.insert("lab+b".to_owned());
    let manifests = [manifest("one")];
    assert_eq!(
        host.update(vec![front(&["lab+b"], &manifests)]),
        Outcome::Retry
    );
    assert_eq!(host.clusters.resources(), ["lab+a one", "lab+a two"]);
    host.clusters.state().unreachable.clear();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.clusters.resources(), ["lab+b one"]);
}

#[test]
fn a_resource_that_moves_to_another_namespace_is_refused() {
    let host = instantiated();
    let moved = manifest("one").replace("{name: one}", "{name: one, namespace: other}");
    let next = vec![front(&["lab+a"], &[moved, manifest("two")])];
    assert_eq!(host.update(next), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::InstantiateFailed));
    assert_eq!(host.clusters.state().sent, [""; 0]);
    assert!(host.problems()[0].contains("namespace"));
    host.act(Command::Rollback(1)).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Instantiated));
    assert_eq!(host.clusters.state().sent, [""; 0]);
}

#[test]
fn a_resource_of_an_unreachable_cluster_that_moves_to_another_namespace_is_refused() {
    let host = instantiated();
    host.clusters.state().unreachable.insert("lab+a".to_owned());
    let moved = manifest("two").replace("{name: two}", "{name: two, namespace: other}");
    let next = vec![front(&["lab+a"], &[manifest("one"), moved])];
    assert_eq!(host.update(next), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::InstantiateFailed));
    assert!(host.problems()[0].contains("two+ConfigMap: its namespace"));
    host.clusters.state().unreachable.clear();
    assert_eq!(host.clusters.state().sent, [""; 0]);
    host.act(Command::Terminate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.clusters.resources(), [""; 0]);
}

#[test]
fn a_resource_whose_answer_was_lost_does_not_move_to_another_namespace() {
    let host = Host::new();
    host.clusters.state().lost.insert("one".to_owned());
    host.put_apps(vec![front(&["lab+a"], &[manifest("one"), manifest("two")])])
        .unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Retry);
    assert_eq!(host.clusters.resources(), ["lab+a one"]);
    let moved = |name: &str| {
        manifest(name).replace(
            &format!("{{name: {name}}}"),
            &format!("{{name: {name}, namespace: other}}"),
        )
    };
    host.update(vec![front(&["lab+a"], &[moved("one"), manifest("two")])]);
    assert_eq!(host.status(), Some(ContextStatus::InstantiateFailed));
    assert!(host.problems()[0].contains("one+ConfigMap: its namespace"));
    // The cluster never got the second resource, so the second resource can move. The first one is sent again.
    host.clusters.state().lost.clear();
    host.clusters.state().sent.clear();
    let next = vec![front(&["lab+a"], &[manifest("one"), moved("two")])];
    assert_eq!(host.update(next), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Instantiated));
    assert_eq!(host.clusters.state().sent, ["lab+a one", "lab+a two"]);
}

#[test]
fn an_update_forgets_the_attempts_and_times_of_the_context_that_it_replaces() {
    let host = Host::new().giving_up_after(5);
    let mut waiting = front(&["lab+a"], &[manifest("one")]);
    waiting.depends_on.push(DraftDependency {
        app: "back".to_owned(),
        condition: IntentCondition::Applied,
        wait_seconds: 5,
    });
    let back = app("back", &["lab+b"], vec![manifest("two")]);
    let other = app("other", &["lab+c"], vec![manifest("three")]);
    host.put_apps(vec![waiting, back, other]).unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    host.clusters.state().unreachable.insert("lab+c".to_owned());
    assert_eq!(host.run().unwrap(), Outcome::Retry);
    assert_eq!(host.remembered(), 2);
    host.clusters.state().unreachable.clear();
    let next = vec![front(&["lab+a"], &[manifest("one")])];
    assert_eq!(host.update(next), Outcome::Complete);
    assert_eq!(host.remembered(), 0);
}

#[test]
fn a_rollback_returns_to_the_content_of_a_revision() {
    let host = instantiated();
    host.update(vec![front(&["lab+b"], &[changed("one")])]);
    host.clusters.state().sent.clear();
    host.act(Command::Rollback(1)).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.clusters.resources(), ["lab+a one", "lab+a two"]);
    assert_eq!(host.groups.get(&name()).unwrap().revision, 3);
    let error = host.act(Command::Rollback(7)).unwrap_err();
    assert!(matches!(error, Error::NoRevision { revision: 7, .. }));
    assert!(error.to_string().ends_with("1, 2, 3"), "{error}");
}

#[test]
fn a_termination_removes_what_every_earlier_instance_left() {
    let host = instantiated();
    // The second instance is not complete when the third begins.
    host.clusters.state().unreachable.insert("lab+b".to_owned());
    host.update(vec![front(&["lab+a", "lab+b"], &[manifest("three")])]);
    host.update(vec![front(&["lab+c"], &[manifest("four")])]);
    host.act(Command::Terminate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Retry);
    host.clusters.state().unreachable.clear();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Terminated));
    assert_eq!(host.clusters.resources(), [""; 0]);
}

#[test]
fn an_instance_after_a_stopped_termination_removes_what_that_left() {
    let host = instantiated();
    host.clusters.state().unreachable.insert("lab+a".to_owned());
    host.act(Command::Terminate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Retry);
    host.act(Command::Stop).unwrap();
    host.run().unwrap();
    host.clusters.state().unreachable.clear();
    host.act(Command::Instantiate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    host.act(Command::Terminate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.clusters.resources(), [""; 0]);
}

#[test]
fn a_termination_right_after_an_update_removes_everything() {
    let host = instantiated();
    host.put_apps(draft().apps).unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Update).unwrap();
    // The context of the update was never created.
    host.act(Command::Terminate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Terminated));
    assert_eq!(host.clusters.resources(), [""; 0]);
}

#[test]
fn an_update_before_the_first_instance_was_sent_sends_only_the_second_content() {
    let host = Host::new();
    host.put().unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    let next = vec![front(&["lab+a"], &[manifest("three")])];
    assert_eq!(host.update(next), Outcome::Complete);
    assert_eq!(host.clusters.resources(), ["lab+a three"]);
    assert_eq!(host.statuses(), ["lab+a three Applied"]);
}

#[test]
fn only_the_last_instances_are_kept() {
    let host = instantiated();
    let first = host.instance();
    for number in 0..2 * INSTANCES {
        let name = format!("resource-{number}");
        host.update(vec![front(&["lab+a"], &[manifest(&name)])]);
    }
    let mut kept = host.contexts.list().unwrap().ids;
    // The first instance has the statuses of all.
    kept.retain(|id| *id != first);
    assert_eq!(kept.len(), INSTANCES);
    assert!(host.act(Command::Rollback(2)).is_err());
    host.act(Command::Rollback(6)).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.clusters.resources(), ["lab+a resource-4"]);
    host.act(Command::Terminate).unwrap();
    host.run().unwrap();
    assert_eq!(host.clusters.resources(), [""; 0]);
    for _ in 0..=INSTANCES {
        host.act(Command::Instantiate).unwrap();
        host.run().unwrap();
        host.act(Command::Terminate).unwrap();
        host.run().unwrap();
    }
    assert_eq!(host.contexts.list().unwrap().ids.len(), INSTANCES);
    assert_eq!(host.records.revisions(name()).unwrap().len(), INSTANCES);
}
