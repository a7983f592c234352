//! One subject: its last report, and the report that the server has.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem;
use std::sync::Arc;

use kindsight_model::{Gvk, Identity, Object, ObjectList, Removal, Report, Subject};

use crate::agent::frames::Frames;
use crate::agent::slots::Slots;
use crate::wire::{
    ClaimsLine, GoneLine, Line, Part, RejectedLine, RemovedLine, ReportLine, WireOrigin,
    object_line,
};

/// Maximum number of removed objects of one subject whose reasons are kept until they are sent. Of further ones, the
/// coverage decides whether they are gone.
const REMOVED_MAX: usize = 10_000;
/// Size of one part of the status that a monitor wrote, in bytes.
const TEXT_BYTES: usize = 256 * 1024;

/// The reports on one subject.
#[derive(Debug, Default)]
pub(super) struct SubjectState {
    /// The last report of the source; none if the source no longer reports on the subject.
    current: Option<Report>,
    /// The report that the server has at the end of the frames.
    sent: Option<Report>,
    /// True if the server may not have the last report at the end of the frames.
    is_changed: bool,
    /// True if the source has withdrawn the subject, and the frames do not say it.
    is_withdrawn: bool,
    /// The same, in frames that the server may not have received.
    is_withdrawn_in_frames: bool,
    /// Objects that were removed and are not in the frames yet, with their reasons.
    removed: BTreeMap<Identity, Removal>,
    /// Objects that were removed and are in frames that the server may not have received.
    removed_in_frames: BTreeMap<Identity, Removal>,
}

impl SubjectState {
    /// Takes a report of the source.
    pub(super) fn take(&mut self, mut report: Report) {
        for (identity, removal) in report.removed.drain(..) {
            if self.removed.len() < REMOVED_MAX {
                self.removed.insert(identity, removal);
            }
        }
        self.current = Some(report);
        self.is_changed = true;
    }

    /// Notes that the source no longer reports on the subject. Later reports are not compared with earlier ones.
    pub(super) fn withdraw(&mut self) {
        self.current = None;
        self.removed.clear();
        self.is_withdrawn = true;
        self.is_changed = true;
    }

    /// Begins an epoch: the server knows no report, and may not have received the removals.
    pub(super) fn begin_epoch(&mut self) {
        self.sent = None;
        self.is_changed = true;
        self.is_withdrawn |= mem::take(&mut self.is_withdrawn_in_frames);
        let in_frames = mem::take(&mut self.removed_in_frames);
        self.removed.extend(in_frames);
    }

    /// Forgets the removals, because the server has received them. Returns whether another epoch need not mention the
    /// subject: the source withdrew it, or it is an application without objects.
    pub(super) fn settle(&mut self, subject: &Subject) -> bool {
        self.removed_in_frames.clear();
        self.is_withdrawn_in_frames = false;
        !self.is_changed
            && self
                .current
                .as_ref()
                .is_none_or(|report| is_forgotten(subject, report))
    }

    /// Writes the change since the report that the server has, if there is one.
    pub(super) fn write(&mut self, subject: &Subject, slots: &mut Slots, frames: &mut Frames) {
        if !mem::take(&mut self.is_changed) {
            return;
        }
        if mem::take(&mut self.is_withdrawn)
            && let Subject::Deployment(deployment) = subject
        {
            let deployment = deployment.to_string();
            frames.line(&Line::Gone(GoneLine { deployment }));
            self.sent = None;
            self.is_withdrawn_in_frames = true;
        }
        self.write_report(subject, slots, frames);
    }

    /// Writes the difference between the report that the server has and the last report.
    fn write_report(&mut self, subject: &Subject, slots: &mut Slots, frames: &mut Frames) {
        let Some(current) = self.current.clone() else {
            return;
        };
        let Some(origin) = WireOrigin::of(current.origin) else {
            return;
        };
        let removed = self.write_removed(&current, frames);
        let empty = Report::empty(current.origin);
        let is_new = self.sent.is_none();
        let sent = self.sent.as_ref().unwrap_or(&empty);
        let objects = write_list(&sent.objects, &current.objects, frames);
        let related = write_list(&sent.related, &current.related, frames);
        let coverage = (is_new || sent.coverage != current.coverage)
            .then(|| slots.of(&current.coverage, frames));
        let related_coverage = (is_new || sent.related_coverage != current.related_coverage)
            .then(|| slots.of(&current.related_coverage, frames));
        let line = ReportLine {
            subject: subject.into(),
            origin,
            fresh: is_new,
            objects,
            related,
            hooks: (sent.hooks != current.hooks).then(|| current.hooks.iter().copied().collect()),
            claims: write_claims(sent, &current, frames),
            rejected: write_rejected(sent, &current, frames),
            removed,
            coverage,
            related_coverage,
            faults: (sent.faults != current.faults).then(|| current.faults.clone()),
            status_texts: write_status(sent, &current, frames),
        };
        frames.line(&Line::Report(Box::new(line)));
        self.sent = Some(current).filter(|sent| !is_forgotten(subject, sent));
    }

