//! Changed manifests that the cluster has not confirmed yet.
//!
//! A report without a spec does not show the spec that its status belongs to. After a manifest changed, the reported
//! status may belong to the previous manifest. The cluster confirms the change when the status differs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_model::{Digest, Object, ObjectList, Phase, RsyncStatus, Verdict};
use kindsight_status::{Expected, match_objects};
use serde_json::Value;

use crate::remembered::RememberedStatus;
use crate::shared::Timeouts;

/// The member of a status, or of a part of it, that names the generation which a controller observed.
const OBSERVED_GENERATION: &str = "observedGeneration";

/// Reason of a verdict on an object whose changed manifest is not confirmed.
pub(crate) const NOT_CONFIRMED: &str = "NotConfirmed";

/// Kind, namespace and name of a manifest.
type Key = (Arc<str>, Arc<str>, Arc<str>);

/// The resources of a placement whose changed manifests are not confirmed.
pub(super) struct Confirmations {
    waiting: BTreeMap<Key, AwaitedStatus>,
    /// Positions of their objects in the report.
    positions: BTreeSet<usize>,
    verdict: Verdict,
}

/// A resource whose changed manifest is not confirmed.
#[derive(Debug, Clone)]
struct AwaitedStatus {
    /// The mark of the status before the change.
    before: Arc<str>,
    /// When the changed manifest was first known to be applied, in Unix milliseconds. `None` while it is not.
    applied_ms: Option<i64>,
    /// True if [`Timeouts::confirmation`] ends the wait: the status is known, and has no `observedGeneration`.
    has_end: bool,
}

impl Default for Confirmations {
    fn default() -> Self {
        let message = "the manifest changed, and the reported status is the same as before";
        Self {
            waiting: BTreeMap::new(),
            positions: BTreeSet::new(),
            verdict: Verdict::host(Phase::Pending, NOT_CONFIRMED, message),
        }
    }
}

/// The manifests of a placement, and the report about them.
#[derive(Clone, Copy)]
pub(super) struct Manifested<'m> {
    pub(super) expected: &'m [Expected],
    /// The namespace of manifests that name none.
    pub(super) namespace: &'m str,
    /// The objects of the report. `None` before the first report.
    pub(super) objects: Option<&'m ObjectList>,
}

impl Manifested<'_> {
    /// The object of each manifest in the report, with its position.
    fn matched(&self) -> impl Iterator<Item = (&Expected, usize, &Object)> {
        let matches = self
            .objects
            .map(|objects| match_objects(self.expected, objects, self.namespace));
        let matches = self.expected.iter().zip(matches.unwrap_or_default());
        matches.filter_map(|(expected, position)| {
            let position = position?;
            Some((expected, position, self.objects?.get(position)?))
        })
    }
}

impl Confirmations {
    /// Begins to wait for each manifest in `expected` whose spec differs from the spec in `before`. A resource that
    /// waits already keeps its first status. Objects with a current spec, and objects whose status has no value, do not
    /// wait.
    pub(super) fn begin(&mut self, before: Manifested<'_>, expected: &[Expected]) {
        if before.objects.is_none() {
            return;
        }
        let known = before.expected.iter();
        let known: BTreeMap<Key, &Expected> =
            known.map(|resource| (key(resource), resource)).collect();
        let changed = expected.iter().filter(|next| {
            let known = known.get(&key(next));
            known.is_some_and(|known| has_other_spec(known, next))
        });
        let changed: BTreeSet<Key> = changed.map(key).collect();
        if changed.is_empty() {
            return;
        }
        for (expected, _, object) in before.matched() {
            let key = key(expected);
            if !object.lacks_spec() || !changed.contains(&key) {
                continue;
            }
            if let Some(before) = status_mark(object) {
                let waiting = AwaitedStatus {
                    before,
                    applied_ms: None,
                    has_end: false,
                };
                self.waiting.entry(key).or_insert(waiting);
            }
        }
    }

    /// Takes over the resources of a previous instance that still wait.
    pub(super) fn continue_from(&mut self, previous: &Self) {
        for (key, waiting) in &previous.waiting {
            let known = self.waiting.entry(key.clone());
            known.or_insert_with(|| waiting.clone());
        }
    }

    /// Waits for each manifest that differs from the manifests of its last-known statuses. Waits of before the start
    /// continue, and their time begins again.
    pub(super) fn restore(&mut self, last: &[&RememberedStatus], expected: &[Expected]) {
        let expected = expected.iter();
        let specs: BTreeMap<Key, Arc<str>> = expected
            .filter_map(|resource| Some((key(resource), spec_mark(resource.manifest.as_ref()?))))
            .collect();
        let mut confirmed = BTreeSet::new();
        for status in last {
            let RememberedStatus {
                kind,
                namespace,
                name,
                ..
            } = status;
            let key = (Arc::clone(kind), Arc::clone(namespace), Arc::clone(name));
            if status.spec.is_some() && status.spec.as_ref() == specs.get(&key) {
                confirmed.insert(key.clone());
            }
            let waiting = AwaitedStatus {
                before: Arc::clone(&status.status),
                applied_ms: None,
                has_end: false,
            };
            self.waiting.insert(key, waiting);
        }
        self.waiting.retain(|key, _| !confirmed.contains(key));
    }

