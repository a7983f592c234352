//! The group of an object, found again at each change of the object or of one of its owners.

use std::sync::Arc;

use kindsight_model::{DeploymentId, Gvk, Identity, Removal};

use super::entry::Entry;
use super::objects::Id;
use super::{ClusterIndex, GroupId};
use crate::decoded::Body;
use crate::membership::Claim;

/// Maximum number of owners that are followed from an object upwards.
const OWNERS_MAX: usize = 16;

impl ClusterIndex {
    /// Places every object that an object owns, directly or through other objects.
    pub(super) fn place_owned(&mut self, id: Id, removal: Removal) {
        let mut waiting = vec![(id, 0)];
        while let Some((id, steps)) = waiting.pop() {
            let uid = self.objects.get(id).map(|it| it.uid);
            let Some(uid) = uid.filter(|uid| !uid.is_none() && steps < OWNERS_MAX) else {
                continue;
            };
            for owned in self.owned_by(uid) {
                // If an object keeps its place, its owned objects keep theirs.
                if self.place(owned, removal) {
                    waiting.push((owned, steps + 1));
                }
            }
        }
    }

    /// Puts an object into its current group. Returns whether its place changed. `removal` is the reason if the
    /// object leaves its group.
    pub(super) fn place(&mut self, id: Id, removal: Removal) -> bool {
        let Some(place) = self.place_of(id) else {
            return false;
        };
        let Some(entry) = self.objects.get_mut(id) else {
            return false;
        };
        let before = entry.set_place(place.clone());
        let has_inventory = self.inventories.are_in(entry.scope());
        let is_needed = place.group.is_some() || has_inventory || self.queries.is_named(id);
        let is_whole = matches!(entry.body(), Body::Whole(_));
        match (entry.body(), is_needed) {
            _ if is_needed && entry.lacks_body() => self.missing.add(id, entry),
            // The body of an object without application, relations and inventory is not needed.
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
        if before.group != place.group {
            self.note_move(id, before.group.as_ref(), place.group.as_ref(), removal);
        }
        // The application counts the objects whose own metadata names it.
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

    /// Notes that an object left one group and joined another group.
    fn note_move(
        &mut self,
        id: Id,
        before: Option<&Arc<GroupId>>,
        after: Option<&Arc<GroupId>>,
        removal: Removal,
    ) {
        if let Some(before) = before {
            self.note_removed(id, before, removal);
        }
        if let (Some(after), Some(identity)) = (after, self.identity_of(id)) {
            self.groups.note_returned(after, &identity);
        }
    }

    /// Notes that an object left a group, if the index reports that group.
    pub(super) fn note_removed(&mut self, id: Id, group: &Arc<GroupId>, removal: Removal) {
        if let Some(identity) = self.identity_of(id).filter(|_| self.is_reported(group)) {
            self.groups.note_removed(group, identity, removal);
        }
    }

    fn identity_of(&self, id: Id) -> Option<Identity> {
        let entry = self.objects.get(id)?;
        let Gvk { group, kind, .. } = &self.scopes.get(&entry.scope())?.kind.gvk;
        Some(Identity {
            group: Arc::clone(group),
            kind: Arc::clone(kind),
            namespace: Arc::clone(entry.namespace()),
            name: Arc::from(&*entry.name),
        })
    }

    /// Moves an object between groups. If an application appears or disappears, the objects that join by its name
    /// move too.
    pub(super) fn move_to(
        &mut self,
        id: Id,
        before: Option<Arc<GroupId>>,
        after: Option<(Arc<GroupId>, bool)>,
        was_anchor: bool,
    ) {
        let mut names = Vec::new();
        let Some(scope) = self.objects.get(id).map(Entry::scope) else {
            return;
        };
        if let Some(before) = before {
            let name = application_name(&before);
            if self.groups.leave(before, (scope, id), was_anchor) {
                names.extend(name);
            }
        }
        if let Some((after, is_anchor)) = after {
            let name = application_name(&after);
            if self.groups.join(after, (scope, id), is_anchor) {
                names.extend(name);
            }
        }
        for name in names {
            let floating = self.floating.get(&name).into_iter().flatten();
            let floating: Vec<Id> = floating.copied().filter(|it| *it != id).collect();
            for floating in floating {
                self.place(floating, Removal::LeftApplication);
                self.place_owned(floating, Removal::LeftApplication);
            }
        }
    }

    /// The place of an object; none if the index does not have the object.
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
            // Among claims of the same rank, the claim of the topmost owner decides.
            if let Some(claim) = self.claim_of(entry)
                && claimed
                    .as_ref()
                    .is_none_or(|known| known.rank() <= claim.rank())
            {
                claimed = Some(claim);
            }
        }
        Some(match claimed {
            None => GroupPlace::default(),
            Some(Claimed::Recorded(deployment)) => GroupPlace {
                group: self
                    .direct_group(deployment)
                    .map(|group| self.groups.known(group)),
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

    /// The membership that the object's own metadata and the inventories claim.
    fn claim_of<'e>(&'e self, entry: &'e Entry) -> Option<Claimed<'e>> {
        let membership = entry.membership();
        let deployment = membership.deployment.as_deref();
        if let Some(deployment) = deployment.filter(|it| self.deployments.contains_key(it)) {
            return Some(Claimed::Recorded(deployment));
        }
        let listed = self.inventories_of(entry).map(|it| &it.claim);
        let claims = listed.chain(&membership.claim);
        let first = claims.min_by_key(|claim| (&claim.evidence, &claim.application))?;
        Some(Claimed::Application(first, entry))
    }
}

/// The place of an object among the groups.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct GroupPlace {
    /// Its group; none if it belongs to no reported group.
    pub(super) group: Option<Arc<GroupId>>,
    /// True if the object itself names the application, so that the application exists because of such objects.
    pub(super) is_anchor: bool,
    /// True if it belongs to a recorded deployment, including a deployment that a monitor reports.
    pub(super) is_recorded: bool,
}

/// The membership that an object's own metadata claims.
enum Claimed<'e> {
    Recorded(&'e DeploymentId),
    /// The claimed application, and the object whose metadata claims it and names the app.
    Application(&'e Claim, &'e Entry),
}

impl Claimed<'_> {
    /// Among several claims in a chain of owners, the highest rank decides.
    fn rank(&self) -> u8 {
        match self {
            Self::Recorded(_) => 2,
            Self::Application(claim, _) => claim.is_configured().into(),
        }
    }
}

/// The name of the application of a group. Cluster-scoped objects may join the application by this name.
fn application_name(group: &GroupId) -> Option<Arc<str>> {
    match group {
        GroupId::Application { application, .. } => Some(Arc::clone(&application.composite_app)),
        GroupId::Deployment(_) => None,
    }
}
