//! Reports of the groups that changed.

use std::hash::BuildHasher as _;

use super::groups::Group;
use super::related::Beside;
use super::{GroupId, Inventory, Key, entry};
use crate::ApplicationReport;
use crate::kubernetes::decode::Body;

/// An object of a report was not read yet.
struct NotRead;

impl Inventory {
    /// Reports of the groups that changed since the last call and of which every object was read.
    pub(in crate::kubernetes) fn take_reports(&mut self) -> Vec<ApplicationReport> {
        let mut reports = Vec::new();
        for id in self.groups.take_changed() {
            match self.report(&id) {
                Ok(report) => reports.extend(report),
                Err(NotRead) => self.groups.note_changed(id),
            }
        }
        reports
    }

    /// The report of a group; none where it is the last one again.
    fn report(&mut self, id: &GroupId) -> Result<Option<ApplicationReport>, NotRead> {
        let members = self.groups.get(id).map(Group::members);
        let members: Vec<Key> = members.into_iter().flatten().cloned().collect();
        if members.iter().any(|key| self.missing.has(key)) {
            return Err(NotRead);
        }
        let Beside { keys, covered } = self.beside(id, &members).ok_or(NotRead)?;
        let entries = |keys| {
            let entry = |key| Some((key, self.entries.get(key)?));
            <[Key]>::iter(keys).filter_map(entry)
        };
        let changes = |keys| -> Vec<u64> { entries(keys).map(|(_, it)| it.change).collect() };
        let contents = (changes(&members), changes(&keys), covered.complete());
        let contents = self.hasher.hash_one(contents);
        if !self.groups.note_report(id, contents) {
            return Ok(None);
        }
        let related = self.objects(&keys);
        let report = entry::report(id, entries(&members), covered);
        // Their trees go with the report: nobody here reads them again.
        for key in members.iter().chain(&keys) {
            if let Some(Body::Whole(object)) = self.entries.get_mut(key).map(|it| &mut it.body) {
                object.settle();
            }
        }
        Ok(Some(ApplicationReport { related, ..report }))
    }
}