    /// Ends a wait if the resource has another status, or if its status has no `observedGeneration` and it waited for
    /// [`Timeouts::confirmation`]. Returns whether other objects wait than before. Called after each change of the
    /// placement.
    pub(super) fn settle(&mut self, now: Manifested<'_>, timeouts: Timeouts, now_ms: i64) -> bool {
        let mut positions = BTreeSet::new();
        if !self.waiting.is_empty() {
            let expected: BTreeMap<Key, &Expected> = now
                .expected
                .iter()
                .map(|resource| (key(resource), resource))
                .collect();
            self.waiting.retain(|key, waiting| {
                let expected = expected.get(key);
                expected.is_some_and(|resource| waiting.note_rsync(resource.rsync, now_ms))
            });
            // An object that is not in the report has no status that could end the wait.
            for waiting in self.waiting.values_mut() {
                waiting.has_end = false;
            }
            for (expected, position, object) in now.matched() {
                let key = key(expected);
                let Some(waiting) = self.waiting.get_mut(&key) else {
                    continue;
                };
                let is_unconfirmed = waiting.is_unconfirmed_by(object);
                let is_over = waiting.end_ms(timeouts).is_some_and(|end| end <= now_ms);
                if is_unconfirmed && !is_over {
                    positions.insert(position);
                } else {
                    self.waiting.remove(&key);
                }
            }
        }
        let before = std::mem::replace(&mut self.positions, positions);
        before != self.positions
    }

    /// Returns whether no resource waits, and none waited before the last change.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.positions.is_empty()
    }

    /// When the first wait ends without a confirmation, in Unix milliseconds.
    pub(super) fn due_ms(&self, timeouts: Timeouts) -> Option<i64> {
        self.waiting
            .values()
            .filter_map(|waiting| waiting.end_ms(timeouts))
            .min()
    }

    /// The verdict on the object at a position, if its manifest is not confirmed.
    pub(super) fn verdict(&self, at: usize) -> Option<&Verdict> {
        self.positions.contains(&at).then_some(&self.verdict)
    }

    /// Replaces the verdicts on the objects whose manifests are not confirmed.
    pub(super) fn replace(&self, verdicts: &mut [Verdict]) {
        for &at in &self.positions {
            if let Some(verdict) = verdicts.get_mut(at) {
                *verdict = self.verdict.clone();
            }
        }
    }
}

impl AwaitedStatus {
    /// Returns whether an object has the status of before the change. Notes whether the wait ends by itself.
    fn is_unconfirmed_by(&mut self, object: &Object) -> bool {
        let is_same = object.lacks_spec() && status_mark(object).as_ref() == Some(&self.before);
        self.has_end = is_same && !has_observed_generation(object);
        is_same
    }

    /// Notes the result of sending the manifest. Returns whether the wait continues.
    fn note_rsync(&mut self, rsync: Option<RsyncStatus>, now_ms: i64) -> bool {
        match rsync {
            Some(RsyncStatus::Applied) => {
                self.applied_ms.get_or_insert(now_ms);
                true
            }
            Some(RsyncStatus::Pending | RsyncStatus::Retrying) => {
                self.applied_ms = None;
                true
            }
            None | Some(RsyncStatus::Failed | RsyncStatus::Deleted) => false,
        }
    }

    /// When the wait ends without a confirmation, in Unix milliseconds. `None` if it does not end.
    fn end_ms(&self, timeouts: Timeouts) -> Option<i64> {
        let timeout = timeouts.confirmation.filter(|_| self.has_end)?;
        let timeout_ms = i64::try_from(timeout.as_millis()).ok()?;
        Some(self.applied_ms?.saturating_add(timeout_ms))
    }
}

fn key(expected: &Expected) -> Key {
    let Expected {
        gvk,
        namespace,
        name,
        ..
    } = expected;
    (
        Arc::clone(&gvk.kind),
        Arc::clone(namespace),
        Arc::clone(name),
    )
}

/// Returns whether two manifests of a resource have different specs. Two versions with the same text cost one
/// comparison.
fn has_other_spec(before: &Expected, next: &Expected) -> bool {
    match (&before.manifest, &next.manifest) {
        (Some(before), Some(next)) if !before.is_unchanged(next) => {
            before.member("spec") != next.member("spec")
        }
        _ => false,
    }
}

/// A mark of the status of an object, which differs for each status. `None` if the status has no value. The mark is
/// stored, so it must be the same in later releases.
pub(crate) fn status_mark(object: &Object) -> Option<Arc<str>> {
    let status = object.member("status").filter(has_value)?;
    let digest = Digest::of(status.to_string().as_bytes());
    Some(digest.short().into())
}

/// Returns whether the status names the generation that a controller observed: as a member, or in a condition or
/// another part. Such a status changes after each change of the spec.
fn has_observed_generation(object: &Object) -> bool {
    object
        .member("status")
        .is_some_and(|status| names_generation(&status))
}

fn names_generation(status: &Value) -> bool {
    match status {
        Value::Array(items) => items.iter().any(names_generation),
        Value::Object(members) => members.iter().any(|(name, value)| {
            (name == OBSERVED_GENERATION && !value.is_null()) || names_generation(value)
        }),
        _ => false,
    }
}

/// A mark of the spec of a manifest, which differs for each spec. The mark is stored, so it must be the same in later
/// releases.
pub(crate) fn spec_mark(manifest: &Object) -> Arc<str> {
    let spec = manifest.member("spec").unwrap_or_default();
    Digest::of(spec.to_string().as_bytes()).short().into()
}

/// Returns whether a status says something: any number, text or truth value in it.
fn has_value(status: &Value) -> bool {
    match status {
        Value::Null => false,
        Value::Array(items) => items.iter().any(has_value),
        Value::Object(members) => members.values().any(has_value),
        _ => true,
    }
}
