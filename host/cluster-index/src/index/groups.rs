//! The apps of the applications of one cluster, and which of them changed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use kindsight_model::{DigName, Identity, Removal, Report};

use super::GroupId;
use super::objects::Id;
use crate::index::ScopeId;

/// The groups that have objects.
#[derive(Debug, Default)]
pub(super) struct Groups {
    by_id: HashMap<Arc<GroupId>, Group>,
    changed: BTreeMap<Arc<GroupId>, GroupChange>,
    /// For each name and namespace of an application, the number of objects whose own metadata names it.
    anchors: HashMap<Arc<str>, BTreeMap<DigName, usize>>,
    /// Number of objects of each watch.
    by_scope: HashMap<ScopeId, usize>,
    /// Objects that left a group since its last report, with the reason.
    removed: HashMap<Arc<GroupId>, BTreeMap<Identity, Removal>>,
    /// Groups whose last report had objects.
    shown: HashSet<Arc<GroupId>>,
}

/// One app of one application.
#[derive(Debug, Default)]
pub(super) struct Group {
    members: BTreeSet<Id>,
    /// A hash of the last report; none before the first report.
    reported: Option<u64>,
    last: Option<LastReport>,
}

/// The last report of a group, which the next one shares the unchanged objects with.
#[derive(Debug)]
pub(super) struct LastReport {
    pub(super) report: Report,
    /// Positions in the report, of the members that have not left the group since.
    pub(super) positions: HashMap<Id, usize>,
}

/// The difference between a group and its last report.
#[derive(Debug, Default)]
pub(super) struct GroupChange {
    /// Members that have later versions with the same labels, owners and relations.
    pub(super) updated: BTreeSet<Id>,
    /// True if anything else differs.
    pub(super) is_more: bool,
}

impl Group {
    pub(super) fn members(&self) -> impl Iterator<Item = Id> {
        self.members.iter().copied()
    }
}

impl Groups {
    pub(super) fn get(&self, id: &GroupId) -> Option<&Group> {
        self.by_id.get(id)
    }

    /// The id of a group. If the group has objects, the id is shared with the group.
    pub(super) fn known(&self, id: GroupId) -> Arc<GroupId> {
        let known = self.by_id.get_key_value(&id);
        known.map_or_else(|| Arc::new(id), |(known, _)| Arc::clone(known))
    }

    /// Number of objects in all groups.
    pub(super) fn members(&self) -> usize {
        self.by_scope.values().sum()
    }

    /// Number of objects of one watch in all groups.
    pub(super) fn members_of(&self, scope: ScopeId) -> usize {
        self.by_scope.get(&scope).copied().unwrap_or_default()
    }

    /// The only application of a name; none if there are several or none.
    pub(super) fn only_application(&self, name: &str) -> Option<DigName> {
        let mut applications = self.anchors.get(name)?.keys();
        let first = applications.next()?;
        applications.next().is_none().then(|| first.clone())
    }

    pub(super) fn note_changed(&mut self, id: Arc<GroupId>) {
        self.changed.entry(id).or_default().is_more = true;
    }

    /// Notes that a member of a group has a later version, and that nothing else of the group changed.
    pub(super) fn note_updated(&mut self, id: Arc<GroupId>, member: Id) {
        self.changed.entry(id).or_default().updated.insert(member);
    }

    /// The last report of a group; none before the first.
    pub(super) fn last(&self, id: &GroupId) -> Option<&LastReport> {
        self.by_id.get(id)?.last.as_ref()
    }

    /// Notes the last report of a group that has members.
    pub(super) fn note_last(&mut self, id: &GroupId, last: LastReport) {
        if let Some(group) = self.by_id.get_mut(id) {
            group.last = Some(last);
        }
    }

    /// Replaces the last report of a group by one with later versions of the same members.
    pub(super) fn update_last(&mut self, id: &GroupId, report: Report) {
        if let Some(group) = self.by_id.get_mut(id)
            && let Some(last) = &mut group.last
        {
            last.report = report;
            // The next report is compared with this report, whose hash is not known.
            group.reported = None;
        }
    }

    /// Requests a report on a group, even if the group has not changed.
    pub(super) fn note_again(&mut self, id: Arc<GroupId>) {
        if let Some(group) = self.by_id.get_mut(&id) {
            group.reported = None;
        }
        self.note_changed(id);
    }

    pub(super) fn note_all_changed(&mut self) {
        for id in self.by_id.keys() {
            self.changed.entry(Arc::clone(id)).or_default().is_more = true;
        }
    }

    /// Notes that something about all apps of these applications changed.
    pub(super) fn note_applications_changed(&mut self, applications: &HashSet<DigName>) {
        if applications.is_empty() {
            return;
        }
        for id in self.by_id.keys() {
            if let GroupId::Application { application, .. } = &**id
                && applications.contains(application)
            {
                self.changed.entry(Arc::clone(id)).or_default().is_more = true;
            }
        }
    }

