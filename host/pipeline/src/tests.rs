mod coverage;
mod found;
mod groups;
mod history;
mod keys;
mod live;
mod manifest_spec;
mod ownership;
mod running;
mod seen;
mod sessions;
mod shared_histories;
mod stage;
mod stated;
mod states;
mod stored;
mod unanswered;
mod updates;
mod waiting;

use stage::{Heard, Stage, deployments};

#[test]
fn exactly_the_objects_of_affected_kinds_are_judged_again() {
    let mut stage = Stage::new(&[("1", &["a"]), ("2", &["a"])]);
    stage.hear("1", "a", &deployments(30).config_maps(20), 1000);
    stage.hear("2", "a", &Heard::default().config_maps(10), 1000);
    let untouched = stage.view("2");

    stage.publish(&["generic", "apps"]);
    assert!(stage.pipeline.swap_pending());
    stage.follow(5000);
    assert!(!stage.pipeline.swap_pending());
    assert_eq!(stage.judged_again(), 30);
    assert_eq!(
        stage.said_by("1"),
        [
            ("ConfigMap".into(), "generic".into(), 20),
            ("Deployment".into(), "apps".into(), 30)
        ]
    );
    assert!(stage.shows_still(&untouched));
    let progress = stage.pipeline.progress();
    assert_eq!(
        progress.generation(),
        stage.interpreters.published().generation()
    );

    // And back: the Kind falls to the wildcard again.
    stage.publish(&["generic"]);
    stage.follow(6000);
    assert_eq!(stage.judged_again(), 60);
    assert_eq!(stage.by_of("1", "Deployment"), "generic");
    // Both call it ready, so it is ready since the report.
    assert_eq!(stage.since("1"), [1000]);
}

#[test]
fn a_kind_that_nobody_speaks_for_any_more_is_judged_again_too() {
    let mut stage = Stage::new(&[("1", &["a"])]);
    stage.hear("1", "a", &deployments(3).config_maps(2), 1000);
    stage.publish(&["apps"]);
    stage.follow(2000);
    assert_eq!(stage.judged_again(), 5);
    assert_eq!(stage.by_of("1", "ConfigMap"), "nobody");
    stage.publish(&["generic", "apps"]);
    stage.follow(3000);
    // The Deployments too: an interpreter is asked now where the first one passes.
    assert_eq!(stage.judged_again(), 10);
    assert_eq!(stage.by_of("1", "ConfigMap"), "generic");
    assert_eq!(stage.by_of("1", "Deployment"), "apps");
}

#[test]
fn an_equal_set_changes_nothing() {
    let mut stage = Stage::new(&[("1", &["a"])]);
    stage.hear("1", "a", &deployments(3), 1000);
    let before = stage.view("1");
    stage.follow(1500);
    assert_eq!(stage.judged_again(), 0);
    stage.publish(&["generic"]);
    assert!(stage.pipeline.swap_pending());
    stage.follow(2000);
    assert_eq!(stage.judged_again(), 0);
    assert!(stage.shows_still(&before));
    // The published set judges later reports.
    stage.hear("1", "a", &deployments(4), 3000);
    assert_eq!(
        stage.pipeline.progress().generation(),
        stage.interpreters.published().generation()
    );
}

#[test]
fn a_context_changes_from_one_set_to_the_next_in_one_step() {
    let mut stage = Stage::new(&[("1", &["a", "b"])]);
    stage.hear("1", "a", &deployments(4500), 1000);
    stage.hear("1", "b", &deployments(10), 1000);
    let before = stage.view("1");
    stage.publish(&["generic", "apps"]);
    for judged in [2000, 4000] {
        stage.pipeline.follow_swap(2000);
        assert_eq!(stage.judged_again(), judged);
        assert!(stage.shows_still(&before));
        assert!(stage.pipeline.swap_pending());
        assert_ne!(
            stage.pipeline.progress().generation(),
            stage.interpreters.published().generation()
        );
    }
    stage.pipeline.follow_swap(2000);
    assert!(!stage.pipeline.swap_pending());
    assert_eq!(stage.judged_again(), 4510);
    assert_eq!(stage.by_of("1", "Deployment"), "apps");
}

