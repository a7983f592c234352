//! Judges the same objects by two sets of interpreters and reports which verdicts differ.
//!
//! Isolated from what is live: two workers of its own run on the caller's thread, without a memo
//! and with their own statistics. So it neither waits in the workers' queue nor changes the
//! statistics of the live interpreters.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use kindsight_model::{CoveredKinds, Gvk, Object, Verdict};

use crate::fault::Fault;
use crate::limits::Limits;
use crate::published::Published;
use crate::related::Siblings;
use crate::stats::{CallSnapshot, CallStats};
use crate::worker::Worker;

/// Samples of one change: enough to see what they have in common.
const SAMPLES_MAX: usize = 5;
/// Changes that are reported: more than anybody reads.
const CHANGES_MAX: usize = 200;
/// Kinds for which it is remembered whether the sets differ; over the limit they are looked up
/// again.
const KINDS_MAX: usize = 4096;

/// Objects that were reported together: they are each other's related objects.
#[derive(Debug, Clone)]
pub struct ReportedGroup {
    /// Name of the group in samples.
    pub label: Arc<str>,
    /// The objects.
    pub objects: Arc<[Object]>,
    /// Objects that they name by a relation and that belong elsewhere: not judged.
    pub related: Arc<[Object]>,
    /// The Kinds of which these are all.
    pub covered: Arc<CoveredKinds>,
}

/// Differences between the verdicts of two sets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Objects judged by both: those of Kinds for which the sets ask different interpreters, or the
    /// same one with other settings.
    pub objects: u64,
    /// Number of them with another phase, state, reason or message.
    pub changed: u64,
    /// True if every object was judged; false where `should_stop` ended it.
    pub is_complete: bool,
    /// Statistics of the calls of the old set, all its interpreters together.
    pub old: CallSnapshot,
    /// Statistics of the calls of the new set.
    pub new: CallSnapshot,
    /// Changes, most frequent first, then by Kind. At most 200; the rest is in `changed` alone.
    pub changes: Vec<Change>,
}

/// Objects of one Kind whose state changed in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Their Kind.
    pub gvk: Gvk,
    /// Their state by the old set.
    pub from: Arc<str>,
    /// Their state by the new set; the same where only phase, reason or message differ.
    pub to: Arc<str>,
    /// Number of objects.
    pub count: u64,
    /// The first of them, at most 5.
    pub samples: Vec<Sample>,
}

/// One object whose verdict changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Label of its group.
    pub place: Arc<str>,
    /// Its namespace; empty if it has none.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Verdict of the old set.
    pub from: Verdict,
    /// Verdict of the new set.
    pub to: Verdict,
}

/// Judges every object of `groups` by both sets, as of `now_ms`. Objects of Kinds for which the
/// sets do not differ ([`Published::differs`]) are skipped.
///
/// Takes two calls an object, each bounded by `limits`, and blocks: never call it on an executor's
/// thread. `should_stop` is called before each object; where it answers true, what was found until
/// then is returned.
pub fn compare(
    limits: &Limits,
    old: &Arc<Published>,
    new: &Arc<Published>,
    groups: &[ReportedGroup],
    now_ms: i64,
    should_stop: &dyn Fn() -> bool,
) -> Comparison {
    let mut comparer = Comparer::new(limits, old, new);
    for group in groups {
        if !comparer.add(group, now_ms, should_stop) {
            break;
        }
    }
    comparer.finish()
}

/// As [`compare`], for groups that come one after the other: it keeps counts and samples, no
/// objects.
pub struct Comparer {
    old: Side,
    new: Side,
    differs: HashMap<Gvk, bool, foldhash::quality::RandomState>,
    changes: HashMap<Key, Tally, foldhash::quality::RandomState>,
    comparison: Comparison,
}

/// One of the two sets, and the worker that judges by it.
struct Side {
    set: Arc<Published>,
    worker: Worker,
    stats: Arc<CallStats>,
}

/// Kind, state by the old set, state by the new set.
type Key = (Gvk, Arc<str>, Arc<str>);

#[derive(Default)]
struct Tally {
    count: u64,
    samples: Vec<Sample>,
}

