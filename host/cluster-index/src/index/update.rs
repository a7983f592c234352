//! Later versions of objects that keep their group. Most changes are changes of a status.

use super::ClusterIndex;
use super::entry::Entry;
use super::objects::Id;
use super::relations::sought;
use crate::decoded::{Body, Decoded};

impl ClusterIndex {
    /// Returns whether a version of a member changes its content alone: not its owners, labels, application or
    /// relations.
    pub(super) fn is_update(&self, id: Id, decoded: &Decoded) -> bool {
        let (Some(entry), Body::Whole(object)) = (self.objects.get(id), &decoded.body) else {
            return false;
        };
        let is_read = matches!(entry.body(), Body::Whole(_)) && !entry.lacks_body();
        let is_member = entry.place().is_any();
        if !(is_read && is_member && entry.is_same_relative(decoded)) {
            return false;
        }
        let scope = self.scopes.get(&entry.scope());
        let rules = scope
            .map(|scope| &scope.rules)
            .filter(|rules| !rules.is_empty());
        rules.map(|rules| sought(rules, object)).as_ref() == entry.sought()
    }

    /// Takes a later version of a member. The cost does not grow with the number of members of its group.
    pub(super) fn update(&mut self, id: Id, pass: Option<u64>, mut decoded: Decoded) {
        self.changes += 1;
        self.texts.share_texts(&mut decoded);
        self.take_inventory(id, decoded.take_inventory());
        let Some(entry) = self.objects.get_mut(id) else {
            return;
        };
        entry.pass = pass.unwrap_or(entry.pass);
        let sought = entry.take_sought();
        entry.replace(decoded, self.changes, &mut self.texts);
        entry.seek(sought);
        let own: Vec<_> = entry.place().groups().cloned().collect();
        let entry = self.objects.get(id);
        let finders = entry.map(|entry| self.queries.finders(id, entry));
        for group in finders.unwrap_or_default() {
            if !own.contains(&group) {
                self.groups.note_changed(group);
            }
        }
        for group in own {
            self.groups.note_updated(group, id);
        }
    }
}

impl Entry {
    /// Returns whether a version of this object has the same owners, labels and application.
    fn is_same_relative(&self, decoded: &Decoded) -> bool {
        self.is_same_owner(decoded) && *self.labels() == *decoded.labels
    }
}
