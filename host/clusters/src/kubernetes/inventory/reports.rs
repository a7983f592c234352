//! Reports of the groups that changed.

mod content;

use std::hash::BuildHasher as _;

use kindsight_model::Coverage;

use super::entry::Entry;
use super::groups::Group;
use super::objects::Id;
use super::related::{AskedFor, Beside};
use super::{GroupId, Inventory, Report};
pub(super) use content::rank;

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
            let members: Vec<Id> = members.into_iter().flatten().collect();
            if members.iter().any(|id| self.is_missing(*id)) {
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
        members: &[Id],
        is_all_asked: bool,
        coverage: &Coverage,
    ) -> Result<Option<Report>, NotRead> {
        let beside = self.beside(id, members, is_all_asked);
        let Beside { ids, covered } = beside.ok_or(NotRead)?;
        let entries = |ids| <[Id]>::iter(ids).filter_map(|id| self.objects.get(*id));
        let changes = |ids| -> Vec<u64> { entries(ids).map(Entry::change).collect() };
        let contents = (changes(members), changes(&ids), covered.complete());
        let contents = self.hasher.hash_one(contents);
        if !self.groups.note_report(id, contents) {
            return Ok(None);
        }
        let related = self.related(&ids);
        let beside = content::Beside {
            related,
            covered,
            coverage,
            taken: self.taken.remove(id).unwrap_or_default(),
        };
        let members_of: Vec<&Entry> = entries(members).collect();
        let report = content::report(id, &members_of, beside);
        // Their trees go with the report: nobody here reads them again.
        for id in members.iter().chain(&ids) {
            if let Some(entry) = self.objects.get_mut(*id) {
                entry.settle();
            }
        }
        Ok(Some(report))
    }
}
