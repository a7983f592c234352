//! Judges the same objects with two sets of interpreters, and reports the verdicts that differ.
//!
//! A comparison is isolated from the live interpreters: it runs two workers on the caller's thread,
//! without a memo and with separate statistics. It does not wait in the workers' queue and does not
//! change the statistics of the live interpreters.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use kindsight_model::{Coverage, Gvk, Object, ObjectList, Verdict};

use crate::fault::Fault;
use crate::limits::Limits;
use crate::published::Published;
use crate::related::Siblings;
use crate::stats::{CallSnapshot, CallStats};
use crate::worker::Worker;

/// Maximum number of samples of one change, enough to recognise what they have in common.
const SAMPLES_MAX: usize = 5;
/// Maximum number of reported changes, more than a person reads.
const CHANGES_MAX: usize = 200;
/// Maximum number of applications in a result, more than a person reads.
const APPLICATIONS_MAX: usize = 200;
/// Maximum number of applications whose changes are counted. Changes of further ones only count in
/// the totals. More than a server has.
const APPLICATIONS_COUNTED_MAX: usize = 100_000;
/// Maximum number of Kinds for which the result of the check for differences is cached. If there
/// are more, the check is repeated.
const KINDS_MAX: usize = 4096;

/// The label whose value names the application of an object that no source assigned to one.
const INSTANCE_LABEL: &str = "app.kubernetes.io/instance";

/// Objects that were reported together. Related objects are searched among them.
#[derive(Debug, Clone)]
pub struct ReportedGroup {
    /// The label of the group in samples and errors; `None` if neither may show an object of the group.
    pub label: Option<Arc<str>>,
    /// The application of the objects, as text for users. If it is `None`, each object is counted
    /// for the application in its label `app.kubernetes.io/instance`.
    pub application: Option<Arc<str>>,
    /// The objects.
    pub objects: ObjectList,
    /// Objects of other groups to which relations of these objects refer. They are not judged.
    pub related: ObjectList,
    /// The coverage of related objects.
    pub covered: Coverage,
}

/// Differences between the verdicts of two sets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Number of objects that both sets judged: the objects of Kinds for which the sets use
    /// different interpreters, or the same interpreter with different settings.
    pub objects: u64,
    /// Number of these objects with a different phase, state, reason or message.
    pub changed: u64,
    /// Number of these objects with a different phase.
    pub phases_changed: u64,
    /// True if every object was judged; false if `should_stop` ended the comparison.
    pub is_complete: bool,
    /// Statistics of the calls of all interpreters of the old set.
    pub old: CallSnapshot,
    /// Statistics of the calls of all interpreters of the new set.
    pub new: CallSnapshot,
    /// Changes, most frequent first, then by Kind. At most 200; further changes only count in
    /// `changed`.
    pub changes: Vec<Change>,
    /// Number of applications with such objects, except applications that are not known.
    pub applications_changed: u64,
    /// The applications with such objects, most changed phases first, then most changes, then by
    /// name. At most 200.
    pub applications: Vec<ChangedApplication>,
}

/// An application with objects whose verdicts changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedApplication {
    /// Its name.
    pub name: Arc<str>,
    /// Number of its objects with a different verdict.
    pub changed: u64,
    /// Number of its objects with a different phase.
    pub phases_changed: u64,
}

/// Objects of one Kind whose state changed in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Their Kind.
    pub gvk: Gvk,
    /// Their state in the old set.
    pub from: Arc<str>,
    /// Their state in the new set. It is the same if only the phase, reason or message differs.
    pub to: Arc<str>,
    /// Number of objects.
    pub count: u64,
    /// The first of these objects, at most 5.
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
    /// The verdict of the old set.
    pub from: Verdict,
    /// The verdict of the new set.
    pub to: Verdict,
}

/// Judges every object of `groups` with both sets at the time `now_ms`. Skips objects of Kinds for
/// which the sets do not differ ([`Published::differs`]).
///
/// Makes two calls per object, each bounded by `limits`, and blocks: never call it on an executor's
/// thread. `should_stop` is called before each object. If it returns true, the result until then is
/// returned.
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

/// The same as [`compare`] for groups that arrive one after the other. It keeps counts and samples,
/// but no objects.
pub struct Comparer {
    old: Side,
    new: Side,
    differs: HashMap<Gvk, bool, foldhash::quality::RandomState>,
    changes: HashMap<Key, Tally, foldhash::quality::RandomState>,
    applications: BTreeMap<Arc<str>, ChangedApplication>,
    comparison: Comparison,
}

/// One of the two sets, and the worker that judges with it.
struct Side {
    set: Arc<Published>,
    worker: Worker,
    stats: Arc<CallStats>,
}

