use super::*;

fn action(state: LifecycleState, instance: u64, revision: i64) -> Action {
    Action {
        state,
        instance: (instance > 0).then(|| instance.to_string().parse().unwrap()),
        time: String::new(),
        revision,
    }
}

fn record(actions: Vec<Action>) -> Record {
    Record {
        profile: None,
        actions,
    }
}

fn ids(ids: &[u64]) -> BTreeSet<ContextId> {
    let ids = ids.iter().map(|id| id.to_string().parse().unwrap());
    ids.collect()
}

/// Lives of a group: created, approved, instantiated and terminated.
fn lives(count: u64) -> Record {
    use LifecycleState::{Approved, Created, Instantiated, Terminated};
    let lives = (1..=count).flat_map(|id| {
        [
            action(Created, 0, 0),
            action(Approved, 0, 0),
            action(Instantiated, id, id.cast_signed()),
            action(Terminated, id, 0),
        ]
    });
    record(lives.collect())
}

/// An instance with updates.
fn updated(updates: u64) -> Record {
    use LifecycleState::{Approved, Created, Instantiated, Updated};
    let first = [
        action(Created, 0, 0),
        action(Approved, 0, 0),
        action(Instantiated, 1, 1),
    ];
    let updates = (1..=updates).flat_map(|id| {
        let revision = id.cast_signed();
        [
            action(Updated, id, revision),
            action(Instantiated, id + 1, revision + 1),
        ]
    });
    record(first.into_iter().chain(updates).collect())
}

#[test]
fn a_short_record_stays() {
    assert_eq!(shortened(&lives(125), &BTreeSet::new()), None);
}

#[test]
fn the_oldest_lives_are_removed_and_the_first_action_stays() {
    let long = lives(130);
    let short = shortened(&long, &ids(&[1, 129, 130])).unwrap();
    assert_eq!(short.actions.len(), ACTIONS_KEPT);
    // The first life is kept, and five others are removed.
    assert_eq!(short.actions[..4], long.actions[..4]);
    assert_eq!(short.actions[4..], long.actions[24..]);
    let short = shortened(&long, &ids(&[130])).unwrap();
    assert_eq!(short.actions[0], long.actions[0]);
}

#[test]
fn updates_are_removed_between_the_first_instance_and_the_kept_ones() {
    let long = updated(300);
    let short = shortened(&long, &ids(&[1, 300, 301])).unwrap();
    assert!(short.actions.len() <= ACTIONS_KEPT);
    assert_eq!(short.actions[..3], long.actions[..3]);
    let (before, after) = (Instance::all(&long), Instance::all(&short));
    assert_eq!(after.last(), before.last());
    assert!(after.iter().all(|action| before.contains(action)));
    let work = |of| Work::of(of).map(Work::without_position);
    assert_eq!(work(&short), work(&long));
}

#[test]
fn an_instance_after_a_stopped_termination_keeps_its_statuses() {
    use LifecycleState::{Instantiated, TerminateStopped, Terminated};
    let mut long = lives(130);
    long.actions.extend([
        action(Instantiated, 200, 200),
        action(Terminated, 200, 0),
        action(TerminateStopped, 200, 0),
        action(Instantiated, 201, 201),
    ]);
    // If the instance 200 were removed, the instance 201 would have statuses of its own.
    let kept = (1..=130).chain([201]).collect::<Vec<_>>();
    assert_eq!(shortened(&long, &ids(&kept)), None);
}

#[test]
fn approvals_since_the_last_instance_are_removed_last() {
    use LifecycleState::{Approved, Created};
    let mut long = lives(1);
    let changes = [action(Created, 0, 0), action(Approved, 0, 0)];
    for _ in 0..300 {
        long.actions.extend(changes.clone());
    }
    let short = shortened(&long, &ids(&[1])).unwrap();
    assert_eq!(short.actions.len(), ACTIONS_KEPT);
    assert_eq!(short.actions[..4], long.actions[..4]);
    assert_eq!(short.actions.last(), long.actions.last());
}
