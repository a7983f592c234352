use std::time::Duration;

use kindsight_appcontext::IntentCondition;
use kindsight_model::ContextStatus;

use super::stage::{Host, app, manifest};
use crate::{Command, DraftApp, DraftDependency, DraftResourceDependency, NotPrepared, Outcome};

fn waiting(condition: IntentCondition, wait_seconds: u32) -> Vec<DraftApp> {
    let mut front = app("front", &["lab+a"], vec![manifest("front-one")]);
    front.depends_on.push(DraftDependency {
        app: "back".to_owned(),
        condition,
        wait_seconds,
    });
    let back = app("back", &["lab+a", "lab+b"], vec![manifest("back-one")]);
    vec![front, back]
}

fn instantiated(apps: Vec<DraftApp>) -> (Host, Outcome) {
    let host = Host::new();
    host.put_apps(apps).unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    let outcome = host.run().unwrap();
    (host, outcome)
}

#[test]
fn an_app_is_sent_after_the_app_that_it_waits_for() {
    let (host, outcome) = instantiated(waiting(IntentCondition::Applied, 0));
    assert_eq!(outcome, Outcome::Complete);
    let sent = host.clusters.state().sent.clone();
    assert_eq!(sent.last().unwrap(), "lab+a front-one");
    let id = host.instance();
    let dependency = host.contexts.load(&id).unwrap().app("front").unwrap();
    let dependency = dependency.dependency().get().unwrap().unwrap();
    assert_eq!(dependency.apps[0].status, "Deployed");
}

#[test]
fn an_app_waits_until_another_one_is_ready_and_the_time_is_over() {
    let (host, outcome) = instantiated(waiting(IntentCondition::Ready, 5));
    assert_eq!(outcome, Outcome::Waiting);
    assert_eq!(
        host.problems(),
        ["lab+a front-one+ConfigMap: it waits until the app back is ready"]
    );
    host.clusters.state().ready.insert("back".to_owned());
    assert_eq!(host.run().unwrap(), Outcome::Waiting);
    assert_eq!(
        host.problems(),
        ["lab+a front-one+ConfigMap: it waits for 5 seconds"]
    );
    host.clusters.state().now = Duration::from_secs(5);
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Instantiated));
    assert_eq!(host.problems(), [""; 0]);
}

#[test]
fn an_app_that_waits_for_a_failed_app_fails_the_instance() {
    let host = Host::new();
    host.clusters.state().refused.insert("back-one".to_owned());
    host.put_apps(waiting(IntentCondition::Ready, 0)).unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::InstantiateFailed));
    let problems = host.problems();
    assert!(problems[2].contains("waits for the app back, and a resource of this app failed"));
}

#[test]
fn an_unreachable_cluster_is_asked_once_while_resources_wait() {
    let host = Host::new().giving_up_after(1);
    host.clusters.state().unreachable.insert("lab+b".to_owned());
    let mut apps = waiting(IntentCondition::Applied, 0);
    apps[1].clusters.truncate(1);
    let mut last = app("last", &["lab+a"], vec![manifest("last-one")]);
    last.depends_on.push(DraftDependency {
        app: "other".to_owned(),
        condition: IntentCondition::Applied,
        wait_seconds: 0,
    });
    let other = app("other", &["lab+b"], vec![manifest("other-one")]);
    apps.extend([last, other]);
    host.put_apps(apps).unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Retry);
    // The unreachable cluster does not delay an app that waits for a reachable one.
    let sent = ["lab+a back-one", "lab+a front-one"];
    assert_eq!(host.clusters.state().sent, sent);
    assert!(
        host.statuses()
            .contains(&"lab+b other-one Retrying".to_owned())
    );
    host.clusters.state().unreachable.clear();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Instantiated));
}

#[test]
fn a_wait_is_ended_by_a_stop_or_a_termination() {
    let (host, _) = instantiated(waiting(IntentCondition::Ready, 0));
    host.act(Command::Stop).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::InstantiateFailed));
    host.act(Command::Terminate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.clusters.resources(), [""; 0]);
}

