//! The deployments that `AppContext`s send to the cluster of a session, reported by a monitor or from objects.

use std::collections::HashSet;
use std::sync::Arc;

use kindsight_cluster_index::{ClusterIndex, GroupReport};
use kindsight_model::{Bundle, ClusterName, KindState, Scope, Subject};
use tokio::time::Instant;

use super::Session;
use crate::ClusterEvent;
use crate::kubernetes::deployments::{Shown, Step};
use crate::kubernetes::known::Known;
use crate::kubernetes::run::{Closed, EventSender};
use crate::kubernetes::watches::Watches;

impl Session {
    /// Takes the current deployments of the cluster.
    pub(super) fn record(&mut self, known: &mut Known) {
        self.is_coverage_due = true;
        let recorded = Arc::clone(&self.needs.recorded.borrow_and_update());
        let recorded = recorded.of(&self.cluster.name);
        for id in recorded.keys() {
            known.index.record(id);
        }
        let steps = known.deployments.record(recorded, &mut known.shown);
        for step in steps {
            if let Step::Forgotten(id) = step {
                known.index.forget(&id);
                known.faults.remove(&id);
            }
        }
        self.ask_for_states(known);
        self.widen();
    }

    /// Sends new and changed reports of monitors. Deployments without one are reported from their objects.
    pub(super) async fn settle_deployments<E: From<ClusterEvent>>(
        &mut self,
        known: &mut Known,
        events: &EventSender<E>,
    ) -> Result<(), Closed> {
        let (index, watches) = (&known.index, &self.watches);
        let is_caught_up = |bundle: &Bundle| has_what_is_seen(bundle, index, watches);
        let steps = known
            .deployments
            .steps(&known.shown, Instant::now(), is_caught_up);
        for step in steps {
            take_step(&self.cluster.name, step, known, events).await?;
        }
        self.ask_for_states(known);
        Ok(())
    }

    /// The reports of the groups that changed and whose objects were read.
    pub(super) fn take_reports(&self, known: &mut Known) -> Vec<GroupReport> {
        let mut reports = known.index.take_reports(&self.coverage);
        for (group, report) in &mut reports {
            if let Subject::Deployment(deployment) = group {
                let faults = known.faults.get(deployment);
                report.faults = faults.cloned().unwrap_or_default();
                if let Some(number) = known.deployments.number(deployment) {
                    let shown = Shown::Direct;
                    known.shown.insert(deployment.clone(), number, shown);
                }
            }
        }
        reports
    }
}

/// Carries out the step for one deployment.
async fn take_step<E: From<ClusterEvent>>(
    cluster: &ClusterName,
    step: Step,
    known: &mut Known,
    events: &EventSender<E>,
) -> Result<(), Closed> {
    match step {
        Step::Direct(id, faults) => {
            known.index.set_direct(&id, true);
            let number = known.deployments.number(&id).unwrap_or_default();
            let is_shown = known.shown.get(&id, number) == Some(Shown::Direct);
            let before = known.faults.insert(id.clone(), faults);
            if !is_shown || before.as_ref() != known.faults.get(&id) {
                known.index.note_direct(&id);
            }
        }
        Step::Unchanged(id) => known.index.set_direct(&id, false),
        Step::Bundle(bundle, hash, unused) => {
            let Bundle { deployment, report } = *bundle;
            let id = deployment.clone();
            known.index.set_direct(&id, false);
            known.faults.remove(&id);
            let number = known.deployments.number(&id).unwrap_or_default();
            let reports = vec![(Subject::Deployment(deployment), report)];
            events
                .send(ClusterEvent::Reports {
                    cluster: cluster.clone(),
                    reports,
                    missing: Vec::new(),
                })
                .await?;
            let shown = Shown::Bundle(hash);
            known.shown.insert(id.clone(), number, shown);
            for key in unused {
                let error = "another ResourceBundleState of the same app is used: the one in its own namespace, else the newest";
                events
                    .send(ClusterEvent::Unreadable {
                        cluster: cluster.clone(),
                        deployment: Some(id.clone()),
                        may_be_newer: false,
                        origin: key.origin(),
                        error: error.to_owned(),
                    })
                    .await?;
            }
        }
        Step::Unreadable(id, key, error) => {
            let number = known.deployments.number(&id).unwrap_or_default();
            if known.shown.get(&id, number).is_some() {
                known.shown.insert(id.clone(), number, Shown::Refused);
            }
            events
                .send(ClusterEvent::Unreadable {
                    cluster: cluster.clone(),
                    deployment: Some(id),
                    may_be_newer: true,
                    origin: key.origin(),
                    error: error.to_string(),
                })
                .await?;
        }
        Step::Gone(deployment) => {
            known.shown.remove(&deployment);
            let gone = ClusterEvent::Gone {
                cluster: cluster.clone(),
                deployment,
            };
            events.send(gone).await?;
        }
        Step::Forgotten(id) => known.index.forget(&id),
    }
    Ok(())
}

/// Returns whether a report has each watched object with the label of its app, of the Kinds that the report covers.
fn has_what_is_seen(bundle: &Bundle, index: &ClusterIndex, watches: &Watches) -> bool {
    let coverage = &bundle.report.related_coverage;
    let objects = bundle.report.objects.iter();
    let reported: HashSet<(&str, &str)> = objects
        .map(|object| (&*object.gvk.kind, &*object.name))
        .collect();
    let mut seen = index.labelled_with(&bundle.deployment);
    seen.all(|(watch, name)| {
        let Some(kind) = watches.kind_of(watch) else {
            return true;
        };
        let gvk = &kind.gvk;
        let found = coverage.of(Some(&gvk.group), &gvk.kind, Scope::Cluster);
        found.state != KindState::Complete || reported.contains(&(&*kind.gvk.kind, name))
    })
}