    /// Notes the content of a report. Returns whether it differs from the content of the last report.
    pub(super) fn note_report(&mut self, id: &GroupId, contents: u64) -> bool {
        let group = self.by_id.get_mut(id);
        group.is_none_or(|group| group.reported.replace(contents) != Some(contents))
    }

    /// Notes that an object left a group for this reason.
    pub(super) fn note_removed(&mut self, id: &Arc<GroupId>, object: Identity, removal: Removal) {
        let removed = self.removed.entry(Arc::clone(id)).or_default();
        removed.insert(object, removal);
    }

    /// Notes that an object is in a group again.
    pub(super) fn note_returned(&mut self, id: &GroupId, object: &Identity) {
        if let Some(removed) = self.removed.get_mut(id) {
            removed.remove(object);
        }
    }

    /// The objects that left a group since its last report.
    pub(super) fn take_removed(&mut self, id: &GroupId) -> Vec<(Identity, Removal)> {
        let removed = self.removed.remove(id).unwrap_or_default();
        removed.into_iter().collect()
    }

    /// Notes whether a report has objects. Returns whether the report is news. An empty report is not news if the
    /// last report was empty too, or if there was none.
    pub(super) fn note_shown(&mut self, id: &Arc<GroupId>, is_empty: bool) -> bool {
        if is_empty {
            return self.shown.remove(id);
        }
        self.shown.insert(Arc::clone(id));
        true
    }

    /// The groups that changed since they were last taken.
    pub(super) fn changed(&self) -> impl Iterator<Item = &GroupId> {
        self.changed.keys().map(Arc::as_ref)
    }

    /// Returns whether every change since the last call of [`take_changed`](Self::take_changed) is a later version of
    /// an object in the last report of its group.
    pub(super) fn are_updates(&self) -> bool {
        let is_update = |(id, change): (&Arc<GroupId>, &GroupChange)| {
            let last = self.last(id);
            let is_in = |last: &LastReport| {
                let mut updated = change.updated.iter();
                updated.all(|member| last.positions.contains_key(member))
            };
            !change.is_more && last.is_some_and(is_in)
        };
        self.changed.iter().all(is_update)
    }

    /// The groups that changed since the last call.
    pub(super) fn take_changed(&mut self) -> BTreeMap<Arc<GroupId>, GroupChange> {
        std::mem::take(&mut self.changed)
    }

    /// Adds an object to a group. Returns whether its application is new.
    pub(super) fn join(
        &mut self,
        id: Arc<GroupId>,
        (scope, object): (ScopeId, Id),
        is_anchor: bool,
    ) -> bool {
        let group = self.by_id.entry(Arc::clone(&id)).or_default();
        if group.members.insert(object) {
            *self.by_scope.entry(scope).or_default() += 1;
        }
        let mut is_new = false;
        if let GroupId::Application { application, .. } = &*id
            && is_anchor
        {
            let name = Arc::clone(&application.composite_app);
            let anchors = self.anchors.entry(name).or_default();
            let count = anchors.entry(application.clone()).or_default();
            is_new = *count == 0;
            *count += 1;
        }
        self.note_changed(id);
        is_new
    }

    /// Takes an object out of a group. Returns whether the application has no objects left.
    pub(super) fn leave(
        &mut self,
        id: Arc<GroupId>,
        (scope, object): (ScopeId, Id),
        was_anchor: bool,
    ) -> bool {
        if let Some(group) = self.by_id.get_mut(&id) {
            if group.members.remove(&object)
                && let Some(count) = self.by_scope.get_mut(&scope)
            {
                *count = count.saturating_sub(1);
            }
            // A new object may get the number of this object before the next report.
            if let Some(last) = &mut group.last {
                last.positions.remove(&object);
            }
            if group.members.is_empty() {
                self.by_id.remove(&id);
            }
        }
        let is_gone = match &*id {
            GroupId::Application { application, .. } => was_anchor && self.lift_anchor(application),
            GroupId::Deployment(_) => false,
        };
        self.note_changed(id);
        is_gone
    }

    /// Returns whether the object was the last one of its application.
    fn lift_anchor(&mut self, application: &DigName) -> bool {
        let Some(anchors) = self.anchors.get_mut(&application.composite_app) else {
            return false;
        };
        let Some(count) = anchors.get_mut(application) else {
            return false;
        };
        *count = count.saturating_sub(1);
        if *count > 0 {
            return false;
        }
        anchors.remove(application);
        if anchors.is_empty() {
            self.anchors.remove(&application.composite_app);
        }
        true
    }
}
