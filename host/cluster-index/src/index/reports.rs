//! Reports of the groups that changed.

mod content;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher as _;
use std::sync::Arc;

use kindsight_model::{Coverage, Object, Origin, Report};

use super::entry::Entry;
use super::groups::{Group, GroupChange, LastReport};
use super::objects::Id;
use super::related::{AskedFor, Beside};
use super::{ClusterIndex, GroupId, GroupReport};
use crate::decoded::Body;
pub(super) use content::rank;

/// The body of a reported object was not read yet.
struct NotRead;

impl ClusterIndex {
    /// Reports on the groups that changed since the last call. A group waits until every body was read. Meanwhile,
    /// later versions of the objects in its last report are reported, so that all apps of an application show the same
    /// moment. `coverage` is the coverage of the cluster.
    pub fn take_reports(&mut self, coverage: &Coverage) -> Vec<GroupReport> {
        let mut asked = Vec::new();
        let mut asked_for = AskedFor::default();
        let mut reports = Vec::new();
        let are_inventories_awaited = self.are_inventories_awaited();
        for (id, change) in self.groups.take_changed() {
            if !self.is_reported(&id) {
                continue;
            }
            let GroupChange { updated, is_more } = change;
            if !is_more && let Some(report) = self.updated(&id, &updated, coverage) {
                reports.push(report);
                continue;
            }
            // An inventory may list objects that the report lacks.
            let is_inventory_awaited =
                are_inventories_awaited && matches!(*id, GroupId::Application { .. });
            let members = self.groups.get(&id).map(Group::members);
            let members: Vec<Id> = members.into_iter().flatten().collect();
            if is_inventory_awaited || members.iter().any(|id| self.is_awaited(*id)) {
                reports.extend(self.waiting(&id, &updated, coverage));
                continue;
            }
            let is_all_asked = self.ask(&id, &members, &mut asked_for);
            asked.push((id, updated, members, is_all_asked));
        }
        self.answer(asked_for);
        for (id, updated, members, is_all_asked) in asked {
            match self.report(&id, &members, is_all_asked, coverage) {
                Ok(report) => reports.extend(report),
                Err(NotRead) => reports.extend(self.waiting(&id, &updated, coverage)),
            }
        }
        reports
    }

    /// Returns whether the next reports only contain later versions of objects in the last reports.
    pub fn are_updates(&self) -> bool {
        self.groups.are_updates()
    }

    /// Notes that a group waits for a body. Returns the report on the later versions of its reported objects. The report
    /// lacks objects, so it does not have a better coverage than the last report.
    fn waiting(
        &mut self,
        id: &Arc<GroupId>,
        updated: &BTreeSet<Id>,
        coverage: &Coverage,
    ) -> Option<GroupReport> {
        self.groups.note_changed(Arc::clone(id));
        let last = self.groups.last(id)?;
        let is_reported = |member: &&Id| {
            let body = self.objects.get(**member).map(Entry::body);
            last.positions.contains_key(member) && matches!(body, Some(Body::Whole(_)))
        };
        let updated: BTreeSet<Id> = updated.iter().filter(is_reported).copied().collect();
        if updated.is_empty() {
            return None;
        }
        let before = &last.report.coverage;
        if before == coverage {
            return self.updated(id, &updated, coverage);
        }
        let worst = before.worst_of(coverage);
        self.updated(id, &updated, &worst)
    }

    /// Returns whether a changed group waits for the bodies of its objects or of related objects, or an application for
    /// its missing resources.
    pub fn is_any_waiting(&self) -> bool {
        let is_group_waiting = self.groups.changed().any(|id| self.is_reported(id));
        is_group_waiting || self.are_inventories_awaited() || self.are_inventories_changed()
    }

    /// The report on a group in which only these members have later versions; none if the last report does not
    /// contain them. The cost does not grow with the number of members.
    fn updated(
        &mut self,
        id: &Arc<GroupId>,
        updated: &BTreeSet<Id>,
        coverage: &Coverage,
    ) -> Option<GroupReport> {
        let last = self.groups.last(id)?;
        let version = |member: &Id| {
            let position = *last.positions.get(member)?;
            match self.objects.get(*member)?.body() {
                Body::Whole(object) => Some((position, object.clone())),
                Body::NotAsked | Body::Unreadable(_) => None,
            }
        };
        let versions: Option<Vec<(usize, Object)>> = updated.iter().map(version).collect();
        let report = Report {
            objects: last.report.objects.with(versions?),
            coverage: coverage.clone(),
            ..last.report.clone()
        };
        self.groups.update_last(id, report.clone());
        Some((GroupId::clone(id), report))
    }

    /// The report on a group; none if it equals the last report.
    fn report(
        &mut self,
        id: &Arc<GroupId>,
        members: &[Id],
        is_all_asked: bool,
        coverage: &Coverage,
    ) -> Result<Option<GroupReport>, NotRead> {
        let beside = self.beside(id, members, is_all_asked);
        let Beside { ids, covered } = beside.ok_or(NotRead)?;
        let entries = |ids| <[Id]>::iter(ids).filter_map(|id| self.objects.get(*id));
        let changes = |ids| -> Vec<u64> { entries(ids).map(Entry::change).collect() };
        // A scope claims nothing, so several claims on its objects concern their applications.
        let contested = match &**id {
            GroupId::Application { application, .. } if application.is_health_scope() => {
                BTreeMap::new()
            }
            _ => self.contested(members),
        };
        let (origin, faults) = match &**id {
            GroupId::Application { application, .. } => {
                (Origin::Found, self.inventories.faults(application))
            }
            GroupId::Deployment(_) => (Origin::Direct, Vec::new()),
        };
        let contents = (
            changes(members),
            changes(&ids),
            &covered,
            &contested,
            &faults,
        );
        let contents = self.hasher.hash_one(contents);
        let removed = self.groups.take_removed(id);
        if !self.groups.note_report(id, contents) {
            return Ok(None);
        }
        let members_of = members.iter();
        let members_of = members_of.filter_map(|id| Some((*id, self.objects.get(*id)?)));
        let members_of: Vec<(Id, &Entry)> = members_of.collect();
        let (report, positions) = content::report(origin, &members_of);
        let claims = contested.into_iter();
        let claims = claims.filter_map(|(id, claims)| Some((*positions.get(&id)?, claims)));
        let report = Report {
            claims: Arc::new(claims.collect()),
            related: self.related(&ids),
            related_coverage: covered,
            coverage: coverage.clone(),
            removed,
            faults,
            ..report
        };
        let is_news = self.groups.note_shown(id, report.is_empty());
        if origin == Origin::Found && !is_news {
            return Ok(None);
        }
        let last = LastReport {
            report: Report {
                removed: Vec::new(),
                ..report.clone()
            },
            positions,
        };
        self.groups.note_last(id, last);
        Ok(Some((GroupId::clone(id), report)))
    }
}
