//! Reports of the groups that changed.

use std::hash::BuildHasher as _;

use kindsight_model::Coverage;

use super::groups::Group;
use super::related::{AskedFor, Beside};
use super::{GroupId, Inventory, Key, Report, entry};
use crate::kubernetes::decode::Body;

/// An object of a report was not read yet.
struct NotRead;

impl Inventory {
    /// Reports of the groups that changed since the last call and of which every object was read. `coverage`
    /// is that of what is seen of the cluster.
    pub(in crate::kubernetes) fn take_reports(&mut self, coverage: &Coverage) -> Vec<Report> {
        let mut asked = Vec::new();
        let mut asked_for = AskedFor::default();
        for id in self.groups.take_changed() {
            if !self.is_reported(&id) {
                continue;
            }
            let members = self.groups.get(&id).map(Group::members);
            let members: Vec<Key> = members.into_iter().flatten().cloned().collect();
            if members.iter().any(|key| self.missing.has(key)) {
                self.groups.note_changed(id);
                continue;
            }
            let is_all_asked = self.ask(&id, &members, &mut asked_for);
            asked.push((id, members, is_all_asked));
        }
        self.answer(asked_for);
        let mut reports = Vec::new();
        for (id, members, is_all_asked) in asked {
            match self.report(&id, &members, is_all_asked, coverage) {
                Ok(report) => reports.extend(report),
                Err(NotRead) => self.groups.note_changed(id),
            }
        }
        reports
    }

    /// Returns whether a group that changed waits for its objects, or for those beside them.
    pub(in crate::kubernetes) fn is_any_waiting(&self) -> bool {
        self.groups.changed().any(|id| self.is_reported(id))
    }

    /// The report of a group; none where it is the last one again.
    fn report(
        &mut self,
        id: &GroupId,
        members: &[Key],
        is_all_asked: bool,
        coverage: &Coverage,
    ) -> Result<Option<Report>, NotRead> {
        let beside = self.beside(id, members, is_all_asked);
        let Beside { keys, covered } = beside.ok_or(NotRead)?;
        let entries = |keys| {
            let entry = |key| Some((key, self.entries.get(key)?));
            <[Key]>::iter(keys).filter_map(entry)
        };
        let changes = |keys| -> Vec<u64> { entries(keys).map(|(_, it)| it.change).collect() };
        let contents = (changes(members), changes(&keys), covered.complete());
        let contents = self.hasher.hash_one(contents);
        if !self.groups.note_report(id, contents) {
            return Ok(None);
        }
        let related = self.objects(&keys);
        let beside = entry::Beside {
            related,
            covered,
            coverage,
            taken: self.taken.remove(id).unwrap_or_default(),
        };
        let report = entry::report(id, entries(members), beside);
        // Their trees go with the report: nobody here reads them again.
        for key in members.iter().chain(&keys) {
            if let Some(Body::Whole(object)) = self.entries.get_mut(key).map(|it| &mut it.body) {
                object.settle();
            }
        }
        Ok(Some(report))
    }
}
