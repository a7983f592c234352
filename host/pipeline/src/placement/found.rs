//! One app of an application that was found, in one cluster: nothing is expected of it, so what was there
//! and went is known by its last report alone.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use kindsight_clusters::ApplicationReport;
use kindsight_model::{ClusterName, KindCoverage};
use kindsight_status::{ClusterView, LastKnown, ResourceView, Role, Staleness as Shown, Unseen};

use super::absent::{Absent, Identity, forget_at, identity, identity_of, identity_of_last};
use super::{Placement, Uncovered, faults_of};
use crate::judge::Judge;

/// Maximum number of objects of one placement that are listed although they are not there; of more, those
/// that are missing longest are forgotten.
pub(crate) const ABSENT_MAX: usize = 1000;

/// The part of a placement that only one of a found application has.
#[derive(Default)]
pub(super) struct Found {
    /// Positions of the hooks among the reported objects.
    hooks: BTreeSet<usize>,
    /// Objects that were reported and are no more.
    absent: BTreeMap<Identity, Absent>,
}

impl Found {
    pub(super) fn hooks(&self) -> BTreeSet<usize> {
        self.hooks.clone()
    }

    fn has_unconfirmed(&self) -> bool {
        self.absent.values().any(|it| it.unconfirmed.is_some())
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
                is_from_start: false,
                unconfirmed: None,
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
        (gone_for, uncovered): (Duration, Uncovered<'_>),
        now_ms: i64,
    ) -> bool {
        let is_set_back = self.discard_recheck();
        let not_heard = std::mem::take(&mut self.staleness).into_not_heard();
        self.unreadable.clear();
        let absent = self.absent_in(&report, (gone_for, uncovered), now_ms);
        self.is_remembered = false;
        self.report_faults = faults_of(&report.rejected);
        self.reported = Some(report.objects.into());
        self.related = report.related.into();
        self.rejected = report.rejected.into();
        self.covered = Arc::new(report.covered);
        let mut found = Found {
            hooks: report.hooks,
            absent,
        };
        found.limit();
        if let Some(not_heard) = not_heard.filter(|_| found.has_unconfirmed()) {
            self.staleness.not_heard(not_heard);
        }
        self.found = Some(found);
        self.judge(judge, now_ms);
        is_set_back
    }

    /// Objects that were there and are not in this report. A child goes at once, and so does a hook, which tools delete
    /// when it has run. Of a Kind that nobody reports on any more it is not known whether it is there.
    fn absent_in(
        &mut self,
        report: &ApplicationReport,
        (gone_for, uncovered): (Duration, Uncovered<'_>),
        now_ms: i64,
    ) -> BTreeMap<Identity, Absent> {
        let here = report.objects.iter().map(identity);
        let unread = report.rejected.iter();
        let unread = unread.filter_map(|it| it.identity.as_ref().map(identity_of));
        // They are still there, and an `AppContext` covers them.
        let taken = report.taken.iter().map(identity);
        let here = here.chain(unread).chain(taken);
        let here: HashSet<Identity, foldhash::quality::RandomState> = here.collect();
        let before = self.found.take().unwrap_or_default().absent;
        // Where it is told by other rules, it may be of another application.
        let views = self.view.iter().filter(|_| !report.is_sorted_anew);
        let roots = views.flat_map(|view| view.resources());
        let roots = roots.filter(|it| it.role == Role::Unsent && it.owner.is_none());
        // Of what is known from before the start there are no objects; else one without could not be read.
        let is_remembered = self.is_remembered;
        let roots = roots.filter(|it| it.object.is_some() || is_remembered);
        let roots = roots.map(|it: &ResourceView| {
            let absent = Absent::of(it, is_remembered, now_ms);
            (identity_of_last(&absent.last), absent)
        });
        let mut absent = BTreeMap::new();
        for (identity, mut it) in before.into_iter().chain(roots) {
            if here.contains(&identity) || absent.contains_key(&identity) {
                continue;
            }
            let gvk = &it.last.gvk;
            if it.unconfirmed.is_none() {
                // Where it is covered in part, there may be others; this one was told of before.
                let is_gone = report.covered.covers(&gvk.group, &gvk.kind) != KindCoverage::Unknown
                    && !(it.is_from_start && uncovered.has(gvk));
                if is_gone && !it.is_gone {
                    // Since it is known.
                    it.since_ms = now_ms;
                }
                it.is_gone = is_gone;
            }
            if !(it.is_gone && forget_at(it.since_ms, gone_for) <= now_ms) {
                absent.insert(identity, it);
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
            match &it.unconfirmed {
                Some(verdict) => Unseen::unconfirmed(last, verdict.clone()),
                None if it.is_gone => Unseen::gone(last, it.since_ms),
                None => Unseen::not_covered(last, it.since_ms),
            }
        });
        unreadable.chain(absent).collect()
    }

    /// The time at which something that is gone is to be forgotten, or what is missing since the start is known to
    /// be gone, in Unix milliseconds; none while the cluster cannot be reached, since nothing goes then.
    pub(crate) fn forget_at_ms(&self, gone_for: Duration) -> Option<i64> {
        let found = self.found.as_ref()?;
        if self.staleness.is_unreachable() || self.is_remembered {
            return None;
        }
        let due = found.absent.values().filter_map(|it| it.due_ms(gone_for));
        due.min()
    }

    /// Forgets what is gone for long enough. Returns whether there was any, or anything is known to be gone.
    pub(crate) fn forget_gone(
        &mut self,
        gone_for: Duration,
        uncovered: Uncovered<'_>,
        now_ms: i64,
    ) -> bool {
        if self.staleness.is_unreachable() || self.is_remembered {
            return false;
        }
        let Some(found) = &mut self.found else {
            return false;
        };
        let confirmed = found.absent.values_mut();
        let confirmed = confirmed.map(|it| it.confirm(uncovered, now_ms));
        let is_confirmed = confirmed.filter(|&did| did).count() > 0;
        let before = found.absent.len();
        found
            .absent
            .retain(|_, it| !it.is_gone || forget_at(it.since_ms, gone_for) > now_ms);
        if !is_confirmed && found.absent.len() == before {
            return false;
        }
        if !found.has_unconfirmed() {
            self.staleness.heard();
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
