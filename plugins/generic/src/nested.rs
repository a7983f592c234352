//! What the parts of the status say, where it is made of parts.
//!
//! Many Kinds keep the word in an object below the status (`status.jobStatus.state`), or one for
//! each part. A part may speak for the object where the object itself says nothing. For ready it
//! does so only in an object close by or in conditions; the words of the items of a list do not, for
//! nobody says that the list is whole.

use kindsight_sdk::prelude::*;

use crate::conditions;
use crate::evidence::Evidence;
use crate::members::{flags, is_of_now, words};

/// How deep below the status is looked.
const DEPTH_MAX: usize = 4;

/// How deep below the status a part may speak for ready: `status.statuses.<who>.state`.
const GOOD_DEPTH_MAX: usize = 2;

/// What the parts say.
pub(crate) fn evidence(status: Node<'_>, generation: Option<i64>) -> Vec<Evidence> {
    let mut found = Vec::new();
    collect(status, generation, 1, &mut found);
    found
}

fn collect(holder: Node<'_>, generation: Option<i64>, depth: usize, found: &mut Vec<Evidence>) {
    if depth > DEPTH_MAX {
        return;
    }
    for (_, member) in holder.members().filter(|(name, _)| is_of_now(name)) {
        if member.is_object() {
            let mut part = conditions::evidence(member, generation);
            part.extend(words(member, false));
            part.extend(flags(member).filter(|piece| !piece.says.is_good()));
            collect(member, generation, depth + 1, &mut part);
            part.retain(|piece| depth <= GOOD_DEPTH_MAX || !piece.says.is_good());
            found.extend(part);
        }
        found.extend(items(member, generation, depth));
    }
}

/// What the items of a list say. Conditions of every parent, ancestor or listener, as the Gateway
/// API has them, may speak for ready.
fn items(list: Node<'_>, generation: Option<i64>, depth: usize) -> Vec<Evidence> {
    let conditions = list
        .items()
        .map(|item| conditions::evidence(item, generation));
    let conditions: Vec<_> = conditions.collect();
    let every_item_speaks = conditions.iter().all(|item| !item.is_empty());
    let mut rest = Vec::new();
    for item in list.items() {
        rest.extend(words(item, false));
        rest.extend(flags(item));
        collect(item, generation, depth + 1, &mut rest);
    }
    rest.retain(|piece| !piece.says.is_good());
    let spoken = conditions.into_iter().flatten();
    rest.extend(spoken.filter(|piece| every_item_speaks || !piece.says.is_good()));
    rest
}