/// Kind, state in the old set, state in the new set.
type Key = (Gvk, Arc<str>, Arc<str>);

#[derive(Default)]
struct Tally {
    count: u64,
    samples: Vec<Sample>,
}

impl Comparer {
    /// Starts a comparison. No objects have been judged yet.
    pub fn new(limits: &Limits, old: &Arc<Published>, new: &Arc<Published>) -> Self {
        Self {
            old: Side::new(limits, old),
            new: Side::new(limits, new),
            differs: HashMap::default(),
            changes: HashMap::default(),
            applications: BTreeMap::new(),
            comparison: Comparison {
                is_complete: true,
                ..Comparison::default()
            },
        }
    }

    /// Judges the objects of one group. Returns whether all of them were judged. After `false`,
    /// only [`Self::finish`] may be called.
    pub fn add(
        &mut self,
        group: &ReportedGroup,
        now_ms: i64,
        should_stop: &dyn Fn() -> bool,
    ) -> bool {
        let siblings = Siblings::beside(&group.objects, &group.related);
        let siblings = siblings.covered(group.covered.clone());
        for object in group.objects.iter() {
            if should_stop() {
                self.comparison.is_complete = false;
                return false;
            }
            if self.differs(&object.gvk) {
                let from = self.old.judge(object, &siblings, now_ms);
                let to = self.new.judge(object, &siblings, now_ms);
                self.record(group, object, from, to);
                // The number of objects may be very large, and queries must not wait for all of
                // them.
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
        let is_other_phase = from.phase != to.phase;
        self.comparison.phases_changed += u64::from(is_other_phase);
        let application = group.application.clone().or_else(|| labelled(object));
        if let Some(application) = application {
            self.count(&application, is_other_phase);
        }
        let states = (Arc::clone(&from.state), Arc::clone(&to.state));
        let key = (object.gvk.clone(), states.0, states.1);
        let tally = self.changes.entry(key).or_default();
        tally.count += 1;
        if tally.samples.len() < SAMPLES_MAX {
            tally.samples.push(Sample {
                place: group.label.clone().unwrap_or_default(),
                namespace: Arc::clone(&object.namespace),
                name: Arc::clone(&object.name),
                from,
                to,
            });
        }
    }

    /// Counts a changed object of an application.
    fn count(&mut self, application: &Arc<str>, is_other_phase: bool) {
        let is_full = self.applications.len() >= APPLICATIONS_COUNTED_MAX;
        if is_full && !self.applications.contains_key(application) {
            return;
        }
        let counted = self.applications.entry(Arc::clone(application));
        let counted = counted.or_insert_with(|| ChangedApplication {
            name: Arc::clone(application),
            changed: 0,
            phases_changed: 0,
        });
        counted.changed += 1;
        counted.phases_changed += u64::from(is_other_phase);
    }

    /// Ends the comparison and returns its result.
    pub fn finish(self) -> Comparison {
        let changes = self.changes.into_iter();
        let mut changes: Vec<Change> = changes.map(Change::from).collect();
        changes.sort_unstable_by(|a, b| a.rank().cmp(&b.rank()));
        changes.truncate(CHANGES_MAX);
        let applications_changed = self.applications.len() as u64;
        let mut applications: Vec<ChangedApplication> = self.applications.into_values().collect();
        applications.sort_by_key(|counted| Reverse((counted.phases_changed, counted.changed)));
        applications.truncate(APPLICATIONS_MAX);
        Comparison {
            old: self.old.stats.snapshot(),
            new: self.new.stats.snapshot(),
            changes,
            applications_changed,
            applications,
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
    /// The sort key: most frequent first.
    fn rank(&self) -> impl Ord + '_ {
        (Reverse(self.count), &self.gvk, &self.from, &self.to)
    }
}

/// The name of an object's application according to its label.
fn labelled(object: &Object) -> Option<Arc<str>> {
    let mut labels = object.labels.iter();
    let (_, name) = labels.find(|(key, _)| **key == *INSTANCE_LABEL)?;
    Some(Arc::clone(name))
}

/// Returns whether both verdicts look the same to users. The time of the next check is not
/// compared.
fn is_same(old: &Verdict, new: &Verdict) -> bool {
    old.phase == new.phase
        && old.state == new.state
        && old.reason == new.reason
        && (old.message == new.message || without_prefix(old) == without_prefix(new))
}

/// The message without the name of the interpreter: the same fault of another version is not a
/// change.
fn without_prefix(verdict: &Verdict) -> &str {
    let message = &*verdict.message;
    let prefix = verdict
        .by
        .as_deref()
        .map(Fault::message_prefix)
        .unwrap_or_default();
    message.strip_prefix(&*prefix).unwrap_or(message)
}