impl Comparer {
    /// Starts a comparison, with nothing judged yet.
    pub fn new(limits: &Limits, old: &Arc<Published>, new: &Arc<Published>) -> Self {
        Self {
            old: Side::new(limits, old),
            new: Side::new(limits, new),
            differs: HashMap::default(),
            changes: HashMap::default(),
            comparison: Comparison {
                is_complete: true,
                ..Comparison::default()
            },
        }
    }

    /// Judges the objects of one group. Returns whether all of them were judged; after `false` only
    /// [`Self::finish`] remains to be called.
    pub fn add(
        &mut self,
        group: &ReportedGroup,
        now_ms: i64,
        should_stop: &dyn Fn() -> bool,
    ) -> bool {
        let siblings = Siblings::beside(&group.objects, &group.related);
        let siblings = siblings.covered(Arc::clone(&group.covered));
        for object in group.objects.iter() {
            if should_stop() {
                self.comparison.is_complete = false;
                return false;
            }
            if self.differs(&object.gvk) {
                let from = self.old.judge(object, &siblings, now_ms);
                let to = self.new.judge(object, &siblings, now_ms);
                self.record(group, object, from, to);
                // There may be very many objects; queries must not wait for all of them.
                std::thread::yield_now();
            }
        }
        true
    }

    fn differs(&mut self, gvk: &Gvk) -> bool {
        if let Some(differs) = self.differs.get(gvk) {
            return *differs;
        }
        if self.differs.len() >= KINDS_MAX {
            self.differs.clear();
        }
        let differs = self.old.set.differs(&self.new.set, gvk);
        self.differs.insert(gvk.clone(), differs);
        differs
    }

    fn record(&mut self, group: &ReportedGroup, object: &Object, from: Verdict, to: Verdict) {
        self.comparison.objects += 1;
        if is_same(&from, &to) {
            return;
        }
        self.comparison.changed += 1;
        let states = (Arc::clone(&from.state), Arc::clone(&to.state));
        let key = (object.gvk.clone(), states.0, states.1);
        let tally = self.changes.entry(key).or_default();
        tally.count += 1;
        if tally.samples.len() < SAMPLES_MAX {
            tally.samples.push(Sample {
                place: Arc::clone(&group.label),
                namespace: Arc::clone(&object.namespace),
                name: Arc::clone(&object.name),
                from,
                to,
            });
        }
    }

    /// Ends the comparison and returns its result.
    pub fn finish(self) -> Comparison {
        let changes = self.changes.into_iter();
        let mut changes: Vec<Change> = changes.map(Change::from).collect();
        changes.sort_unstable_by(|a, b| a.rank().cmp(&b.rank()));
        changes.truncate(CHANGES_MAX);
        Comparison {
            old: self.old.stats.snapshot(),
            new: self.new.stats.snapshot(),
            changes,
            ..self.comparison
        }
    }
}

impl Side {
    fn new(limits: &Limits, set: &Arc<Published>) -> Self {
        let stats = Arc::new(CallStats::default());
        Self {
            set: Arc::clone(set),
            worker: Worker::isolated(limits.clone(), Arc::clone(&stats)),
            stats,
        }
    }

    fn judge(&mut self, object: &Object, siblings: &Siblings, now_ms: i64) -> Verdict {
        self.worker.judge(&self.set, object, siblings, now_ms)
    }
}

impl From<(Key, Tally)> for Change {
    fn from(((gvk, from, to), tally): (Key, Tally)) -> Self {
        Self {
            gvk,
            from,
            to,
            count: tally.count,
            samples: tally.samples,
        }
    }
}

impl Change {
    /// Sort key: most frequent first.
    fn rank(&self) -> impl Ord + '_ {
        (Reverse(self.count), &self.gvk, &self.from, &self.to)
    }
}

/// Returns whether both read the same to users; the time of the next check is not compared.
fn is_same(old: &Verdict, new: &Verdict) -> bool {
    old.phase == new.phase
        && old.state == new.state
        && old.reason == new.reason
        && (old.message == new.message || without_prefix(old) == without_prefix(new))
}

/// The message without the interpreter it names: the same fault of another version is no change.
fn without_prefix(verdict: &Verdict) -> &str {
    let message = &*verdict.message;
    let prefix = verdict
        .by
        .as_deref()
        .map(Fault::message_prefix)
        .unwrap_or_default();
    message.strip_prefix(&*prefix).unwrap_or(message)
}
