//! Evidence from conditions, individually and in combination.

mod claim;

use kindsight_sdk::prelude::*;

use crate::condition_types::Role;
use crate::effort;
use crate::evidence::{Evidence, Says};
use crate::members;
use crate::words::{Meaning, is_under_way, meaning};
use claim::Claim;

/// Evidence from a list of conditions. Empty if no condition is evidence. `is_settled` returns
/// whether other evidence shows that a change is complete although a condition still lists it as
/// True. A failure beside a summary that is True is an impairment.
pub(crate) fn evidence(
    holder: Node<'_>,
    generation: Option<i64>,
    is_settled: &dyn Fn() -> bool,
) -> Vec<Evidence> {
    let list = holder.get("conditions");
    let all: Vec<Claim<'_>> = claims(list).collect();
    if all.is_empty() {
        return empty(list);
    }
    let current: Vec<_> = all
        .iter()
        .copied()
        .filter(|claim| !claim.is_stale(generation))
        .collect();
    let summed_up = sums_up(&current);
    let is_green = summed_up.unwrap_or_else(|| members::sum_up(holder));
    let is_history = current.len() < all.len() && summed_up.is_none();
    let read = current.into_iter().filter_map(|claim| {
        let piece = read(claim, summed_up, is_settled)?;
        let contradicts = is_green && piece.says == Says::Failed && !claim.is_summary();
        Some(if contradicts {
            piece.contradicting()
        } else {
            piece
        })
    });
    read.chain(is_history.then(history)).collect()
}

/// Evidence that the object is paused, regardless of the condition's generation: while a controller
/// ignores an object, it does not observe newer generations either.
pub(crate) fn pause(holder: Node<'_>) -> Option<Evidence> {
    let is_pause = |claim: &Claim<'_>| match claim.role {
        Role::Pause => claim.is_pause(),
        _ => claim.is_pause_of_work(),
    };
    let mut claims = claims(holder.get("conditions"));
    let pause = claims.find(is_pause)?;
    Some(pause.evidence(Says::Suspended))
}

/// Pending: some conditions are of an older generation, and the present one has no summary.
fn history() -> Evidence {
    let message = "the conditions are of an older generation";
    Evidence::new(Says::Pending, &["GenerationNotObserved"], message)
}

/// Returns whether any positive condition of this generation is True.
pub(crate) fn any_holds(holder: Node<'_>, generation: Option<i64>) -> bool {
    claims(holder.get("conditions")).any(|claim| {
        claim.role.is_positive() && claim.is(ConditionStatus::True) && !claim.is_stale(generation)
    })
}

/// Returns whether every status in the list is a string, as the API requires. A status of a
/// different type was not written by a controller.
pub(crate) fn are_genuine(holder: Node<'_>) -> bool {
    let mut items = holder.get("conditions").items();
    items.all(|item| {
        let has_text = item.get("status").text().is_some();
        has_text || Claim::new(item.get("type").text_or_empty(), item).is_genuine()
    })
}

/// Returns whether any condition contains the generation for which it was set.
pub(crate) fn name_a_generation(holder: Node<'_>) -> bool {
    let mut items = holder.get("conditions").items();
    items.any(|item| item.get("observedGeneration").is_present())
}

/// Pending for an empty list: the Kind has conditions, but none is set yet.
fn empty(list: Node<'_>) -> Vec<Evidence> {
    if !list.is_array() {
        return Vec::new();
    }
    let message = "no condition is set yet";
    vec![Evidence::new(Says::Pending, &["NoConditionsYet"], message)]
}

/// Units of effort for one condition, without its texts.
const UNITS_PER_CONDITION: usize = 8;