#[test]
fn a_resource_waits_for_another_one_and_later_resources_do_not() {
    let names = ["one", "two", "three"];
    let mut front = app("front", &["lab+a"], names.map(manifest).into());
    front.resource_dependencies.push(DraftResourceDependency {
        resource: "ConfigMap/one".to_owned(),
        on: "ConfigMap/two".to_owned(),
        condition: IntentCondition::Ready,
        wait_seconds: 0,
    });
    let (host, outcome) = instantiated(vec![front]);
    assert_eq!(outcome, Outcome::Waiting);
    assert_eq!(host.clusters.state().sent, ["lab+a two", "lab+a three"]);
    assert_eq!(
        host.problems(),
        ["lab+a one+ConfigMap: it waits until ConfigMap two is ready"]
    );
    host.clusters.state().ready.insert("two".to_owned());
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(
        host.clusters.state().sent,
        ["lab+a two", "lab+a three", "lab+a one"]
    );
}

#[test]
fn after_an_update_a_verdict_on_the_object_before_it_does_not_count() {
    let (host, _) = instantiated(waiting(IntentCondition::Ready, 0));
    host.clusters.state().ready.insert("back".to_owned());
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    let mut apps = waiting(IntentCondition::Ready, 0);
    for app in &mut apps {
        for manifest in &mut app.manifests {
            manifest.push_str("data: {colour: blue}\n");
        }
    }
    host.put_apps(apps).unwrap();
    host.act(Command::Approve).unwrap();
    // The cluster has changed the objects, and has not reported the change.
    host.clusters.state().generation = 2;
    host.clusters.state().observed = 1;
    host.act(Command::Update).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Waiting);
    assert_eq!(
        host.problems(),
        ["lab+a front-one+ConfigMap: it waits until the app back is ready"]
    );
    host.clusters.state().observed = 2;
    assert_eq!(host.run().unwrap(), Outcome::Complete);
}

#[test]
fn an_app_goes_to_one_cluster_of_each_group_and_stays_there() {
    let host = Host::new();
    let mut front = app("front", &["lab+a"], vec![manifest("one")]);
    let group = |names: [&str; 3]| Vec::from(names.map(str::to_owned));
    front.any_of = vec![
        group(["lab+api", "lab+e", "lab+d"]),
        group(["lab+f", "lab+g", "lab+h"]),
    ];
    host.clusters.state().unreachable.insert("lab+f".to_owned());
    host.put_apps(vec![front.clone()]).unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    let chosen = ["lab+a one", "lab+e one", "lab+g one"];
    assert_eq!(host.clusters.resources(), chosen);
    let context = host.contexts.read(&host.instance()).unwrap().unwrap();
    let groups = context.apps[0].clusters.iter();
    let groups: Vec<_> = groups.map(|group| group.group.as_deref()).collect();
    assert_eq!(groups, [None, Some("1"), Some("2")]);
    host.clusters.state().unreachable.clear();
    front.any_of[0].rotate_right(1);
    assert_eq!(host.update(vec![front]), Outcome::Complete);
    assert_eq!(host.clusters.resources(), chosen);
}

#[test]
fn after_a_failed_controller_an_app_is_expected_in_one_cluster_of_each_group() {
    let host = Host::new();
    let mut front = app("front", &[], vec![manifest("one")]);
    front.any_of = vec![Vec::from(["lab+e", "lab+g"].map(str::to_owned))];
    let failure = NotPrepared::Refused("the controller place failed".to_owned());
    host.clusters.state().controller_fails = Some(failure);
    host.put_apps(vec![front]).unwrap();
    host.act(Command::Approve).unwrap();
    host.act(Command::Instantiate).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::InstantiateFailed));
    assert_eq!(host.statuses(), ["lab+e one Failed"]);
    // The other cluster never had the app, so nothing waits for this cluster.
    host.clusters.state().controller_fails = None;
    host.clusters.state().unreachable.insert("lab+g".to_owned());
    host.act(Command::Update).unwrap();
    assert_eq!(host.run().unwrap(), Outcome::Complete);
    assert_eq!(host.status(), Some(ContextStatus::Instantiated));
    assert_eq!(host.clusters.resources(), ["lab+e one"]);
}
