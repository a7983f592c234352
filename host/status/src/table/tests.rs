use kindsight_model::{Object, Phase, Verdict};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::samples::{NOW_MS, app, context, expected, input, owned, report, verdict};
use crate::{Before, ClusterView, ContextView, TransitionCause, project, transitions};

const PHASES: [Phase; 4] = [
    Phase::Ready,
    Phase::Pending,
    Phase::Failed,
    Phase::NotPresent,
];

/// More resources than fit into two groups.
const MANY: usize = 2 * LEAF * GROUP + 2 * LEAF + 1;

fn config_map(at: usize) -> Object {
    let name = format!("c{at}");
    // The previous object owns every third object.
    let owner = at
        .checked_sub(1)
        .filter(|_| at % 3 == 2)
        .map(|of| (format!("c{of}"), format!("u{of}")));
    let owners: Vec<(&str, &str, &str)> = owner
        .iter()
        .map(|(name, uid)| ("ConfigMap", &**name, &**uid))
        .collect();
    owned(("ConfigMap", "default", &name, &format!("u{at}")), &owners)
}

fn judged(phases: &[usize]) -> Vec<(Object, Verdict)> {
    let judged = phases.iter().enumerate();
    let judged = judged.map(|(at, phase)| (config_map(at), verdict(PHASES[*phase], "Why", "")));
    judged.collect()
}

fn projected(phases: &[usize], previous: Option<&ClusterView>, now_ms: i64) -> ClusterView {
    let mut input = input("edge01", vec![expected("v1", "ConfigMap", "c1")]);
    report(&mut input, judged(phases));
    project(input, previous, now_ms)
}

fn shown(view: &ClusterView) -> String {
    let resources: Vec<_> = view.resources().iter().collect();
    format!("{resources:?} {:?}", view.resources().counts())
}

fn application(view: &ClusterView) -> ContextView {
    context(
        "7",
        "Instantiated",
        vec![app("a", vec![Arc::new(view.clone())])],
    )
}

fn found(before: &ClusterView, after: &ClusterView) -> String {
    let (before, after) = (application(before), application(after));
    let found = transitions(
        Before::View(&before),
        &after,
        TransitionCause::Observed,
        NOW_MS,
    );
    format!("{found:?}")
}

proptest! {
    #[test]
    fn a_changed_view_equals_a_new_projection(
        phases in vec(0..PHASES.len(), 1..100),
        changes in vec((any::<prop::sample::Index>(), 0..PHASES.len()), 0..6),
    ) {
        let before = projected(&phases, None, NOW_MS);
        let mut after = phases.clone();
        for (at, phase) in &changes {
            after[at.index(phases.len())] = *phase;
        }
        let later_ms = NOW_MS + 1;
        let whole = projected(&after, Some(&before), later_ms);
        let judged = judged(&after);
        let at = changes.iter().map(|(at, _)| at.index(phases.len()));
        let objects = at.map(|at| (at, &judged[at].0, &judged[at].1));
        let changed = before.with_objects(objects, later_ms).unwrap();
        prop_assert_eq!(shown(&changed), shown(&whole));
        prop_assert_eq!(found(&before, &changed), found(&before, &whole));
    }
}

#[test]
fn a_change_in_a_large_view_shares_all_other_leaves() {
    let phases = vec![0; MANY];
    let before = projected(&phases, None, NOW_MS);
    let object = config_map(500);
    let failed = verdict(Phase::Failed, "Crashing", "");
    let after = before
        .with_objects([(500, &object, &failed)], NOW_MS)
        .unwrap();
    let leaves = |view: &ClusterView| -> Vec<Arc<Leaf>> {
        let groups = view.resources().groups.iter();
        groups.flat_map(|group| group.leaves.clone()).collect()
    };
    let (known, shown) = (leaves(&before), leaves(&after));
    let leaves = known.iter().zip(&shown);
    let differing = leaves.filter(|(one, other)| !Arc::ptr_eq(one, other));
    assert_eq!(differing.count(), 1);
    let changed = after.resources().changed_since(before.resources()).unwrap();
    let changed: Vec<&str> = changed.map(|(_, resource)| &*resource.name).collect();
    assert_eq!(changed, ["c500"]);
    let counts = after.resources().counts();
    assert_eq!(counts.states["Failed"], 1);
    assert_eq!(counts.states["Ready"] as usize, MANY - 1);
    assert_eq!(after.resources().positions("c500").len(), 1);
}

#[test]
fn a_different_object_with_the_same_name_requires_a_new_projection() {
    let before = projected(&[0, 0, 0], None, NOW_MS);
    let ready = verdict(Phase::Ready, "", "");
    for object in [
        owned(("ConfigMap", "default", "c0", "another uid"), &[]),
        owned(
            ("ConfigMap", "default", "c0", "u0"),
            &[("ConfigMap", "c1", "u1")],
        ),
        owned(("ConfigMap", "default", "other", "u0"), &[]),
    ] {
        assert!(
            before
                .with_objects([(0, &object, &ready)], NOW_MS)
                .is_none()
        );
    }
    assert!(
        before
            .with_objects([(3, &config_map(3), &ready)], NOW_MS)
            .is_none()
    );
}
