//! Evidence from nested parts of the status.
//!
//! Many Kinds have their state word in an object below the status (`status.jobStatus.state`), or
//! one state word for each part. A part can determine the state of the object if the object itself
//! reports nothing. It can be evidence for Ready only in an object close to the status, or in
//! conditions. Words in the items of a list cannot, because the list may be incomplete.

use kindsight_sdk::prelude::*;

use crate::conditions;
use crate::effort;
use crate::evidence::Evidence;
use crate::members::{flags, is_of_now, sum_up, words};
use crate::results;

/// Maximum number of levels below the status that are searched.
const DEPTH_MAX: usize = 4;

/// Maximum level below the status at which a part can be evidence for Ready:
/// `status.statuses.<who>.state`.
const GOOD_DEPTH_MAX: usize = 2;

/// Units of effort for one part, without its texts and conditions.
const UNITS_PER_PART: usize = 8;

/// Evidence from all parts.
pub(crate) fn evidence(status: Node<'_>, generation: Option<i64>) -> Vec<Evidence> {
    let mut found = Vec::new();
    collect(status, generation, 1, &mut found);
    found
}

/// Returns whether any part directly below the status, or any item of a list there, is healthy.
/// This does not make the object healthy, but is evidence against an uncertain failure.
pub(crate) fn any_is_well(status: Node<'_>) -> bool {
    let is_well = |part: Node<'_>| {
        let mut said = words(part, false).into_iter().chain(flags(part));
        said.any(|piece| piece.says.is_good())
    };
    let mut parts = status.members().filter(|(name, _)| is_of_now(name));
    parts.any(|(_, member)| {
        let mut parts = std::iter::once(member).chain(member.items());
        parts.any(|part| part.is_object() && effort::spend(UNITS_PER_PART) && is_well(part))
    })
}

/// Returns whether any part directly below the status has a summary of the health of the object.
pub(crate) fn any_sums_up(status: Node<'_>) -> bool {
    let mut parts = status.members().filter(|(name, _)| is_of_now(name));
    parts.any(|(_, part)| part.is_object() && effort::spend(UNITS_PER_PART) && sum_up(part))
}

fn collect(holder: Node<'_>, generation: Option<i64>, depth: usize, found: &mut Vec<Evidence>) {
    if depth > DEPTH_MAX {
        return;
    }
    for (name, member) in holder.members().filter(|(name, _)| is_of_now(name)) {
        let mut part = Vec::new();
        if member.is_object() && effort::spend(UNITS_PER_PART) {
            part.extend(conditions::evidence(member, generation, &|| true));
            part.extend(words(member, false));
            part.extend(flags(member).filter(|piece| !piece.says.is_good()));
            part.extend(results::evidence(member));
            collect(member, generation, depth + 1, &mut part);
            part.retain(|piece| depth <= GOOD_DEPTH_MAX || !piece.says.is_good());
        }
        part.extend(items(member, generation, depth));
        found.extend(part.into_iter().map(|piece| piece.inside(name)));
    }
}

/// Evidence from the items of a list. Conditions of every parent, ancestor or listener, as in the
/// Gateway API, can be evidence for Ready.
fn items(list: Node<'_>, generation: Option<i64>, depth: usize) -> Vec<Evidence> {
    // Items that are not objects are no evidence.
    let objects = list.items().filter(|item| item.is_object());
    let read = objects.take_while(|_| effort::spend(UNITS_PER_PART));
    let read: Vec<_> = read.collect();
    let conditions = read.iter().enumerate().map(|(index, item)| {
        let evidence = conditions::evidence(*item, generation, &|| true);
        numbered(evidence, index)
    });
    let conditions: Vec<_> = conditions.collect();
    let all_speak = conditions.iter().all(|item| !item.is_empty());
    let every_item_speaks = all_speak && read.len() == list.items().len();
    let mut rest = Vec::new();
    for (index, item) in read.into_iter().enumerate() {
        let mut part = words(item, false);
        part.extend(flags(item));
        collect(item, generation, depth + 1, &mut part);
        rest.extend(numbered(part, index));
    }
    rest.retain(|piece| !piece.says.is_good());
    let spoken = conditions.into_iter().flatten();
    rest.extend(spoken.filter(|piece| every_item_speaks || !piece.says.is_good()));
    rest
}

/// Adds the index of the item to its evidence.
fn numbered(evidence: Vec<Evidence>, index: usize) -> Vec<Evidence> {
    let item = format!("[{index}]");
    let evidence = evidence.into_iter();
    evidence.map(|piece| piece.inside(&item)).collect()
}