#[test]
fn a_report_between_two_slices_is_kept_and_judged_once_by_each_set() {
    let mut stage = Stage::new(&[("1", &["a", "b", "c"])]);
    for app in ["a", "b", "c"] {
        stage.hear("1", app, &deployments(1500), 1000);
    }
    stage.publish(&["generic", "apps"]);
    stage.pipeline.follow_swap(2000);
    assert_eq!(stage.judged_again(), 3000);

    // While the context is on its way it is judged by the set that it is shown by.
    stage.hear("1", "a", &deployments(1000).replicas_missing(), 3000);
    assert_eq!(stage.by_of("1", "Deployment"), "generic");
    assert_eq!(stage.states("1", "a"), [("Pending".into(), 1000)]);

    // Then only that place is done once more, and what was not done yet.
    stage.follow(4000);
    assert_eq!(stage.judged_again(), 3000 + 1000 + 1500);
    assert_eq!(stage.by_of("1", "Deployment"), "apps");
    assert_eq!(stage.states("1", "a"), [("Pending".into(), 1000)]);
    assert_eq!(stage.states("1", "b"), [("Ready".into(), 1500)]);
}

#[test]
fn a_second_swap_goes_from_what_is_shown_straight_to_the_newest_set() {
    let mut stage = Stage::new(&[("1", &["a"]), ("2", &["a"])]);
    stage.hear("2", "a", &deployments(3000), 1000);
    stage.hear("1", "a", &deployments(100), 1000);
    let (done, begun) = (stage.view("1"), stage.view("2"));
    stage.publish(&["generic", "apps"]);
    stage.pipeline.follow_swap(2000);
    // Context 1 has arrived, context 2 is on its way.
    assert_eq!(stage.judged_again(), 2100);
    assert!(!stage.shows_still(&done));

    stage.publish(&["generic"]);
    stage.follow(3000);
    // Context 1 returns to its old verdicts. New verdicts on context 2 are dropped, and its view never changed.
    assert_eq!(stage.judged_again(), 2200);
    assert_eq!(stage.by_of("1", "Deployment"), "generic");
    assert!(stage.shows_still(&begun));

    stage.publish(&["generic", "apps"]);
    stage.pipeline.follow_swap(4000);
    stage.publish(&["apps"]);
    stage.pipeline.follow_swap(5000);
    assert_eq!(stage.by_of("1", "Deployment"), "apps");
    assert!(stage.shows_still(&begun));
    stage.follow(6000);
    assert_eq!(stage.by_of("2", "Deployment"), "apps");
}

#[test]
fn the_context_whose_report_is_the_newest_goes_first() {
    let mut stage = Stage::new(&[("1", &["a"]), ("2", &["a"]), ("3", &["a"])]);
    for id in ["2", "3", "1"] {
        stage.hear(id, "a", &deployments(2000), 1000);
    }
    stage.publish(&["generic", "apps"]);
    stage.pipeline.follow_swap(2000);
    let by = |stage: &Stage| ["1", "2", "3"].map(|id| stage.by_of(id, "Deployment"));
    assert_eq!(by(&stage), ["apps", "generic", "generic"]);
    // While it waits, a report moves a context to the front, where it is not judged twice.
    stage.hear("2", "a", &deployments(2000).replicas_missing(), 2500);
    assert_eq!(by(&stage), ["apps", "generic", "generic"]);
    stage.pipeline.follow_swap(3000);
    assert_eq!(by(&stage), ["apps", "apps", "generic"]);
    stage.pipeline.follow_swap(4000);
    assert_eq!(by(&stage), ["apps", "apps", "apps"]);
    assert_eq!(stage.judged_again(), 6000);
}

