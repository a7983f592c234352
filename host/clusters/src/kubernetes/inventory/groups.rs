//! The apps of the applications of one cluster, and which of them changed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kindsight_model::DigName;

use super::GroupId;
use super::objects::Id;
use crate::kubernetes::news::WatchId;

/// The groups that have objects.
#[derive(Debug, Default)]
pub(super) struct Groups {
    by_id: HashMap<Arc<GroupId>, Group>,
    changed: BTreeSet<Arc<GroupId>>,
    /// Number of objects of each application that name it by themselves, by its name and then its namespace.
    anchors: HashMap<Arc<str>, BTreeMap<DigName, usize>>,
    /// Number of objects of each watch.
    by_watch: HashMap<WatchId, usize>,
}

/// One app of one application.
#[derive(Debug, Default)]
pub(super) struct Group {
    members: BTreeSet<Id>,
    /// A hash of the last report; none until there was one.
    reported: Option<u64>,
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

    pub(super) fn ids(&self) -> impl Iterator<Item = &GroupId> {
        self.by_id.keys().map(Arc::as_ref)
    }

    /// The id of a group, shared with the group where that has objects.
    pub(super) fn known(&self, id: GroupId) -> Arc<GroupId> {
        let known = self.by_id.get_key_value(&id);
        known.map_or_else(|| Arc::new(id), |(known, _)| Arc::clone(known))
    }

    /// Number of objects in all groups.
    pub(super) fn members(&self) -> usize {
        self.by_watch.values().sum()
    }

    /// Number of objects of one watch in all groups.
    pub(super) fn members_of(&self, watch: WatchId) -> usize {
        self.by_watch.get(&watch).copied().unwrap_or_default()
    }

    /// The only application of a name; none if there are several or none.
    pub(super) fn only_application(&self, name: &str) -> Option<DigName> {
        let mut applications = self.anchors.get(name)?.keys();
        let first = applications.next()?;
        applications.next().is_none().then(|| first.clone())
    }

    pub(super) fn note_changed(&mut self, id: Arc<GroupId>) {
        self.changed.insert(id);
    }

    /// Has a group reported, also where it is as it was.
    pub(super) fn note_again(&mut self, id: Arc<GroupId>) {
        if let Some(group) = self.by_id.get_mut(&id) {
            group.reported = None;
        }
        self.changed.insert(id);
    }

    pub(super) fn note_all_changed(&mut self) {
        self.changed.extend(self.by_id.keys().cloned());
    }

    /// Notes the contents of a report. Returns whether they are others than those of the last one.
    pub(super) fn note_report(&mut self, id: &GroupId, contents: u64) -> bool {
        let group = self.by_id.get_mut(id);
        group.is_none_or(|it| it.reported.replace(contents) != Some(contents))
    }

    /// The groups that changed since they were last taken.
    pub(super) fn changed(&self) -> impl Iterator<Item = &GroupId> {
        self.changed.iter().map(Arc::as_ref)
    }

    /// The groups that changed since the last call.
    pub(super) fn take_changed(&mut self) -> BTreeSet<Arc<GroupId>> {
        std::mem::take(&mut self.changed)
    }

    /// Adds an object to a group. Returns whether its application is new.
    pub(super) fn join(
        &mut self,
        id: Arc<GroupId>,
        (watch, object): (WatchId, Id),
        is_anchor: bool,
    ) -> bool {
        let group = self.by_id.entry(Arc::clone(&id)).or_default();
        if group.members.insert(object) {
            *self.by_watch.entry(watch).or_default() += 1;
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
        self.changed.insert(id);
        is_new
    }

    /// Takes an object out of a group. Returns whether its application is gone.
    pub(super) fn leave(
        &mut self,
        id: Arc<GroupId>,
        (watch, object): (WatchId, Id),
        was_anchor: bool,
    ) -> bool {
        if let Some(group) = self.by_id.get_mut(&id) {
            if group.members.remove(&object)
                && let Some(count) = self.by_watch.get_mut(&watch)
            {
                *count = count.saturating_sub(1);
            }
            if group.members.is_empty() {
                self.by_id.remove(&id);
            }
        }
        let is_gone = match &*id {
            GroupId::Application { application, .. } => was_anchor && self.lift_anchor(application),
            GroupId::Deployment(_) => false,
        };
        self.changed.insert(id);
        is_gone
    }

    /// Returns whether it was the last of its application.
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
