//! Judges the same objects by two sets, and says which verdicts differ.
//!
//! Nothing that is live takes part: two workers of its own run on the thread of the caller, remember
//! nothing, and count for themselves. So it takes no place in the workers' queue and leaves no trace
//! in what is known of the live interpreters.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use kindsight_model::{Gvk, Object, Verdict};

use crate::fault::Fault;
use crate::limits::Limits;
use crate::published::Published;
use crate::related::Siblings;
use crate::stats::{CallSnapshot, CallStats};
use crate::worker::Worker;

/// Samples of one change: enough to see what is alike in them.
const SAMPLES_MAX: usize = 5;
/// Changes that are told: more than anybody reads.
const CHANGES_MAX: usize = 200;
/// Kinds of which it is remembered whether the sets differ; over it they are looked up again.
const KINDS_MAX: usize = 4096;

/// Objects that were reported together: they are each other's related objects.
#[derive(Debug, Clone)]
pub struct Place {
    /// How samples call it.
    pub label: Arc<str>,
    /// What was reported there.
    pub objects: Arc<[Object]>,
}

/// What differs between two sets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Objects that both judged: those of Kinds about which the sets ask somebody else, or the same
    /// one with other settings.
    pub objects: u64,
    /// How many of them got another phase, state, reason or message.
    pub changed: u64,
    /// Whether every object was come to; not where `should_stop` ended it.
    pub is_complete: bool,
    /// What the calls of the old set came to, all its interpreters together.
    pub old: CallSnapshot,
    /// What the calls of the new set came to.
    pub new: CallSnapshot,
    /// What changed, most first, then by Kind. At most 200; the rest is in `changed` alone.
    pub changes: Vec<Change>,
}

/// Objects of one Kind of which the state changed in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Their Kind.
    pub gvk: Gvk,
    /// Their state by the old set.
    pub from: Arc<str>,
    /// Their state by the new set; the same where only phase, reason or message differ.
    pub to: Arc<str>,
    /// How many there are.
    pub count: u64,
    /// The first of them, at most 5.
    pub samples: Vec<Sample>,
}

/// One object of which the verdict changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The label of its place.
    pub place: Arc<str>,
    /// Its namespace; empty if it has none.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// What the old set says.
    pub from: Verdict,
    /// What the new set says.
    pub to: Verdict,
}

/// Judges every object of `places` by both sets, as of `now_ms`. Objects of Kinds about which the
/// sets do not differ ([`Published::differs`]) are passed over.
///
/// Takes two calls an object, each bounded by `limits`, and blocks: never call it on an executor's
/// thread. `should_stop` is asked before each object; what was found until then is answered.
pub fn compare(
    limits: &Limits,
    old: &Arc<Published>,
    new: &Arc<Published>,
    places: &[Place],
    now_ms: i64,
    should_stop: &dyn Fn() -> bool,
) -> Comparison {
    let mut comparer = Comparer::new(limits, old, new);
    for place in places {
        if !comparer.add(place, now_ms, should_stop) {
            break;
        }
    }
    comparer.finish()
}

/// As [`compare`], for places that come one after the other: it keeps counts and samples, no objects.
pub struct Comparer {
    old: Side,
    new: Side,
    differs: HashMap<Gvk, bool, foldhash::quality::RandomState>,
    changes: HashMap<Key, Tally, foldhash::quality::RandomState>,
    comparison: Comparison,
}

/// One of the two sets, and who judges by it.
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
    /// A comparison of nothing yet.
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

    /// Judges the objects of one place. Answers whether it came to all of them; after `false` there
    /// is nothing to be done but to finish.
    pub fn add(&mut self, place: &Place, now_ms: i64, should_stop: &dyn Fn() -> bool) -> bool {
        let siblings = Siblings::of(Arc::clone(&place.objects));
        for object in place.objects.iter() {
            if should_stop() {
                self.comparison.is_complete = false;
                return false;
            }
            if self.differs(&object.gvk) {
                let from = self.old.judge(object, &siblings, now_ms);
                let to = self.new.judge(object, &siblings, now_ms);
                self.note(place, object, from, to);
                // There may be very many, and others want the processor for less.
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

    fn note(&mut self, place: &Place, object: &Object, from: Verdict, to: Verdict) {
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
                place: Arc::clone(&place.label),
                namespace: Arc::clone(&object.namespace),
                name: Arc::clone(&object.name),
                from,
                to,
            });
        }
    }

    /// What was found.
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
    /// Where it stands among the others.
    fn rank(&self) -> impl Ord + '_ {
        (Reverse(self.count), &self.gvk, &self.from, &self.to)
    }
}

/// Whether people read the same. When to look again is the host's business.
fn is_same(old: &Verdict, new: &Verdict) -> bool {
    old.phase == new.phase
        && old.state == new.state
        && old.reason == new.reason
        && (old.message == new.message || without_blame(old) == without_blame(new))
}

/// The message without who is to blame: the same fault of another version is the same.
fn without_blame(verdict: &Verdict) -> &str {
    let message = &*verdict.message;
    let blamed = verdict.by.as_deref().map(Fault::blamed).unwrap_or_default();
    message.strip_prefix(&*blamed).unwrap_or(message)
}

#[cfg(test)]
mod tests;
