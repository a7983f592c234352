//! Transitions of applications that were found.

use super::reports::{GONE_FOR_MS, deployment, event, has, object, removed, shop, stage};

#[test]
fn what_goes_is_gone_and_then_forgotten_and_a_child_goes_at_once() {
    let mut stage = stage();
    let child = object("ReplicaSet", "front-1", Some("front"), true);
    let both = [deployment("front"), deployment("side"), child];
    stage.tell(has("p+a", "front", both), 1000);
    let first = stage.history(&shop()).unwrap();
    assert_eq!(first.len(), 4, "{first:?}");
    stage.tell(has("p+a", "front", [deployment("front")]), 2000);
    stage.tell(has("p+a", "front", [deployment("front")]), 3000);
    assert_eq!(stage.pipeline.recheck(|| 2000 + GONE_FOR_MS), None);
    let history = stage.history(&shop()).unwrap();
    assert_eq!(
        history[..history.len() - first.len()],
        [
            "12Z side NotPresent > - -",
            "02Z front-1 Ready > - -",
            "02Z side Ready > NotPresent -"
        ]
    );
}

#[test]
fn a_cluster_that_is_removed_takes_its_transitions_and_the_last_one_takes_all() {
    let mut stage = stage();
    stage.tell(has("p+a", "front", [deployment("front")]), 1000);
    let broken = object("Deployment", "front", None, false);
    stage.tell(has("p+b", "front", [broken]), 2000);
    stage.pipeline.handle(removed("p+b"), 3000);
    assert_eq!(
        stage.history(&shop()).unwrap(),
        [
            "03Z - Pending > Ready -",
            "02Z - Ready > Pending generic",
            "01Z - - > Ready -",
            "01Z front - > Ready generic",
        ]
    );
    stage.pipeline.handle(removed("p+a"), 4000);
    assert_eq!(stage.history(&shop()), None);
    stage.tell(has("p+a", "front", [deployment("front")]), 5000);
    let again = stage.history(&shop()).unwrap();
    assert_eq!(again.len(), 2, "{again:?}");
}

#[test]
fn apps_that_change_at_one_moment_change_the_application_once() {
    let mut stage = stage();
    let app = |name, ready| has("p+a", name, [object("Deployment", name, None, ready)]);
    let first = event([app("back", false), app("front", true)]);
    stage.pipeline.handle(first, 1000);
    // One becomes ready while the other fails, so both are never ready together.
    let second = event([app("back", true), app("front", false)]);
    stage.pipeline.handle(second, 2000);
    assert_eq!(
        stage.history(&shop()).unwrap(),
        [
            "02Z front Ready > Pending generic",
            "02Z back Pending > Ready generic",
            "01Z - - > Pending generic",
            "01Z front - > Ready generic",
            "01Z back - > Pending generic",
        ]
    );
}