    /// Writes the removed objects. They are kept until the server has received them, because another epoch must repeat
    /// them.
    fn write_removed(&mut self, current: &Report, frames: &mut Frames) -> Option<usize> {
        if self.removed.is_empty() {
            return None;
        }
        let present: BTreeSet<Identity> = current.objects.iter().map(Identity::from).collect();
        let mut removed = mem::take(&mut self.removed);
        removed.retain(|identity, _| !present.contains(identity));
        for (identity, removal) in &removed {
            frames.line(&Line::Removed(RemovedLine::new(identity, *removal)));
        }
        let count = removed.len();
        self.removed_in_frames.extend(removed);
        (count > 0).then_some(count)
    }
}

/// Returns whether the server forgets a subject after this report: an application without objects.
fn is_forgotten(subject: &Subject, report: &Report) -> bool {
    report.is_empty() && matches!(subject, Subject::Application { .. })
}

fn write_claims(sent: &Report, current: &Report, frames: &mut Frames) -> Option<usize> {
    if Arc::ptr_eq(&sent.claims, &current.claims) || sent.claims == current.claims {
        return None;
    }
    for (position, claims) in current.claims.iter() {
        frames.line(&Line::Claims(ClaimsLine::new(*position, claims)));
    }
    Some(current.claims.len())
}

fn write_rejected(sent: &Report, current: &Report, frames: &mut Frames) -> Option<usize> {
    if sent.rejected == current.rejected {
        return None;
    }
    for rejected in &current.rejected {
        frames.line(&Line::Rejected(RejectedLine::from(rejected)));
    }
    Some(current.rejected.len())
}

fn write_status(sent: &Report, current: &Report, frames: &mut Frames) -> Option<usize> {
    if sent.status_json == current.status_json {
        return None;
    }
    let mut rest = current.status_json.as_deref().unwrap_or_default();
    let mut count = 0;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(rest.floor_char_boundary(TEXT_BYTES));
        frames.line(&Line::Text(part.into()));
        rest = after;
        count += 1;
    }
    Some(count)
}

/// Writes the new objects of a list. Returns the parts of the list; none if it did not change.
fn write_list(before: &ObjectList, after: &ObjectList, frames: &mut Frames) -> Option<Vec<Part>> {
    let parts = match after.changed_since(before) {
        Some(changed) if changed.is_empty() => return None,
        Some(changed) if are_versions(before, after, &changed) => parts_of(after.len(), &changed),
        _ => parts_by_identity(before, after),
    };
    let mut position = 0;
    for part in &parts {
        match part {
            Part::Kept(_, count) => position += count,
            Part::New(count) => {
                for object in (position..position + count).filter_map(|at| after.get(at)) {
                    frames.text(&object_line(object));
                }
                position += count;
            }
        }
    }
    Some(parts)
}

/// Returns whether the objects at these positions are the same objects in both lists.
fn are_versions(before: &ObjectList, after: &ObjectList, changed: &[usize]) -> bool {
    changed.iter().all(|at| {
        let (before, after) = (before.get(*at), after.get(*at));
        let pair = before.zip(after);
        pair.is_some_and(|(before, after)| key(before) == key(after))
    })
}

/// The parts of a list with new objects at some positions, which are in order.
fn parts_of(len: usize, changed: &[usize]) -> Vec<Part> {
    let mut parts = Parts::default();
    let mut next = 0;
    for at in changed {
        parts.keep(next, at.saturating_sub(next));
        parts.add();
        next = at + 1;
    }
    parts.keep(next, len.saturating_sub(next));
    parts.0
}

/// The parts of a list whose objects have other positions than before.
fn parts_by_identity(before: &ObjectList, after: &ObjectList) -> Vec<Part> {
    let positions: HashMap<_, usize> = before.iter().map(key).zip(0..).collect();
    let mut parts = Parts::default();
    for object in after {
        let known = positions.get(&key(object)).copied();
        let known = known.filter(|at| {
            let before = before.get(*at);
            before.is_some_and(|before| object.is_unchanged(before))
        });
        match known {
            Some(at) => parts.keep(at, 1),
            None => parts.add(),
        }
    }
    parts.0
}

/// The identity of an object in a list.
fn key(object: &Object) -> (&Gvk, &str, &str, &str) {
    (&object.gvk, &object.namespace, &object.name, &object.uid)
}

/// Parts. Consecutive parts are joined.
#[derive(Default)]
struct Parts(Vec<Part>);

impl Parts {
    fn keep(&mut self, start: usize, count: usize) {
        match self.0.last_mut() {
            _ if count == 0 => {}
            Some(Part::Kept(first, kept)) if *first + *kept == start => *kept += count,
            _ => self.0.push(Part::Kept(start, count)),
        }
    }

    fn add(&mut self) {
        match self.0.last_mut() {
            Some(Part::New(count)) => *count += 1,
            _ => self.0.push(Part::New(1)),
        }
    }
}
