//! The group that an object belongs to, found anew whenever it or one of its owners changes.

use std::sync::Arc;

use kindsight_model::{DeploymentId, Object};

use super::entry::Entry;
use super::objects::Id;
use super::{GroupId, Inventory};
use crate::kubernetes::decode::Body;
use crate::kubernetes::membership::Claim;

/// Maximum number of owners that are followed from an object upwards.
const OWNERS_MAX: usize = 16;

impl Inventory {
    /// Places everything that an object owns, over any number of steps.
    pub(super) fn place_owned(&mut self, id: Id) {
        let mut waiting = vec![(id, 0)];
        while let Some((id, steps)) = waiting.pop() {
            let uid = self.objects.get(id).map(|it| it.uid);
            let Some(uid) = uid.filter(|it| !it.is_none() && steps < OWNERS_MAX) else {
                continue;
            };
            for owned in self.owned_by(uid) {
                // Where nothing changed for it, nothing changed for what it owns.
                if self.place(owned) {
                    waiting.push((owned, steps + 1));
                }
            }
        }
    }

    /// Puts an object into the group that it belongs to now. Returns whether its place is another one.
    pub(super) fn place(&mut self, id: Id) -> bool {
        let Some(place) = self.place_of(id) else {
            return false;
        };
        let Some(entry) = self.objects.get_mut(id) else {
            return false;
        };
        let before = entry.set_place(place.clone());
        if let (true, Some(group), Body::Whole(object)) =
            (place.is_recorded, &before.group, entry.body())
            && matches!(**group, GroupId::Application { .. })
        {
            let taken = self.taken.entry(Arc::clone(group)).or_default();
            taken.push(Object::clone(object));
        }
        let is_needed = place.group.is_some() || self.queries.is_named(id);
        let is_whole = matches!(entry.body(), Body::Whole(_));
        match (entry.body(), is_needed) {
            (Body::NotAsked, true) => self.missing.add(id, entry),
            // Nobody reads what belongs to no application and is related with none.
            (Body::Whole(_), false) => {
                entry.drop_body();
                self.missing.remove(id, entry);
            }
            _ => self.missing.remove(id, entry),
        }
        if let Some(name) = entry.floats_to() {
            self.floating.entry(name).or_default().insert(id);
        }
        if place.group.is_none() {
            entry.seek(None);
        } else if is_whole && entry.sought().is_none() {
            self.read_sought(id);
        }
        // The application counts those that name it by themselves.
        let is_moved = before != place;
        let GroupPlace {
            group, is_anchor, ..
        } = place;
        if before.group != group || before.is_anchor != is_anchor {
            let after = group.map(|it| (it, is_anchor));
            self.move_to(id, before.group, after, before.is_anchor);
        } else if let Some(group) = group {
            self.groups.note_changed(group);
        }
        is_moved
    }

    /// Moves an object between groups, and what joins applications of that name with it.
    pub(super) fn move_to(
        &mut self,
        id: Id,
        before: Option<Arc<GroupId>>,
        after: Option<(Arc<GroupId>, bool)>,
        was_anchor: bool,
    ) {
        let mut names = Vec::new();
        let Some(watch) = self.objects.get(id).map(Entry::watch) else {
            return;
        };
        if let Some(before) = before {
            let name = before.application_name();
            if self.groups.leave(before, (watch, id), was_anchor) {
                names.extend(name);
            }
        }
        if let Some((after, is_anchor)) = after {
            let name = after.application_name();
            if self.groups.join(after, (watch, id), is_anchor) {
                names.extend(name);
            }
        }
        for name in names {
            let floating = self.floating.get(&name).into_iter().flatten();
            let floating: Vec<Id> = floating.copied().filter(|it| *it != id).collect();
            for floating in floating {
                self.place(floating);
                self.place_owned(floating);
            }
        }
    }

    /// The place that an object belongs to; none for one that is not there.
    fn place_of(&self, id: Id) -> Option<GroupPlace> {
        let mut entry = self.objects.get(id)?;
        let mut claimed = self.claim_of(entry);
        for _ in 0..OWNERS_MAX {
            let mut owners = entry.owners().iter();
            let owner = owners.find_map(|uid| self.objects.get(self.objects.with_uid(*uid)?));
            let Some(owner) = owner else {
                break;
            };
            entry = owner;
            // The topmost one of those that come first.
            if let Some(claim) = self.claim_of(entry)
                && claimed.as_ref().is_none_or(|it| it.rank() <= claim.rank())
            {
                claimed = Some(claim);
            }
        }
        Some(match claimed {
            None => GroupPlace::default(),
            Some(Claimed::Recorded(deployment)) => GroupPlace {
                group: self
                    .direct_group(deployment)
                    .map(|it| self.groups.known(it)),
                is_anchor: false,
                is_recorded: true,
            },
            Some(Claimed::Application(claim, entry)) => self.application_place(claim, entry),
        })
    }

    fn application_place(&self, claim: &Claim, named: &Entry) -> GroupPlace {
        let only = claim.is_of_any_namespace.then(|| {
            let name = &claim.application.composite_app;
            self.groups.only_application(name)
        });
        let application = only.flatten().unwrap_or_else(|| claim.application.clone());
        let app = named.membership().app.as_ref();
        let app = app.map_or_else(|| Arc::from(&*named.name), Arc::clone);
        let group = GroupId::Application { application, app };
        GroupPlace {
            group: Some(self.groups.known(group)),
            is_anchor: !claim.is_of_any_namespace,
            is_recorded: false,
        }
    }

    /// An object's own word on where it belongs.
    fn claim_of<'e>(&self, entry: &'e Entry) -> Option<Claimed<'e>> {
        let membership = entry.membership();
        let deployment = membership.deployment.as_deref();
        if let Some(deployment) = deployment.filter(|it| self.deployments.contains_key(it)) {
            return Some(Claimed::Recorded(deployment));
        }
        let claim = membership.claim.as_ref()?;
        Some(Claimed::Application(claim, entry))
    }
}

/// The place of an object among the groups.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct GroupPlace {
    /// The group that it is in; none if nobody asks for it.
    pub(super) group: Option<Arc<GroupId>>,
    /// True if its application is there because of objects like it.
    pub(super) is_anchor: bool,
    /// True if it belongs to a recorded deployment, whether that is reported by its objects or not.
    pub(super) is_recorded: bool,
}

/// An object's own word on where it belongs.
enum Claimed<'e> {
    Recorded(&'e DeploymentId),
    /// The application, and the object that names it, and the app of it.
    Application(&'e Claim, &'e Entry),
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
