//! Changes of a placement, and the part of each that is its own.

use std::sync::Arc;

use kindsight_appcontext::{ClusterSnapshot, StoredBundle};
use kindsight_model::{DeploymentId, MissingResource, Origin, Report};
use kindsight_status::{ClusterView, Staleness};

use super::autoscalers::Autoscalers;
use super::confirmations::Manifested;
use super::freshness::Freshness;
use super::held_report::HeldReport;
use super::stored::LiveReport;
use super::{Applied, Environment, Placement, Work};
use crate::remembered::RememberedStatus;

/// Reason of a report on which the cluster no longer reports.
pub(super) const SILENT: &str =
    "the cluster no longer reports on this app; its last report is shown";

/// A change of a placement.
pub(crate) enum Change<'c> {
    /// The `AppContext` was read, or changed.
    Context {
        snapshot: &'c ClusterSnapshot,
        /// The namespace of manifests that name none.
        namespace: &'c Arc<str>,
        deployment: &'c DeploymentId,
    },
    /// Another host watched the cluster before, and showed this last. The state is out of date until this host has listed
    /// the cluster.
    PreviousOwner {
        view: &'c Arc<ClusterView>,
        stale: &'c Staleness,
    },
    /// The source of the cluster begins again, without knowledge of the reports of the earlier source. The state is out
    /// of date until the new source has listed the cluster.
    NewSource(&'c Staleness),
    /// The cluster reports on the app. Replaces its previous report.
    Report(Report),
    /// The autoscalers of the application in the cluster changed.
    Autoscalers(&'c Arc<Autoscalers>),
    /// The statuses of the placement that were reported before the start, without a spec.
    LastStatuses(&'c [&'c RememberedStatus]),
    /// The instance replaces another instance of its group, which has this placement.
    Succession(&'c Placement),
    /// Another instance of the same group received this report of the cluster, which is about both.
    Sibling(Box<LiveReport>),
    /// These resources of the app are missing, according to inventories in the cluster. Replaces the previous ones.
    Missing(Vec<MissingResource>),
    /// A report cannot be used; the previous one stays.
    Unreadable {
        origin: &'c str,
        error: &'c str,
        may_be_newer: bool,
    },
    /// The cluster no longer reports on the app.
    Silent,
    /// The source has sent every report of the cluster.
    Synced,
    /// The state of the cluster changed: its connection, its faults or its coverage.
    Cluster,
    /// The store of contexts is away since this time; none if it can be reached.
    Store(Option<&'c Staleness>),
    /// Time passed.
    Time,
}

impl Placement {
    /// Updates the part of the placement that a change is about. Returns the work that shows it.
    pub(super) fn take(
        &mut self,
        change: Change<'_>,
        env: Environment<'_>,
        applied: &mut Applied,
    ) -> Work {
        match change {
            Change::Context {
                snapshot,
                namespace,
                deployment,
            } => self.read_context(snapshot, namespace, deployment, env.now_ms),
            Change::PreviousOwner { view, stale } => self.take_over(view, stale),
            Change::NewSource(stale) => self.doubt(stale),
            Change::Report(report) => self.take_report(report, applied),
            Change::Autoscalers(autoscalers) => {
                self.desired.scale(autoscalers);
                self.complete_report()
            }
            Change::LastStatuses(last) => {
                self.confirmations.restore(last, self.desired.expected());
                Work::Nothing
            }
            Change::Succession(previous) => {
                self.succeed(previous);
                Work::Nothing
            }
            Change::Missing(resources) => {
                let is_changed = self.desired.miss(resources);
                if is_changed && self.report.is_some() {
                    Work::Project
                } else {
                    Work::Nothing
                }
            }
            Change::Sibling(live) => {
                self.stored.put_aside(live);
                self.bring_back_live()
            }
            Change::Unreadable {
                origin,
                error,
                may_be_newer,
            } => {
                let fault: Arc<str> = format!("report `{origin}`: {error}").into();
                if may_be_newer {
                    let reason = Arc::clone(&fault);
                    self.freshness
                        .set(Freshness::Unreadable, env.now_ms, reason);
                }
                self.note_unreadable(origin, fault);
                // Without a view there are no marks to replace.
                if self.view.is_none() {
                    Work::Project
                } else {
                    Work::Mark
                }
            }
            Change::Silent => {
                self.unreadable.clear();
                // The unreadable report is gone too, and its content is still not known.
                let since_ms = self.freshness.clear(Freshness::Unreadable);
                let since_ms = since_ms.unwrap_or(env.now_ms);
                self.freshness
                    .set(Freshness::ReporterBehind, since_ms, SILENT);
                Work::Nothing
            }
            Change::Synced => self.synced(env.now_ms),
            Change::Store(away) => {
                let away = away.filter(|_| !self.is_live());
                self.freshness.replace(Freshness::StoreAway, away);
                Work::Nothing
            }
            Change::Cluster => self.cover(env),
            Change::Time => Work::Nothing,
        }
    }

    /// Continues the states of a previous owner of the cluster. The first report replaces its resources. Reports that the
    /// cluster sent to this host before are older.
    pub(super) fn take_over(&mut self, view: &Arc<ClusterView>, stale: &Staleness) -> Work {
        self.forget_live();
        let Staleness { since_ms, reason } = stale;
        let reason = Arc::clone(reason);
        self.freshness
            .set(Freshness::Unconfirmed, *since_ms, reason);
        self.view = Some(Arc::clone(view));
        Work::Mark
    }

    /// Marks the report of an earlier source as not confirmed. The first report of the new source replaces it. Without
    /// one, the end of the list shows that the cluster does not report on the app any more.
    fn doubt(&mut self, stale: &Staleness) -> Work {
        if self.is_unconfirmed() {
            return Work::Nothing;
        }
        let known = self.freshness.shown();
        let stale = Staleness {
            since_ms: known.map_or(stale.since_ms, |known| known.since_ms.min(stale.since_ms)),
            reason: Arc::clone(&stale.reason),
        };
        self.stored.forget_aside();
        if self.desired.is_observed() {
            let view = self.view.take().filter(|_| self.report.is_some());
            *self = match view {
                Some(view) => Self::last_known(Arc::unwrap_or_clone(view), stale),
                None => Self::found(self.cluster.clone()),
            };
        } else if self.is_live() {
            // The new source sends again that a report cannot be read.
            self.unreadable.clear();
            self.freshness.clear(Freshness::Unreadable);
            let Staleness { since_ms, reason } = stale;
            self.freshness.set(Freshness::Unconfirmed, since_ms, reason);
        } else {
            return Work::Nothing;
        }
        Work::Mark
    }

    /// Replaces the resources that are sent. Resources with another spec wait for their confirmation.
    fn send(&mut self, snapshot: &ClusterSnapshot, namespace: &Arc<str>) {
        let before = self.desired.expected().to_vec();
        self.desired.send(&snapshot.resources, namespace);
        let before = Manifested {
            expected: &before,
            namespace,
            objects: self.report.as_ref().map(|report| &report.objects),
        };
        self.confirmations.begin(before, self.desired.expected());
    }

    /// Compares the manifests with the manifests of the replaced instance. Both instances have the same report.
    fn succeed(&mut self, previous: &Self) {
        self.confirmations.continue_from(&previous.confirmations);
        let before = Manifested {
            expected: previous.desired.expected(),
            namespace: &previous.desired.namespace(),
            objects: previous.report.as_ref().map(|report| &report.objects),
        };
        self.confirmations.begin(before, self.desired.expected());
    }

    /// Completes the objects of the report again. Verdicts of the next set on the objects of before are discarded.
    fn complete_report(&mut self) -> Work {
        let report = self.report.as_mut();
        if report.is_some_and(|report| report.complete_from(&self.desired)) {
            self.verdicts.discard_recheck();
            Work::Judge
        } else {
            Work::Nothing
        }
    }

    fn read_context(
        &mut self,
        snapshot: &ClusterSnapshot,
        namespace: &Arc<str>,
        deployment: &DeploymentId,
        now_ms: i64,
    ) -> Work {
        let is_sent = self.desired.sends(&snapshot.resources, namespace);
        if !is_sent {
            self.send(snapshot, namespace);
        }
        let is_new = match &snapshot.bundle {
            StoredBundle::Unchanged => false,
            StoredBundle::Json(json) => self.take_stored(deployment, json, now_ms),
            StoredBundle::Absent | StoredBundle::Damaged => {
                let is_damaged = snapshot.bundle == StoredBundle::Damaged;
                self.lose_stored(is_damaged, now_ms);
                false
            }
        };
        // After the report: whether the report or this is newer is not known, and a state that may be out of
        // date must not look current.
        self.take_connectivity(snapshot.connectivity, now_ms);
        let is_completed = !is_sent && self.complete_report() == Work::Judge;
        if is_new || is_completed {
            Work::JudgeAndProject
        } else if is_sent && self.view.is_some() {
            Work::Mark
        } else {
            Work::Project
        }
    }

    /// Returns whether it was reconciled with exactly this part of an `AppContext`.
    pub(crate) fn has_read(&self, snapshot: &ClusterSnapshot, namespace: &Arc<str>) -> bool {
        snapshot.bundle == StoredBundle::Unchanged
            && self.stored.connectivity() == snapshot.connectivity
            && self.desired.sends(&snapshot.resources, namespace)
    }

    fn take_report(&mut self, mut report: Report, applied: &mut Applied) -> Work {
        applied.is_set_back = self.verdicts.discard_recheck();
        if report.origin == Origin::Monitor {
            self.complete(&mut report);
        }
        let is_last_known = self.is_unconfirmed();
        self.freshness.clear_reported();
        self.unreadable.clear();
        self.stored.reported(&report);
        let report = match &mut self.report {
            Some(held) if !is_last_known => match held.update(report) {
                Ok(()) => return Work::Judge,
                Err(report) => *report,
            },
            _ => report,
        };
        let view = self.view.as_deref();
        applied.left = self.desired.observe(&report, view, is_last_known);
        self.report = Some(HeldReport::of(report, &self.desired));
        Work::Judge
    }

    /// The source has sent every report: a report of the cluster that waited is shown again. A report that the source
    /// did not send is out of date: a report of the store, or of an earlier source. The cluster does not report on a
    /// recorded app whose last state came from another host.
    pub(super) fn synced(&mut self, now_ms: i64) -> Work {
        let mut work = self.bring_back_live();
        let mut earlier_ms = self.freshness.clear(Freshness::NotConfigured);
        let is_recorded = !self.desired.is_observed();
        if is_recorded && let Some(since_ms) = self.freshness.clear(Freshness::Unconfirmed) {
            earlier_ms = Some(earlier_ms.map_or(since_ms, |earlier_ms| earlier_ms.min(since_ms)));
            work = work.max(Work::Project);
        }
        let is_unsent = is_recorded
            && self
                .report
                .as_ref()
                .is_some_and(|report| report.origin == Origin::Stored || earlier_ms.is_some());
        // A report that cannot be read is one.
        if is_unsent && !self.freshness.has(Freshness::Unreadable) {
            let since_ms = earlier_ms.unwrap_or(now_ms);
            self.freshness
                .set(Freshness::ReporterBehind, since_ms, SILENT);
        }
        work
    }

    /// Takes over the coverage of the cluster. A report has its own coverage until the next one is sent.
    fn cover(&mut self, env: Environment<'_>) -> Work {
        let report = self.report.as_mut().filter(|report| report.is_watched());
        let coverage = env.cluster.coverage();
        match (report, coverage) {
            (Some(report), Some(coverage)) if report.coverage != *coverage => {
                report.coverage = coverage.clone();
                Work::Project
            }
            _ => Work::Nothing,
        }
    }

    /// Follows the state of the cluster: outages, faults, and the Kinds that are not answered.
    pub(super) fn follow_cluster(&mut self, env: Environment<'_>, applied: &mut Applied) -> Work {
        let cluster = env.cluster;
        // It stays until the cluster reports on the app, or has sent every report.
        if let Some(not_configured) = cluster.not_configured() {
            self.unreadable.clear();
            if self.is_live() {
                self.freshness.clear(Freshness::Unreadable);
            }
            self.stored.forget_aside();
            self.freshness
                .replace(Freshness::NotConfigured, Some(not_configured));
        }
        self.freshness
            .replace(Freshness::Unreachable, cluster.unreachable());
        self.cluster_faults = Arc::clone(cluster.faults());
        let is_watched = self.report.as_ref().is_some_and(HeldReport::is_watched);
        let mut work = Work::Nothing;
        let may_forget = !self.is_outdated();
        if let Some(report) = &self.report
            && self
                .desired
                .settle(report, may_forget, &mut applied.left, env)
        {
            work = Work::Project;
        }
        let gap = if is_watched {
            self.gap(env)
        } else {
            self.gap_of_monitor(env)
        };
        self.freshness.replace(Freshness::Partial, gap.as_ref());
        self.unanswered = if is_watched {
            Arc::clone(cluster.unanswered())
        } else {
            Arc::default()
        };
        work
    }
}
