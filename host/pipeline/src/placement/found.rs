//! One app of an application that was found, in one cluster: nothing is expected of it, so what was there
//! and went is known by its last report alone.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use kindsight_clusters::ApplicationReport;
use kindsight_model::{ClusterName, KindCoverage, Object, RejectedIdentity};
use kindsight_status::{ClusterView, LastKnown, ResourceView, Role, Staleness as Shown, Unseen};

use super::staleness::Staleness;
use super::{Placement, faults_of};
use crate::judge::Judge;

/// Maximum number of objects of one placement that are listed although they are not there; of more, those
/// that are missing longest are forgotten.
pub(crate) const ABSENT_MAX: usize = 1000;

/// Group, Kind, namespace and name: the version of an object may change.
type Identity = (Arc<str>, Arc<str>, Arc<str>, Arc<str>);

fn identity_of_last(last: &LastKnown) -> Identity {
    (
        Arc::clone(&last.gvk.group),
        Arc::clone(&last.gvk.kind),
        Arc::clone(&last.namespace),
        Arc::clone(&last.name),
    )
}

fn identity(object: &Object) -> Identity {
    (
        Arc::clone(&object.gvk.group),
        Arc::clone(&object.gvk.kind),
        Arc::clone(&object.namespace),
        Arc::clone(&object.name),
    )
}

fn identity_of(rejected: &RejectedIdentity) -> Identity {
    (
        Arc::clone(&rejected.gvk.group),
        Arc::clone(&rejected.gvk.kind),
        Arc::clone(&rejected.namespace),
        Arc::clone(&rejected.name),
    )
}

/// The part of a placement that only one of a found application has.
#[derive(Default)]
pub(super) struct Found {
    /// Positions of the hooks among the reported objects.
    hooks: BTreeSet<usize>,
    /// Objects that were reported and are no more.
    absent: BTreeMap<Identity, Absent>,
}

/// An object that was reported and is no more.
struct Absent {
    last: LastKnown,
    since_ms: i64,
    /// True if the cluster still reports on its Kind, so that it is known to be gone.
    is_gone: bool,
}

impl Found {
    pub(super) fn hooks(&self) -> BTreeSet<usize> {
        self.hooks.clone()
    }

    /// Forgets what is missing longest, where it is too much.
    fn limit(&mut self) {
        while self.absent.len() > ABSENT_MAX {
            let longest = self.absent.iter().min_by_key(|(_, it)| it.since_ms);
            let Some(longest) = longest.map(|(identity, _)| identity.clone()) else {
                return;
            };
            self.absent.remove(&longest);
        }
    }
}

/// The time at which what is gone since then is to be forgotten.
fn forget_at(since_ms: i64, gone_for: Duration) -> i64 {
    let gone_for = i64::try_from(gone_for.as_millis()).unwrap_or(i64::MAX);
    since_ms.saturating_add(gone_for)
}

impl Placement {
    /// A placement of an application that was found, before its first report.
    pub(crate) fn found(cluster: ClusterName) -> Self {
        Self {
            found: Some(Found::default()),
            ..Self::new(cluster)
        }
    }

    /// A placement as it was last known before the start, and shown so until its cluster is heard.
    pub(crate) fn remembered(view: ClusterView, stale: Shown) -> Self {
        let gone = view.resources().iter().filter(|it| it.role == Role::Gone);
        let gone = gone.map(|it| {
            let last = LastKnown::of(it);
            let absent = Absent {
                since_ms: it.since_ms.unwrap_or(stale.since_ms),
                is_gone: true,
                last,
            };
            (identity_of_last(&absent.last), absent)
        });
        let found = Found {
            hooks: BTreeSet::new(),
            absent: gone.collect(),
        };
        let mut placement = Self {
            found: Some(found),
            is_remembered: true,
            ..Self::new(view.cluster().clone())
        };
        placement.staleness.not_heard(stale);
        placement.view = Some(Arc::new(view));
        placement
    }

    /// Returns whether it is shown as it was before the start.
    pub(crate) fn is_remembered(&self) -> bool {
        self.is_remembered
    }

    /// Handles all that the cluster has of the app, and judges it. Returns whether verdicts of the next set
    /// on the previous report were discarded.
    pub(crate) fn report_found(
        &mut self,
        report: ApplicationReport,
        judge: Judge<'_>,
        gone_for: Duration,
        now_ms: i64,
    ) -> bool {
        let is_set_back = self.discard_recheck();
        self.staleness = Staleness::default();
        self.unreadable.clear();
        let absent = self.absent_in(&report, gone_for, now_ms);
        self.is_remembered = false;
        self.report_faults = faults_of(&report.rejected);
        self.reported = Some(report.objects.into());
        self.rejected = report.rejected.into();
        self.covered = Arc::new(report.covered);
        let mut found = Found {
            hooks: report.hooks,
            absent,
        };
        found.limit();
        self.found = Some(found);
        self.judge(judge, now_ms);
        is_set_back
    }

