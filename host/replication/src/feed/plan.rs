//! The difference between two lists of resources, as steps that build the later list.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use kindsight_model::Identity;
use kindsight_status::{ClusterView, ResourceTable, ResourceView};

use crate::wire::Row;

/// One step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Keep resources: the first position, and their number.
    Keep(usize, usize),
    /// Send the resource at this position, with the position of its previous version.
    Send(usize, Option<usize>),
}

/// The steps of a placement that were not written yet.
#[derive(Debug)]
pub(super) struct RowsLeft {
    pub(super) before: Option<Arc<ClusterView>>,
    pub(super) after: Arc<ClusterView>,
    pub(super) steps: VecDeque<Step>,
}

impl RowsLeft {
    /// The row of a step.
    pub(super) fn row(&self, at: usize, like: Option<usize>) -> Option<(Row, &ResourceView)> {
        let resource = self.after.resources().get(at)?;
        let before = like.and_then(|position| {
            let before = self.before.as_ref()?.resources().get(position)?;
            Some((position, before))
        });
        Some((Row::of(resource, before), resource))
    }
}

/// The steps from one list to the next; `None` if they have the same resources.
pub(super) fn plan(
    before: Option<&ResourceTable>,
    after: &ResourceTable,
) -> Option<VecDeque<Step>> {
    let Some(before) = before else {
        return Some((0..after.len()).map(|at| Step::Send(at, None)).collect());
    };
    match after.changed_positions(before) {
        Some(changed) if changed.is_empty() => None,
        Some(changed) => Some(changed_in_place(&changed, after.len())),
        None => Some(rebuilt(before, after)),
    }
}

/// The steps for resources that changed at their positions.
fn changed_in_place(changed: &[usize], len: usize) -> VecDeque<Step> {
    let mut steps = VecDeque::new();
    let mut next = 0;
    for at in changed {
        if *at > next {
            steps.push_back(Step::Keep(next, at - next));
        }
        steps.push_back(Step::Send(*at, Some(*at)));
        next = at + 1;
    }
    if next < len {
        steps.push_back(Step::Keep(next, len - next));
    }
    steps
}

/// The steps for resources that were added, removed or moved. Linear in their number, as their projection was.
fn rebuilt(before: &ResourceTable, after: &ResourceTable) -> VecDeque<Step> {
    let mut positions: HashMap<Identity, usize> = HashMap::with_capacity(before.len());
    for (at, resource) in before.iter().enumerate() {
        positions.entry(resource.identity()).or_insert(at);
    }
    let previous = after
        .iter()
        .map(|resource| positions.remove(&resource.identity()));
    let previous: Vec<Option<usize>> = previous.collect();
    let now: HashMap<usize, usize> = previous
        .iter()
        .enumerate()
        .filter_map(|(at, before)| Some(((*before)?, at)))
        .collect();
    let mut steps = VecDeque::new();
    for (at, (resource, position)) in after.iter().zip(&previous).enumerate() {
        let known = position.and_then(|position| Some((position, before.get(position)?)));
        let kept = known.filter(|(_, known)| {
            let owner = known.owner.map(|owner| now.get(&owner).copied());
            let is_same_owner = owner.unwrap_or_default() == resource.owner
                && known.owner.is_some() == resource.owner.is_some();
            is_same_owner && is_same_content(known, resource)
        });
        match (kept, steps.back_mut()) {
            (Some((position, _)), Some(Step::Keep(first, count)))
                if *first + *count == position =>
            {
                *count += 1;
            }
            (Some((position, _)), _) => steps.push_back(Step::Keep(position, 1)),
            (None, _) => steps.push_back(Step::Send(at, *position)),
        }
    }
    steps
}

/// Returns whether both are the same, apart from the positions of their owners.
fn is_same_content(before: &ResourceView, after: &ResourceView) -> bool {
    let is_unchanged =
        |before: Option<&kindsight_model::Object>, after: Option<_>| match (before, after) {
            (None, None) => true,
            (Some(before), Some(after)) => before.is_unchanged(after),
            _ => false,
        };
    before.gvk == after.gvk
        && before.verdict == after.verdict
        && before.since_ms == after.since_ms
        && before.rsync == after.rsync
        && before.role == after.role
        && before.claims == after.claims
        && is_unchanged(before.object.as_ref(), after.object.as_ref())
        && is_unchanged(before.manifest.as_ref(), after.manifest.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_in_place_keeps_everything_around_it() {
        let steps = changed_in_place(&[0, 3, 4], 6);
        let expected = [
            Step::Send(0, Some(0)),
            Step::Keep(1, 2),
            Step::Send(3, Some(3)),
            Step::Send(4, Some(4)),
            Step::Keep(5, 1),
        ];
        assert_eq!(Vec::from(steps), expected);
    }
}
