//! The group that an object belongs to, found anew whenever it or one of its owners changes.

use std::sync::Arc;

use super::{GroupId, Inventory, Key};
use crate::kubernetes::decode::Body;

/// Maximum number of owners that are followed from an object upwards.
const OWNERS_MAX: usize = 16;

impl Inventory {
    /// Places everything that an object owns, over any number of steps.
    pub(super) fn place_owned(&mut self, key: &Key) {
        let mut waiting = vec![(key.clone(), 0)];
        while let Some((key, steps)) = waiting.pop() {
            let uid = self.entries.get(&key).map(|it| it.uid);
            let Some(uid) = uid.filter(|it| !it.is_none() && steps < OWNERS_MAX) else {
                continue;
            };
            for owned in self.owned_by(uid) {
                // Where nothing changed for it, nothing changed for what it owns.
                if self.place(&owned) {
                    waiting.push((owned, steps + 1));
                }
            }
        }
    }

    /// Puts an object into the group that it belongs to now. Returns whether that is another one.
    pub(super) fn place(&mut self, key: &Key) -> bool {
        let Some((group, is_anchor)) = self.group_of(key) else {
            return false;
        };
        let Some(entry) = self.entries.get_mut(key) else {
            return false;
        };
        let before = std::mem::replace(&mut entry.group, group.clone().map(Box::new));
        let before = before.map(|it| *it);
        let was_anchor = std::mem::replace(&mut entry.is_anchor, is_anchor);
        let is_needed = group.is_some() || self.queries.is_named(key);
        let is_whole = matches!(entry.body, Body::Whole(_));
        match (&entry.body, is_needed) {
            (Body::NotAsked, true) => self.missing.add(key),
            // Nobody reads what belongs to no application and is related with none.
            (Body::Whole(_), false) => {
                entry.body = Body::NotAsked;
                self.missing.remove(key);
            }
            _ => self.missing.remove(key),
        }
        if let Some(name) = entry.floats_to() {
            self.floating.entry(name).or_default().insert(key.clone());
        }
        if group.is_none() {
            self.sought.remove(key);
        } else if is_whole && !self.sought.contains_key(key) {
            self.read_sought(key);
        }
        // The application counts those that name it by themselves.
        let is_moved = before != group || was_anchor != is_anchor;
        if is_moved {
            self.move_to(key, before, group.map(|it| (it, is_anchor)), was_anchor);
        } else if let Some(group) = group {
            self.groups.note_changed(group);
        }
        is_moved
    }

    /// Moves an object between groups, and what joins applications of that name with it.
    pub(super) fn move_to(
        &mut self,
        key: &Key,
        before: Option<GroupId>,
        after: Option<(GroupId, bool)>,
        was_anchor: bool,
    ) {
        let mut names = Vec::new();
        if let Some(before) = before {
            let name = Arc::clone(&before.application.composite_app);
            if self.groups.leave(before, key, was_anchor) {
                names.push(name);
            }
        }
        if let Some((after, is_anchor)) = after {
            let name = Arc::clone(&after.application.composite_app);
            if self.groups.join(after, key, is_anchor) {
                names.push(name);
            }
        }
        for name in names {
            let floating = self.floating.get(&name).into_iter().flatten();
            let floating: Vec<Key> = floating.filter(|it| *it != key).cloned().collect();
            for key in floating {
                self.place(&key);
                self.place_owned(&key);
            }
        }
    }

    /// The group that an object belongs to, and whether an application has it by name. None for an object
    /// that is not there.
    fn group_of(&self, key: &Key) -> Option<(Option<GroupId>, bool)> {
        let (mut name, mut entry) = (&key.name, self.entries.get(key)?);
        let claim = entry.membership().claim.as_ref();
        let mut claimed = claim.map(|claim| (claim, name, entry));
        for _ in 0..OWNERS_MAX {
            let mut owners = entry.owners.iter().filter_map(|uid| self.by_uid.get(uid));
            let owner = owners.find_map(|key| Some((&key.name, self.entries.get(key)?)));
            let Some(owner) = owner else {
                break;
            };
            (name, entry) = owner;
            let claim = entry.membership().claim.as_ref();
            claimed = claim.map(|claim| (claim, name, entry)).or(claimed);
        }
        let Some((claim, name, claimed)) = claimed else {
            return Some((None, false));
        };
        let only = claim.is_of_any_namespace.then(|| {
            let name = &claim.application.composite_app;
            self.groups.only_application(name)
        });
        let application = only.flatten().unwrap_or_else(|| claim.application.clone());
        let app = claimed.membership().app.as_ref().unwrap_or(name);
        let group = GroupId {
            application,
            app: Arc::clone(app),
        };
        Some((Some(group), !claim.is_of_any_namespace))
    }
}