fn claims(list: Node<'_>) -> impl Iterator<Item = Claim<'_>> {
    let listed = list.items().filter(|node| node.is_object());
    let mapped = list.members();
    listed
        .map(|node| (node.get("type").text_or_empty(), node))
        .chain(mapped)
        .take_while(|_| effort::spend(UNITS_PER_CONDITION))
        .map(|(name, node)| Claim::new(name, node))
}

/// `None` without a summary, or else whether every summary is True.
fn sums_up(claims: &[Claim<'_>]) -> Option<bool> {
    let mut summaries = claims
        .iter()
        .filter(|claim| claim.role == Role::Summary)
        .peekable();
    summaries.peek()?;
    Some(summaries.all(|claim| claim.is(ConditionStatus::True)))
}

/// Evidence from one condition. `summed_up` is the result of [`sums_up`].
fn read(
    claim: Claim<'_>,
    summed_up: Option<bool>,
    is_settled: &dyn Fn() -> bool,
) -> Option<Evidence> {
    let is_true = claim.is(ConditionStatus::True);
    let says = match claim.role {
        role if role != Role::Pause && claim.is_pause_of_work() => Some(Says::Suspended),
        Role::Summary | Role::End if is_true => Some(holds(claim)),
        Role::Summary | Role::End => Some(does_not_hold(claim)),
        Role::Verdict | Role::Acceptance if is_true && summed_up.is_none() => Some(holds(claim)),
        Role::Verdict | Role::Acceptance | Role::Step | Role::Part => detail(claim, summed_up),
        Role::Transition => transition(claim, is_settled),
        Role::Pause if claim.is_pause() => Some(Says::Suspended),
        Role::Abnormal | Role::Pause if is_true => abnormal(claim),
        Role::Other => other(claim, summed_up),
        Role::Abnormal | Role::Pause | Role::Ability => None,
    };
    says.map(|says| claim.evidence(says))
}

/// Evidence from a positive condition that is True, unless its own reason contradicts it.
fn holds(claim: Claim<'_>) -> Says {
    match (claim.role, meaning(claim.reason())) {
        (Role::End, Some(Meaning::Failed)) => Says::Failed,
        (_, Some(Meaning::Failed)) => Says::Impaired,
        (_, Some(Meaning::Pending)) => Says::Doubtful,
        (Role::End, _) => Says::Finished,
        _ => Says::Ready,
    }
}

/// Evidence from a positive condition that is False or Unknown.
fn does_not_hold(claim: Claim<'_>) -> Says {
    let is_false = claim.is(ConditionStatus::False);
    match claim.why() {
        _ if is_false && claim.is_failure() => Says::Failed,
        Some(Meaning::Suspended) => Says::Suspended,
        _ => Says::Pending,
    }
}

/// Evidence from a positive condition in addition to a summary, or without a summary.
fn detail(claim: Claim<'_>, summed_up: Option<bool>) -> Option<Says> {
    match claim.status {
        ConditionStatus::True => None,
        ConditionStatus::Unknown => summed_up.is_none().then(|| does_not_hold(claim)),
        ConditionStatus::False => detail_missing(claim, summed_up == Some(true)),
    }
}

fn detail_missing(claim: Claim<'_>, is_ready: bool) -> Option<Says> {
    let is_part = claim.role == Role::Part;
    let is_off = claim.why() == Some(Meaning::Suspended) && !claim.is_failure();
    if is_off && !(is_part && is_ready) {
        return Some(Says::Suspended);
    }
    let refused = claim.role == Role::Acceptance && claim.why() != Some(Meaning::Pending);
    match (claim.is_failure() || refused, is_ready) {
        (true, true) if is_part => Some(Says::Impaired),
        (true, _) => Some(Says::Failed),
        (false, false) => Some(Says::Pending),
        (false, true) if is_part && claim.denies_health() => Some(Says::Impaired),
        // Conditions of parts that are switched off are permanently False.
        (false, true) if is_part => None,
        (false, true) => Some(Says::Doubtful),
    }
}

/// Evidence from an abnormal condition that is True.
fn abnormal(claim: Claim<'_>) -> Option<Says> {
    match claim.severity() {
        Some("Info") => None,
        _ if is_under_way(claim.reason()) => Some(Says::Pending),
        _ => Some(Says::Failed),
    }
}

/// Evidence from a change that is in progress, paused, given up or complete. While the condition is
/// True, its own statement that the change is complete is not sufficient.
fn transition(claim: Claim<'_>, is_settled: &dyn Fn() -> bool) -> Option<Says> {
    match (claim.status, claim.why()) {
        (_, Some(Meaning::Suspended)) => Some(Says::Suspended),
        (ConditionStatus::False, Some(Meaning::Failed)) => Some(Says::Failed),
        (ConditionStatus::False, _) | (ConditionStatus::True, Some(Meaning::Finished)) => None,
        (ConditionStatus::True, Some(Meaning::Good)) => (!is_settled()).then_some(Says::Doubtful),
        (ConditionStatus::True, _) => Some(Says::Pending),
        (ConditionStatus::Unknown, _) => Some(Says::Doubtful),
    }
}

/// Evidence from a condition of an unknown type. False is a failure only if its reason is one. Its
/// message is not sufficient.
fn other(claim: Claim<'_>, summed_up: Option<bool>) -> Option<Says> {
    let failed =
        claim.is(ConditionStatus::False) && meaning(claim.reason()) == Some(Meaning::Failed);
    let says = match summed_up {
        Some(true) => Says::Impaired,
        _ => Says::Failed,
    };
    failed.then_some(says)
}
