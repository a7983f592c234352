//! Deployments that `AppContext`s send to the cluster of a session, told by reports or by objects.

use std::collections::HashSet;
use std::sync::Arc;

use kindsight_model::{Bundle, Coverage, KindCoverage, WatchedKinds};
use tokio::time::Instant;

use super::Session;
use crate::ClusterEvent;
use crate::kubernetes::deployments::{Shown, Step};
use crate::kubernetes::inventory::{Inventory, Report};
use crate::kubernetes::run::{Closed, Run, SortedBy};
use crate::kubernetes::watches::Watches;

impl Session {
    /// Takes in the deployments that are sent to the cluster by now.
    pub(super) fn record<E>(&mut self, run: &mut Run<E>) {
        let recorded = Arc::clone(&self.needs.recorded.borrow_and_update());
        let recorded = recorded.of(&self.cluster.name);
        for id in recorded.keys() {
            self.inventory.record(id);
        }
        let steps = self.deployments.record(recorded, &mut run.shown);
        for step in steps {
            if let Step::Forgotten(id) = step {
                self.inventory.forget(&id);
                self.faults.remove(&id);
            }
        }
        self.ask_for_states();
        self.widen();
    }

    /// Tells the reports of monitors that came or changed, and begins to tell of objects where there are
    /// none.
    pub(super) async fn settle_deployments<E: From<ClusterEvent>>(
        &mut self,
        run: &mut Run<E>,
    ) -> Result<(), Closed> {
        let (inventory, watches) = (&self.inventory, &self.watches);
        let is_caught_up = |bundle: &Bundle| has_what_is_seen(bundle, inventory, watches);
        let steps = self
            .deployments
            .steps(&run.shown, Instant::now(), is_caught_up);
        for step in steps {
            self.take_step(step, run).await?;
        }
        self.ask_for_states();
        Ok(())
    }

    async fn take_step<E: From<ClusterEvent>>(
        &mut self,
        step: Step,
        run: &mut Run<E>,
    ) -> Result<(), Closed> {
        let cluster = self.cluster.name.clone();
        match step {
            Step::Direct(id, faults) => {
                self.inventory.set_direct(&id, true);
                let number = self.deployments.number(&id).unwrap_or_default();
                let is_shown = run.shown.get(&id, number) == Some(Shown::Direct);
                let before = self.faults.insert(id.clone(), faults);
                if !is_shown || before.as_ref() != self.faults.get(&id) {
                    self.inventory.note_direct(&id);
                }
            }
            Step::Unchanged(id) => self.inventory.set_direct(&id, false),
            Step::Bundle(bundle, hash, unused) => {
                let id = bundle.deployment.clone();
                self.inventory.set_direct(&id, false);
                self.faults.remove(&id);
                let number = self.deployments.number(&id).unwrap_or_default();
                let bundle = *bundle;
                run.send(ClusterEvent::Bundle { cluster, bundle }).await?;
                run.shown.insert(id.clone(), number, Shown::Bundle(hash));
                for key in unused {
                    let error = "there is another ResourceBundleState of the same app, which is used: that in its own namespace, else the newest";
                    run.send(ClusterEvent::Unreadable {
                        cluster: self.cluster.name.clone(),
                        deployment: Some(id.clone()),
                        may_be_newer: false,
                        origin: key.origin(),
                        error: error.to_owned(),
                    })
                    .await?;
                }
            }
            Step::Unreadable(id, key, error) => {
                run.send(ClusterEvent::Unreadable {
                    cluster,
                    deployment: Some(id),
                    may_be_newer: true,
                    origin: key.origin(),
                    error: error.to_string(),
                })
                .await?;
            }
            Step::Gone(deployment) => {
                run.shown.remove(&deployment);
                run.send(ClusterEvent::Gone {
                    cluster,
                    deployment,
                })
                .await?;
            }
            Step::Forgotten(id) => self.inventory.forget(&id),
        }
        Ok(())
    }

    /// Reports of what changed and was read.
    pub(super) fn take_reports(&mut self) -> Vec<Report> {
        let covered = self.covered();
        if covered != *self.covered {
            self.covered = Arc::new(covered);
            self.inventory.note_all_direct();
        }
        let coverage = Coverage::watched(Arc::clone(&self.covered));
        let mut reports = self.inventory.take_reports(&coverage);
        for report in &mut reports {
            if let Report::Deployment(report) = report {
                let faults = self.faults.get(&report.deployment);
                report.faults = faults.cloned().unwrap_or_default();
            }
        }
        reports
    }

    /// Notes that a deployment is reported by its objects.
    pub(super) fn note_shown<E>(&self, report: &Report, run: &mut Run<E>) {
        if let Report::Deployment(report) = report
            && let Some(number) = self.deployments.number(&report.deployment)
        {
            let id = report.deployment.clone();
            run.shown.insert(id, number, Shown::Direct);
        }
    }

    /// The criteria that objects are sorted by.
    pub(super) fn sorted_by(&self) -> SortedBy {
        let options = &self.cluster.options;
        SortedBy {
            applications: Arc::clone(&options.applications),
            recorded: self.deployments.recorded(),
            selector: options.selection.as_ref().map(|it| it.selector.clone()),
        }
    }

    /// Returns whether objects were sorted by others when everything was last told.
    pub(super) fn is_sorted_otherwise<E>(&self, run: &Run<E>) -> bool {
        let before = run.sorted_by.as_ref();
        before.is_some_and(|before| *before != self.sorted_by())
    }

    /// The Kinds and namespaces of which every object is seen.
    fn covered(&self) -> WatchedKinds {
        let namespaces = self.cluster.options.namespaces.clone();
        let is_cut = self.inventory.left_out().is_some();
        let mut covered = WatchedKinds::new(namespaces, is_cut);
        for kind in self.watches.covered() {
            covered.add(&kind.gvk.group, &kind.gvk.kind);
        }
        covered
    }
}

/// Returns whether a report has each object with the label of its app that is seen in the cluster, of the
/// Kinds that it covers.
fn has_what_is_seen(bundle: &Bundle, inventory: &Inventory, watches: &Watches) -> bool {
    let covered = bundle.covered_kinds();
    let objects = bundle.objects.iter();
    let reported: HashSet<(&str, &str)> = objects.map(|it| (&*it.gvk.kind, &*it.name)).collect();
    let mut seen = inventory.labelled_with(&bundle.deployment);
    seen.all(|(watch, name)| {
        let Some(kind) = watches.kind_of(watch) else {
            return true;
        };
        let is_covered = covered.covers(&kind.gvk.group, &kind.gvk.kind) == KindCoverage::Complete;
        !is_covered || reported.contains(&(&*kind.gvk.kind, name))
    })
}