#[test]
fn reports_on_one_placement_cannot_hold_up_a_swap_for_ever() {
    let mut stage = Stage::new(&[("1", &["a"]), ("2", &["a"])]);
    stage.hear("2", "a", &deployments(4000), 1000);
    stage.hear("1", "a", &deployments(7000), 1000);
    stage.publish(&["generic", "apps"]);
    let mut slices = 0;
    while stage.by_of("1", "Deployment") == "generic" {
        stage.pipeline.follow_swap(2000 + slices);
        slices += 1;
        assert!(slices < 10, "it goes on for ever");
        stage.hear("1", "a", &deployments(7000), 2000 + slices);
    }
    // 2,000, then 4,000, then all of it.
    assert_eq!((slices, stage.judged_again()), (3, 13_000));
    // Others get no more than they would have.
    stage.pipeline.follow_swap(3000);
    assert_eq!(stage.judged_again(), 15_000);
}

#[test]
fn what_is_due_is_rechecked_by_the_set_it_is_shown_by() {
    let mut stage = Stage::new(&[("1", &["a"])]);
    stage.hear("1", "a", &Heard::default().new_and_silent(2500), 1000);
    assert_eq!(stage.pipeline.recheck(|| 1000), Some(30_000));
    assert_eq!(stage.states("1", "a"), [("Pending".into(), 2500)]);
    stage.publish(&["generic", "apps"]);
    stage.pipeline.follow_swap(2000);
    assert_eq!(stage.pipeline.recheck(|| 30_000), None);
    assert_eq!(stage.by_of("1", "Deployment"), "generic");
    assert_eq!(stage.states("1", "a"), [("Present".into(), 2500)]);
    // The verdicts of the new set are still valid.
    stage.follow(31_000);
    assert_eq!(stage.judged_again(), 2500);
    assert_eq!(stage.by_of("1", "Deployment"), "apps");
    assert_eq!(stage.states("1", "a"), [("Pending".into(), 2500)]);
    assert_eq!(stage.since("1"), [31_000]);
}

#[test]
fn every_placement_that_was_heard_has_reported_objects() {
    let mut stage = Stage::new(&[("2", &["a", "b"]), ("1", &["a"])]);
    stage.hear("2", "b", &deployments(2), 1000);
    stage.hear("1", "a", &deployments(1).config_maps(2), 1000);
    let reported = stage.pipeline.reported_objects();
    let held: Vec<_> = reported
        .iter()
        .map(|held| (held.placement.as_str(), held.objects.len()))
        .collect();
    assert_eq!(held, [("1/a/p+c", 3), ("2/b/p+c", 2)]);
}

#[test]
fn a_round_of_rechecks_ends_in_time_and_the_next_one_waits() {
    let mut stage = Stage::new(&[("1", &["a"])]);
    stage.hear("1", "a", &Heard::default().new_and_silent(1000), 1000);
    // A clock on which each look takes 20 ms: one or two parts are judged.
    let now = std::cell::Cell::new(30_000);
    let clock = || {
        now.set(now.get() + 20);
        now.get()
    };
    let next = stage.pipeline.recheck(clock).unwrap();
    let states = stage.states("1", "a");
    let present = states
        .iter()
        .find(|(state, _)| state == "Present")
        .unwrap()
        .1;
    assert!((1..=128).contains(&present), "{states:?}");
    // About nine times as long as it took, which was 60 ms or more.
    assert!(next > now.get() + 500, "{next} at {}", now.get());
    let view = stage.view("1");
    assert_eq!(stage.pipeline.recheck(|| next - 1), Some(next));
    assert!(stage.shows_still(&view));
    assert_eq!(stage.pipeline.recheck(|| next), None);
    assert_eq!(stage.states("1", "a"), [("Present".into(), 1000)]);
}
