//! The removal of old actions from a record.

use std::collections::BTreeSet;

use kindsight_appcontext::{Action, Record};
use kindsight_model::{ContextId, LifecycleState, RecordSubject};

use crate::Result;
use crate::groups::{Group, Groups};
use crate::work::{Instance, Work};

#[cfg(test)]
mod tests;

/// The number of actions above which the oldest ones are removed, if their instances are not kept. A record is read for
/// every action, and each action is about 100 bytes in it.
pub const ACTIONS_KEPT: usize = 500;
/// The number of last actions without an instance that are never removed.
const LAST_KEPT: usize = 2;

impl Groups {
    /// The group with a shorter record, if old actions can be removed from its record. Running work compares the record,
    /// so the record of a running group stays.
    pub(crate) fn tidied(&self, subject: &RecordSubject, group: Group) -> Result<Group> {
        let is_short = group.record.actions.len() <= ACTIONS_KEPT;
        if is_short || group.situation.is_running {
            return Ok(group);
        }
        let kept = kept(&group.record, &self.records.revisions(subject)?);
        let Some(next) = shortened(&group.record, &kept) else {
            return Ok(group);
        };
        let next = self.records.replace(subject, &group.record, next)?;
        self.group(subject, next, group.intent)
    }
}

/// A record with at most [`ACTIONS_KEPT`] actions if possible: without the oldest actions of instances that are not
/// `kept`, and then without the oldest approvals and changes of content since the last instance. `None` if nothing is
/// removed.
///
/// The first action stays. So do the actions that decide about the work and about the instances that remain.
fn shortened(record: &Record, kept: &BTreeSet<ContextId>) -> Option<Record> {
    let mut next = record.clone();
    for owner in owners(record) {
        let Some(excess) = excess(&next) else { break };
        let shorter = match owner {
            Some(id) if kept.contains(&id) => continue,
            Some(id) => without(&next, usize::MAX, |kept| kept.as_ref() == Some(&id)),
            None => without(&next, excess, Option::is_none),
        };
        if is_same(&next, &shorter) {
            next = shorter;
        }
    }
    (next.actions.len() < record.actions.len()).then_some(next)
}

/// The instances that are kept if the contents of these revisions are: also the instances with their statuses, and
/// instances without a revision.
fn kept(record: &Record, revisions: &[i64]) -> BTreeSet<ContextId> {
    let instances = Instance::all(record).into_iter();
    let is_kept =
        |instance: &Instance| instance.revision == 0 || revisions.contains(&instance.revision);
    let kept = instances.filter(is_kept);
    kept.flat_map(|instance| [instance.context, instance.status_context])
        .collect()
}

/// The number of actions above the limit.
fn excess(record: &Record) -> Option<usize> {
    let excess = record.actions.len().checked_sub(ACTIONS_KEPT)?;
    (excess > 0).then_some(excess)
}

/// The owners of the actions, in the order of their first actions. The last one is no instance: it has the actions since
/// the last instance.
fn owners(record: &Record) -> Vec<Option<ContextId>> {
    let mut owners = Vec::new();
    for owner in owned(&record.actions) {
        if owner.is_some() && !owners.contains(&owner) {
            owners.push(owner);
        }
    }
    owners.push(None);
    owners
}

/// The owner of each action: its instance. An approval and a change of the content belong to the instance that follows,
/// and so does the mark of an update.
fn owned(actions: &[Action]) -> Vec<Option<ContextId>> {
    let mut owners = Vec::new();
    let mut next: Option<ContextId> = None;
    for action in actions.iter().rev() {
        let is_own = !matches!(
            action.state,
            LifecycleState::Created | LifecycleState::Approved | LifecycleState::Updated
        );
        if is_own && action.instance.is_some() {
            next.clone_from(&action.instance);
        }
        owners.push(next.clone());
    }
    owners.reverse();
    owners
}

/// The record without the oldest actions of these owners, at most `count`, and with its first action.
fn without(
    record: &Record,
    count: usize,
    is_removed: impl Fn(&Option<ContextId>) -> bool,
) -> Record {
    let owners = owned(&record.actions);
    let last = record.actions.len().saturating_sub(LAST_KEPT);
    let mut left = count;
    let mut next = record.clone();
    next.actions.clear();
    let actions = record.actions.iter().zip(owners).enumerate();
    for (position, (action, owner)) in actions {
        let is_free = position > 0 && (owner.is_some() || position < last);
        if is_free && left > 0 && is_removed(&owner) {
            left -= 1;
        } else {
            next.actions.push(action.clone());
        }
    }
    next
}

/// Returns whether two records ask for the same work, and give the instances of the shorter one the same statuses.
fn is_same(record: &Record, shorter: &Record) -> bool {
    let work = |of| Work::of(of).map(Work::without_position);
    let before = Instance::all(record);
    let after = Instance::all(shorter);
    work(record) == work(shorter) && after.iter().all(|action| before.contains(action))
}
