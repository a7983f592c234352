use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn fold(phases: &[Phase]) -> Rollup<usize> {
    let mut rollup = Rollup::default();
    for (place, &phase) in phases.iter().enumerate() {
        rollup.add(phase, place);
    }
    rollup
}

fn check(phases: &[Phase], desired: Desired, state: &str, phase: Phase, worst: Option<usize>) {
    let result = fold(phases).result(desired);
    assert_eq!(
        (result.state, result.phase, result.worst),
        (state, phase, worst),
        "{phases:?} {desired:?}"
    );
}

#[test]
fn the_worst_wins_and_is_named() {
    use Phase::{
        Degraded, Failed, NotPresent, Pending, Present, Ready, Suspended, Terminating, Unknown,
    };
    let present = Desired::Present;
    check(&[Ready, Present], present, "Ready", Ready, None);
    check(&[Present, Present], present, "Present", Present, None);
    check(
        &[Ready, Suspended],
        present,
        "Suspended",
        Suspended,
        Some(1),
    );
    check(
        &[Suspended, Degraded],
        present,
        "Degraded",
        Degraded,
        Some(1),
    );
    check(&[Pending, Degraded], present, "Pending", Pending, Some(0));
    check(
        &[Terminating, Pending],
        present,
        "Terminating",
        Terminating,
        Some(0),
    );
    check(
        &[Terminating, NotPresent],
        present,
        "NotPresent",
        NotPresent,
        Some(1),
    );
    check(
        &[NotPresent, Failed, Failed],
        present,
        "Failed",
        Failed,
        Some(1),
    );
    check(&[Failed, Unknown], present, "Unknown", Unknown, Some(1));
}

#[test]
fn an_empty_rollup_is_not_ready() {
    for desired in [Desired::Present, Desired::Terminating, Desired::Absent] {
        check(&[], desired, "Unknown", Phase::Unknown, None);
    }
}

#[test]
fn removed_resources_of_a_termination_are_terminated() {
    let gone = [Phase::NotPresent, Phase::NotPresent];
    check(
        &gone,
        Desired::Absent,
        "Terminated",
        Phase::NotPresent,
        None,
    );
    check(
        &gone,
        Desired::Terminating,
        "Terminating",
        Phase::Terminating,
        None,
    );
    check(
        &gone,
        Desired::Present,
        "NotPresent",
        Phase::NotPresent,
        Some(0),
    );
}

#[test]
fn present_resources_of_a_termination_are_never_ready() {
    let left = [Phase::NotPresent, Phase::Ready];
    check(
        &left,
        Desired::Absent,
        "Terminating",
        Phase::Terminating,
        Some(1),
    );
    let stuck = [Phase::NotPresent, Phase::Failed, Phase::Pending];
    check(
        &stuck,
        Desired::Terminating,
        "Failed",
        Phase::Failed,
        Some(1),
    );
    check(
        &[Phase::Unknown],
        Desired::Absent,
        "Unknown",
        Phase::Unknown,
        Some(0),
    );
}

#[test]
fn resources_should_be_absent_once_termination_began() {
    assert_eq!(
        Desired::from_status(Some(&"Instantiated".into())),
        Desired::Present
    );
    assert_eq!(
        Desired::from_status(Some(&"InstantiateFailed".into())),
        Desired::Present
    );
    assert_eq!(
        Desired::from_status(Some(&"Terminating".into())),
        Desired::Terminating
    );
    assert_eq!(
        Desired::from_status(Some(&"TerminateFailed".into())),
        Desired::Terminating
    );
    assert_eq!(
        Desired::from_status(Some(&"Terminated".into())),
        Desired::Absent
    );
}

/// The order of the design, from best to worst; equal severities are on one line.
const SEVERITIES: [&[Phase]; 8] = [
    &[Phase::Ready, Phase::Present],
    &[Phase::Suspended],
    &[Phase::Degraded],
    &[Phase::Pending],
    &[Phase::Terminating],
    &[Phase::NotPresent],
    &[Phase::Failed],
    &[Phase::Unknown],
];

#[test]
fn the_worse_of_two_phases_is_the_result() {
    assert_eq!(SEVERITIES.concat(), Phase::ALL);
    for (rank, better) in SEVERITIES.iter().enumerate() {
        for worse in SEVERITIES.iter().skip(rank + 1).copied().flatten() {
            for better in *better {
                let state = worse.state();
                check(&[*better, *worse], Desired::Present, state, *worse, Some(1));
            }
        }
    }
}

/// Resources, each with the number of its group, in two different orders.
fn shuffled() -> impl Strategy<Value = (Vec<Item>, Vec<Item>)> {
    let item = (select(Phase::ALL), 0..4_u8, 0..5_usize);
    vec(item, 0..40).prop_flat_map(|items| (Just(items.clone()), Just(items).prop_shuffle()))
}

type Item = (Phase, u8, usize);

fn fold_grouped(items: &[Item]) -> Rollup<u8> {
    let mut groups: Vec<Rollup<u8>> = vec![Rollup::default(); 5];
    for &(phase, place, group) in items {
        groups[group].add(phase, place);
    }
    let mut whole = Rollup::default();
    for group in groups.iter().rev() {
        whole.merge(group, u8::clone);
    }
    whole
}

proptest! {
    #[test]
    fn neither_order_nor_grouping_matters((items, other_order) in shuffled()) {
        let mut flat = Rollup::default();
        for &(phase, place, _) in &items {
            flat.add(phase, place);
        }
        prop_assert_eq!(&fold_grouped(&items), &flat);
        prop_assert_eq!(&fold_grouped(&other_order), &flat);
    }

    #[test]
    fn every_resource_is_counted_once_in_its_phase((items, _) in shuffled()) {
        let counts = fold_grouped(&items).counts().by_phase();
        for phase in Phase::ALL {
            let expected = items.iter().filter(|item| item.0 == *phase).count();
            let counted = counts.get(phase).copied().unwrap_or_default();
            prop_assert_eq!(usize::try_from(counted).unwrap(), expected);
        }
    }

    #[test]
    fn a_termination_with_present_resources_is_never_better_than_terminating((items, _) in shuffled()) {
        for desired in [Desired::Terminating, Desired::Absent] {
            let result = fold_grouped(&items).result(desired);
            let is_gone = items.iter().all(|item| item.0 == Phase::NotPresent);
            let floor = Phase::Terminating.severity();
            prop_assert!(is_gone || result.phase.severity() >= floor, "{:?}", result);
        }
    }

    #[test]
    fn the_result_is_exactly_as_bad_as_the_worst_part((items, _) in shuffled()) {
        let worst = items.iter().map(|item| item.0.severity()).max();
        let result = fold_grouped(&items).result(Desired::Present);
        prop_assert_eq!(result.phase.severity(), worst.unwrap_or(Phase::Unknown.severity()));
    }
}
