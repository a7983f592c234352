//! Tries a set with a new version on reported objects before it is published.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_model::{Gvk, Object, Phase, Verdict};

use crate::compare::ReportedGroup;
use crate::fault::Fault;
use crate::limits::Limits;
use crate::published::Published;
use crate::related::Siblings;
use crate::settings_trial::place;
use crate::stats::CallStats;
use crate::worker::Worker;

/// Maximum time of a trial on its thread. A version that fails on each call by its deadline of 50
/// ms is then known to fail on 200 objects. Objects that the trial has not reached are not tried.
const TRIAL_TIME_MAX: Duration = Duration::from_secs(10);
/// Maximum number of objects that a trial judges: all objects of one interpreter on a large server.
const TRIAL_OBJECTS_MAX: u64 = 100_000;
/// Maximum number of Kinds and reasons in the result, more than a message shows.
const WORSE_KINDS_MAX: usize = 64;

/// The result of a trial of a new version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriedVersion {
    /// Number of objects that the new set judged: the objects of Kinds for which the sets use
    /// different interpreters, or the same interpreter with different settings.
    pub objects: u64,
    /// Number of these objects whose call ends in a fault with the new set, but in a verdict with
    /// the live one.
    pub worse: u64,
    /// These objects by Kind and reason of the fault. At most 64; further ones only count in
    /// `worse`.
    pub worse_kinds: BTreeMap<(Gvk, Arc<str>), u64>,
    /// The first of these objects with its fault, as text for the operator of the host. It may
    /// contain data of the object.
    pub first: Option<String>,
    /// False if the limit of the time or of the number of objects ended the trial early.
    pub is_complete: bool,
}

/// Judges the reported objects for which `new` may give another verdict than `live`, and counts the
/// objects that would get worse: those with a fault that they do not have now. A fault of the
/// settings counts, and an object that its interpreter cannot read does not.
///
/// Makes at most two calls per object, for at most ten seconds and 100,000 objects, without an
/// effect on live interpreters. Blocks: never call it on an executor's thread.
pub fn try_version(
    limits: &Limits,
    live: &Arc<Published>,
    new: &Arc<Published>,
    groups: &[ReportedGroup],
    now_ms: i64,
) -> TriedVersion {
    let worker = || Worker::isolated(limits.clone(), Arc::<CallStats>::default());
    let mut trial = VersionTrial {
        live,
        new,
        workers: (worker(), worker()),
        now_ms,
        begun: Instant::now(),
        tried: TriedVersion {
            objects: 0,
            worse: 0,
            worse_kinds: BTreeMap::new(),
            first: None,
            is_complete: true,
        },
    };
    for group in groups {
        if !trial.add(group) {
            trial.tried.is_complete = false;
            break;
        }
    }
    trial.tried
}

struct VersionTrial<'t> {
    live: &'t Arc<Published>,
    new: &'t Arc<Published>,
    /// The workers of the live set and of the new set.
    workers: (Worker, Worker),
    now_ms: i64,
    begun: Instant,
    tried: TriedVersion,
}

impl VersionTrial<'_> {
    /// Judges the objects of a group. Returns false if a limit ended the trial.
    fn add(&mut self, group: &ReportedGroup) -> bool {
        let siblings = Siblings::beside(&group.objects, &group.related);
        let siblings = siblings.covered(group.covered.clone());
        let (live, new) = (self.live, self.new);
        let asked = group.objects.iter();
        for object in asked.filter(|object| live.differs(new, &object.gvk)) {
            let is_late = self.begun.elapsed() >= TRIAL_TIME_MAX;
            if is_late || self.tried.objects >= TRIAL_OBJECTS_MAX {
                return false;
            }
            self.tried.objects += 1;
            let verdict = (self.workers.1).judge(new, object, &siblings, self.now_ms);
            // Few versions have faults, so the live set is seldom asked.
            if is_fault(&verdict) {
                let before = (self.workers.0).judge(live, object, &siblings, self.now_ms);
                if !is_fault(&before) {
                    self.record(group, object, &verdict);
                }
            }
            // The number of objects may be very large, and queries must not wait for all of them.
            std::thread::yield_now();
        }
        true
    }

    fn record(&mut self, group: &ReportedGroup, object: &Object, fault: &Verdict) {
        let tried = &mut self.tried;
        tried.worse += 1;
        let key = (object.gvk.clone(), Arc::clone(&fault.reason));
        if tried.worse_kinds.len() < WORSE_KINDS_MAX || tried.worse_kinds.contains_key(&key) {
            *tried.worse_kinds.entry(key).or_default() += 1;
        }
        tried.first.get_or_insert_with(|| {
            let label = group.label.as_deref().unwrap_or("an unnamed group");
            format!("{}: {}", place(object, label), fault.message)
        });
    }
}

/// Returns whether a call ended in a fault of the interpreter or of its settings.
fn is_fault(verdict: &Verdict) -> bool {
    let settings = Fault::InvalidSettings(String::new());
    verdict.phase == Phase::Unknown
        && (Fault::is_reason(&verdict.reason) || *verdict.reason == *settings.reason())
}