    /// Objects that were there and are not in this report. A child goes at once, and so does a hook, which tools delete
    /// when it has run. Of a Kind that nobody reports on any more it is not known whether it is there.
    fn absent_in(
        &mut self,
        report: &ApplicationReport,
        gone_for: Duration,
        now_ms: i64,
    ) -> BTreeMap<Identity, Absent> {
        let here = report.objects.iter().map(identity);
        let unread = report.rejected.iter();
        let unread = unread.filter_map(|it| it.identity.as_ref().map(identity_of));
        let here: HashSet<Identity, foldhash::quality::RandomState> = here.chain(unread).collect();
        let before = self.found.take().unwrap_or_default().absent;
        let before = before.into_iter().map(|(identity, it)| {
            let Absent {
                last,
                since_ms,
                is_gone,
            } = it;
            (identity, last, since_ms, is_gone)
        });
        let roots = self.view.iter().flat_map(|view| view.resources());
        let roots = roots.filter(|it| it.role == Role::Unsent && it.owner.is_none());
        // Of what is known from before the start there are no objects; else one without could not be read.
        let is_remembered = self.is_remembered;
        let roots = roots.filter(|it| it.object.is_some() || is_remembered);
        let roots = roots.map(|it: &ResourceView| {
            let last = LastKnown::of(it);
            (identity_of_last(&last), last, now_ms, false)
        });
        let mut absent = BTreeMap::new();
        for (identity, last, since_ms, was_gone) in before.chain(roots) {
            if here.contains(&identity) || absent.contains_key(&identity) {
                continue;
            }
            // Where it is covered in part, there may be others; this one was told of before.
            let is_gone =
                report.covered.covers(&last.gvk.group, &last.gvk.kind) != KindCoverage::Unknown;
            // Since it is known.
            let since_ms = if is_gone && !was_gone {
                now_ms
            } else {
                since_ms
            };
            if !(is_gone && forget_at(since_ms, gone_for) <= now_ms) {
                absent.insert(
                    identity,
                    Absent {
                        last,
                        since_ms,
                        is_gone,
                    },
                );
            }
        }
        absent
    }

    /// Resources that are listed although the last report has no object of them.
    pub(super) fn unseen(&self) -> Vec<Unseen> {
        let Some(found) = &self.found else {
            return Vec::new();
        };
        let unreadable = self.rejected.iter().filter_map(Unseen::unreadable);
        let absent = found.absent.values().map(|it| {
            let last = it.last.clone();
            if it.is_gone {
                Unseen::gone(last, it.since_ms)
            } else {
                Unseen::not_covered(last, it.since_ms)
            }
        });
        unreadable.chain(absent).collect()
    }

    /// The time at which something that is gone is to be forgotten, in Unix milliseconds; none while the
    /// cluster cannot be reached, since nothing goes then.
    pub(crate) fn forget_at_ms(&self, gone_for: Duration) -> Option<i64> {
        let found = self.found.as_ref()?;
        if self.staleness.is_unreachable() || self.is_remembered {
            return None;
        }
        let gone = found.absent.values().filter(|it| it.is_gone);
        gone.map(|it| forget_at(it.since_ms, gone_for)).min()
    }

    /// Forgets what is gone for long enough. Returns whether there was any.
    pub(crate) fn forget_gone(&mut self, gone_for: Duration, now_ms: i64) -> bool {
        let is_due = self.forget_at_ms(gone_for).is_some_and(|at| at <= now_ms);
        if !is_due {
            return false;
        }
        if let Some(found) = &mut self.found {
            found
                .absent
                .retain(|_, it| !it.is_gone || forget_at(it.since_ms, gone_for) > now_ms);
        }
        self.project(now_ms);
        true
    }

    /// Returns whether nothing is left of it. What was recorded always is something.
    pub(crate) fn is_empty(&self) -> bool {
        let is_nothing_absent = self.found.as_ref().is_some_and(|it| it.absent.is_empty());
        let is_nothing_here = self.reported.as_ref().is_none_or(|it| it.is_empty());
        is_nothing_absent && is_nothing_here && self.rejected.is_empty() && !self.is_remembered
    }
}
