//! The group of an object, found again at each change of the object or of one of its owners.

use std::iter;
use std::sync::Arc;

use kindsight_model::{DeploymentId, DigName, Gvk, Identity, Removal};

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
        let is_member = place.is_any();
        let is_needed = is_member || has_inventory || self.queries.need_content_of(id, entry);
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
        if !is_member {
            entry.seek(None);
        } else if is_whole && entry.sought().is_none() {
            self.read_sought(id);
        }
        if before.group != place.group {
            self.note_move(id, before.group.as_ref(), place.group.as_ref(), removal);
            self.note_finders_changed(id);
        }
        // The application counts the objects whose own metadata names it.
        let is_moved = before != place;
        self.move_scopes(id, &before.scopes, &place.scopes, removal);
        let GroupPlace {
            group, is_anchor, ..
        } = place;
        if before.group != group || before.is_anchor != is_anchor {
            let after = group.map(|group| (group, is_anchor));
            self.move_to(id, before.group, after, before.is_anchor);
        } else if let Some(group) = group {
            self.groups.note_changed(group);
        }
        is_moved
    }

    /// Notes that the groups that find an object by its labels may use it now, or may not use it any more.
    fn note_finders_changed(&mut self, id: Id) {
        let entry = self.objects.get(id);
        let finders = entry.map(|entry| self.queries.finders(id, entry));
        for group in finders.unwrap_or_default() {
            self.groups.note_changed(group);
        }
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

    pub(super) fn identity_of(&self, id: Id) -> Option<Identity> {
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
            let floating: Vec<Id> = floating.copied().filter(|owned| *owned != id).collect();
            for floating in floating {
                self.place(floating, Removal::LeftApplication);
                self.place_owned(floating, Removal::LeftApplication);
            }
        }
    }

    /// The place of an object; none if the index does not have the object.
    fn place_of(&self, id: Id) -> Option<GroupPlace> {
        self.objects.get(id)?;
        let scopes = self.scopes_of(id);
        let place = match self.claimed_of(id) {
            None => GroupPlace::default(),
            Some(Claimed {
                by: Claimant::Recorded(deployment),
                ..
            }) => GroupPlace {
                group: self
                    .direct_group(deployment)
                    .map(|group| self.groups.known(group)),
                is_recorded: true,
                ..GroupPlace::default()
            },
            Some(Claimed {
                by: Claimant::Application(claim),
                entry,
            }) => self.application_place(claim, entry),
        };
        Some(GroupPlace { scopes, ..place })
    }

    /// The claim that decides on an object: the claim of the highest rank, and of the topmost owner among claims of
    /// the same rank.
    pub(super) fn claimed_of(&self, id: Id) -> Option<Claimed<'_>> {
        let claims = self.with_owners(id);
        let claims = claims.filter_map(|entry| self.claims_of(entry).next());
        claims.max_by_key(|claimed| claimed.by.rank())
    }

    /// An object and its owners, upwards.
    pub(super) fn with_owners(&self, id: Id) -> impl Iterator<Item = &Entry> {
        let owner_of = |entry: &&Entry| {
            let mut owners = entry.owners().iter();
            owners.find_map(|uid| self.objects.get(self.objects.with_uid(*uid)?))
        };
        iter::successors(self.objects.get(id), owner_of).take(OWNERS_MAX + 1)
    }

    fn application_place(&self, claim: &Claim, named: &Entry) -> GroupPlace {
        let application = self.application_of(claim);
        let app = named.membership().app.as_ref();
        let app = app.map_or_else(|| Arc::from(&*named.name), Arc::clone);
        let group = GroupId::Application { application, app };
        GroupPlace {
            group: Some(self.groups.known(group)),
            is_anchor: !claim.is_of_any_namespace,
            ..GroupPlace::default()
        }
    }

    /// The application of a claim.
    pub(super) fn application_of(&self, claim: &Claim) -> DigName {
        let only = claim.is_of_any_namespace.then(|| {
            let name = &claim.application.composite_app;
            self.groups.only_application(name)
        });
        only.flatten().unwrap_or_else(|| claim.application.clone())
    }

    /// The claims by the object's own metadata and by inventories, in the order of precedence. A health scope claims
    /// nothing.
    pub(super) fn claims_of<'e>(&'e self, entry: &'e Entry) -> impl Iterator<Item = Claimed<'e>> {
        let membership = entry.membership();
        let deployment = membership.deployment.as_deref();
        let deployment = deployment.filter(|deployment| self.is_recorded(deployment));
        let listed = self.inventories_of(entry).map(|it| &it.claim);
        let listed = listed.filter(|claim| !claim.application.is_health_scope());
        let mut claims: Vec<&Claim> = listed.chain(&membership.claims).collect();
        // Applications of the configuration keep their order.
        claims.sort_by(|left, right| left.evidence.cmp(&right.evidence));
        let by = deployment.map(Claimant::Recorded).into_iter();
        let by = by.chain(claims.into_iter().map(Claimant::Application));
        by.map(move |by| Claimed { by, entry })
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
    /// The health scopes that it belongs to in addition, each as a group.
    pub(super) scopes: Box<[Arc<GroupId>]>,
}

impl GroupPlace {
    /// Its group and its health scopes.
    pub(super) fn groups(&self) -> impl Iterator<Item = &Arc<GroupId>> {
        self.group.iter().chain(&self.scopes)
    }

    /// Returns whether it belongs to a reported group.
    pub(super) fn is_any(&self) -> bool {
        self.groups().next().is_some()
    }
}

/// A claim on an object or on one of its owners.
pub(super) struct Claimed<'e> {
    pub(super) by: Claimant<'e>,
    /// The object with the mark, which also names the app.
    pub(super) entry: &'e Entry,
}

/// The application that claims an object. Two claims of one application are equal.
pub(super) enum Claimant<'e> {
    Recorded(&'e DeploymentId),
    Application(&'e Claim),
}

impl PartialEq for Claimant<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Recorded(left), Self::Recorded(right)) => left == right,
            (Self::Application(left), Self::Application(right)) => {
                left.application == right.application
            }
            (Self::Recorded(_), Self::Application(_))
            | (Self::Application(_), Self::Recorded(_)) => false,
        }
    }
}

impl Claimant<'_> {
    /// Among several claims in a chain of owners, the highest rank decides.
    fn rank(&self) -> u8 {
        match self {
            Self::Recorded(_) => u8::MAX,
            Self::Application(claim) => claim.rank(),
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
