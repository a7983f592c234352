//! The group that an object belongs to, found anew whenever it or one of its owners changes.

use std::sync::Arc;

use kindsight_model::DeploymentId;

use super::entry::Entry;
use super::{GroupId, Inventory, Key};
use crate::kubernetes::decode::Body;
use crate::kubernetes::membership::Claim;

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

    /// Puts an object into the group that it belongs to now. Returns whether its place is another one.
    pub(super) fn place(&mut self, key: &Key) -> bool {
        let Some(place) = self.place_of(key) else {
            return false;
        };
        let Some(entry) = self.entries.get_mut(key) else {
            return false;
        };
        let before = std::mem::replace(&mut entry.place, place.clone());
        if let (true, Some(group), Body::Whole(object)) =
            (place.is_recorded, before.group.as_deref(), &entry.body)
            && matches!(group, GroupId::Application { .. })
        {
            let taken = self.taken.entry(group.clone()).or_default();
            taken.push((**object).clone());
        }
        let is_needed = place.group.is_some() || self.queries.is_named(key);
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
        if place.group.is_none() {
            self.sought.remove(key);
        } else if is_whole && !self.sought.contains_key(key) {
            self.read_sought(key);
        }
        // The application counts those that name it by themselves.
        let is_moved = before != place;
        let Place {
            group, is_anchor, ..
        } = place;
        if before.group != group || before.is_anchor != is_anchor {
            let after = group.map(|it| (*it, is_anchor));
            self.move_to(key, before.group.map(|it| *it), after, before.is_anchor);
        } else if let Some(group) = group {
            self.groups.note_changed(*group);
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
            let name = before.application_name();
            if self.groups.leave(before, key, was_anchor) {
                names.extend(name);
            }
        }
        if let Some((after, is_anchor)) = after {
            let name = after.application_name();
            if self.groups.join(after, key, is_anchor) {
                names.extend(name);
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

    /// The place that an object belongs to; none for one that is not there.
    fn place_of(&self, key: &Key) -> Option<Place> {
        let (mut name, mut entry) = (&key.name, self.entries.get(key)?);
        let mut claimed = self.claim_of(name, entry);
        for _ in 0..OWNERS_MAX {
            let mut owners = entry.owners.iter().filter_map(|uid| self.by_uid.get(uid));
            let owner = owners.find_map(|key| Some((&key.name, self.entries.get(key)?)));
            let Some(owner) = owner else {
                break;
            };
            (name, entry) = owner;
            // The topmost one of those that come first.
            if let Some(claim) = self.claim_of(name, entry)
                && claimed.as_ref().is_none_or(|it| it.rank() <= claim.rank())
            {
                claimed = Some(claim);
            }
        }
        Some(match claimed {
            None => Place::default(),
            Some(Claimed::Recorded(deployment)) => Place {
                group: self.direct_group(deployment).map(Box::new),
                is_anchor: false,
                is_recorded: true,
            },
            Some(Claimed::Application(claim, app)) => self.application_place(claim, app),
        })
    }

    fn application_place(&self, claim: &Claim, app: &Arc<str>) -> Place {
        let only = claim.is_of_any_namespace.then(|| {
            let name = &claim.application.composite_app;
            self.groups.only_application(name)
        });
        let application = only.flatten().unwrap_or_else(|| claim.application.clone());
        let app = Arc::clone(app);
        let group = GroupId::Application { application, app };
        Place {
            group: Some(Box::new(group)),
            is_anchor: !claim.is_of_any_namespace,
            is_recorded: false,
        }
    }

    /// An object's own word on where it belongs.
    fn claim_of<'e>(&self, name: &'e Arc<str>, entry: &'e Entry) -> Option<Claimed<'e>> {
        let membership = entry.membership();
        let deployment = membership.deployment.as_deref();
        if let Some(deployment) = deployment.filter(|it| self.deployments.contains_key(it)) {
            return Some(Claimed::Recorded(deployment));
        }
        let claim = membership.claim.as_ref()?;
        let app = membership.app.as_ref().unwrap_or(name);
        Some(Claimed::Application(claim, app))
    }
}

/// The place of an object among the groups.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The group that it is in; none if nobody asks for it.
    pub(super) group: Option<Box<GroupId>>,
    /// True if its application is there because of objects like it.
    pub(super) is_anchor: bool,
    /// True if it belongs to a recorded deployment, whether that is reported by its objects or not.
    pub(super) is_recorded: bool,
}

/// An object's own word on where it belongs.
enum Claimed<'e> {
    Recorded(&'e DeploymentId),
    /// The application, and the app of it.
    Application(&'e Claim, &'e Arc<str>),
}

impl Claimed<'_> {
    /// Of several in a line of owners, those of the highest rank decide.
    fn rank(&self) -> u8 {
        match self {
            Self::Recorded(_) => 2,
            Self::Application(claim, _) => claim.is_configured.into(),
        }
    }
}

impl GroupId {
    /// The name of its application, which objects may join by name.
    fn application_name(&self) -> Option<Arc<str>> {
        match self {
            Self::Application { application, .. } => Some(Arc::clone(&application.composite_app)),
            Self::Deployment(_) => None,
        }
    }
}
