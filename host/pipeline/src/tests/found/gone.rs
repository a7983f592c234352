//! Objects that were there and are no more.

use kindsight_status::Snapshot;

use super::reports::{GONE_FOR_MS, deployment, has, object, stage, stale, synced};

#[test]
fn what_nobody_owned_is_gone_for_a_while_and_a_child_or_a_hook_goes_at_once() {
    let mut stage = stage();
    let child = object("ReplicaSet", "front-1", Some("front"), true);
    let mut all = has(
        "p+a",
        "front",
        [
            deployment("front"),
            deployment("side"),
            child,
            deployment("hook"),
        ],
    );
    all.hooks = [3].into();
    stage.tell(all, 1000);
    stage.tell(has("p+a", "front", [deployment("front")]), 2000);
    let lines = stage.lines();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[1], "front p+a gone side NotPresent Gone 2000");
    assert_eq!(stage.ready(), "Ready");
    // A further report does not change its time, and the object is forgotten later.
    stage.tell(has("p+a", "front", [deployment("front")]), 3000);
    assert_eq!(stage.lines()[1], lines[1]);
    assert_eq!(stage.pipeline.recheck(|| 3000), Some(2000 + GONE_FOR_MS));
    assert_eq!(
        stage.pipeline.recheck(|| 1999 + GONE_FOR_MS),
        Some(2000 + GONE_FOR_MS)
    );
    assert_eq!(stage.lines().len(), 2);
    assert_eq!(stage.pipeline.recheck(|| 2000 + GONE_FOR_MS), None);
    assert_eq!(stage.lines().len(), 1);
}

#[test]
fn what_comes_back_is_what_it_is_again() {
    let mut stage = stage();
    stage.tell(
        has("p+a", "front", [deployment("front"), deployment("side")]),
        1000,
    );
    stage.tell(has("p+a", "front", [deployment("front")]), 2000);
    stage.tell(
        has("p+a", "front", [deployment("front"), deployment("side")]),
        3000,
    );
    let lines = stage.lines();
    assert!(
        lines[1].starts_with("front p+a root side Ready"),
        "{lines:?}"
    );
    assert!(lines[1].ends_with("3000"), "{lines:?}");
    assert_eq!(stage.pipeline.recheck(|| 3000 + GONE_FOR_MS), None);
    assert_eq!(stage.lines().len(), 2);
}

#[test]
fn an_owner_that_is_gone_answers_for_what_it_left_until_that_goes_too() {
    let mut stage = stage();
    let child = object("ReplicaSet", "front-1", Some("front"), true);
    stage.tell(
        has("p+a", "front", [deployment("front"), child.clone()]),
        1000,
    );
    stage.tell(has("p+a", "front", [child]), 2000);
    let lines = stage.lines();
    assert!(lines[0].contains("child front-1 Ready"), "{lines:?}");
    assert!(lines[1].contains("gone front NotPresent"), "{lines:?}");
    assert_eq!(stage.ready(), "NotPresent");
    stage.tell(has("p+a", "front", []), 3000);
    assert_eq!(stage.lines(), ["front p+a gone front NotPresent Gone 2000"]);
}

#[test]
fn an_application_of_which_nothing_is_left_goes_too() {
    let mut stage = stage();
    stage.tell(has("p+a", "front", [deployment("front")]), 1000);
    stage.tell(has("p+b", "front", [deployment("front")]), 1000);
    stage.tell(has("p+a", "front", []), 2000);
    stage.tell(has("p+b", "front", []), 3000);
    assert_eq!(stage.ready(), "NotPresent");
    assert_eq!(
        stage.pipeline.recheck(|| 2000 + GONE_FOR_MS),
        Some(3000 + GONE_FOR_MS)
    );
    assert_eq!(stage.lines(), ["front p+b gone front NotPresent Gone 3000"]);
    assert_eq!(stage.pipeline.recheck(|| 3000 + GONE_FOR_MS), None);
    assert_eq!(stage.shop(), None);
    assert!(stage.pipeline.reported_objects().is_empty());
    // An empty report on an unknown application has no effect, and publishes no change.
    let generation = stage.read_model.inspect(Snapshot::generation);
    stage.tell(has("p+a", "front", []), 20_000);
    assert_eq!(stage.shop(), None);
    assert_eq!(stage.read_model.inspect(Snapshot::generation), generation);
}

#[test]
fn nothing_goes_while_its_cluster_is_not_heard() {
    let mut stage = stage();
    stage.tell(
        has("p+a", "front", [deployment("front"), deployment("side")]),
        1000,
    );
    stage.tell(has("p+a", "front", [deployment("front")]), 2000);
    stage.pipeline.handle(stale("p+a"), 3000);
    assert_eq!(stage.pipeline.recheck(|| 2000 + GONE_FOR_MS), None);
    let lines = stage.lines();
    assert_eq!(lines[1], "front p+a gone side NotPresent Gone 2000 stale");
    stage.pipeline.handle(synced("p+a"), 30_000);
    assert_eq!(stage.pipeline.recheck(|| 30_000), None);
    let lines = stage.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(!lines[0].ends_with("stale"));
}

#[test]
fn what_comes_while_a_part_of_the_cluster_is_not_heard_stays_stale() {
    let mut stage = stage();
    stage.tell(has("p+a", "front", [deployment("front")]), 1000);
    stage.pipeline.handle(stale("p+a"), 2000);
    let both = [deployment("front"), deployment("side")];
    stage.tell(has("p+a", "front", both), 3000);
    stage.tell(has("p+a", "new", [deployment("new")]), 3000);
    let lines = stage.lines();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines.iter().all(|line| line.ends_with("stale")),
        "{lines:?}"
    );
    stage.pipeline.handle(synced("p+a"), 4000);
    let lines = stage.lines();
    assert!(
        !lines.iter().any(|line| line.ends_with("stale")),
        "{lines:?}"
    );
}
