//! Stored results of steps.

use std::time::Duration;

use kindsight_appcontext::{DEPLOYED_CHANGES_MAX, Deployed, Place};
use kindsight_model::{Connectivity, RsyncStatus};

use super::{Part, Placement, Plan, Run, Step, written};
use crate::Result;

/// Time after which results are stored together: after the step that is at work then.
const STORED_AFTER: Duration = Duration::from_millis(200);

/// Results of steps of one placement that are not stored yet, at most [`DEPLOYED_CHANGES_MAX`].
///
/// A process that ends loses them, so the next one repeats their steps, without a further effect.
pub(super) struct Results<'r, 'p> {
    run: &'r Run<'r>,
    placement: &'p Placement,
    added: Vec<(&'p Step, Deployed)>,
    /// The time at which the first of these steps began.
    since: Duration,
}

impl<'r, 'p> Results<'r, 'p> {
    pub(super) fn new(run: &'r Run<'r>, placement: &'p Placement) -> Self {
        Self {
            run,
            placement,
            added: Vec::new(),
            since: Duration::ZERO,
        }
    }

    /// Returns whether the next step may begin. Stores the results if their time has come. The record is read once for
    /// each store, so other work that is asked for begins at the latest after so many steps.
    pub(super) fn may_continue(&mut self) -> Result<bool> {
        let now = self.run.of.readiness.now();
        let is_due = self.added.len() >= DEPLOYED_CHANGES_MAX
            || now.saturating_sub(self.since) >= STORED_AFTER
            || self.run.is_cancelled();
        if is_due {
            self.store()?;
        }
        if !self.added.is_empty() {
            return Ok(true);
        }
        self.since = now;
        self.run.is_current()
    }

    /// Adds the result of a step.
    pub(super) fn add(&mut self, step: &'p Step, deployed: Deployed) {
        self.added.push((step, deployed));
    }

    /// Stores the results in one write, unless they are stored already. Only then do they meet dependencies.
    pub(super) fn store(&mut self) -> Result<()> {
        if self.added.is_empty() {
            return Ok(());
        }
        let added = std::mem::take(&mut self.added);
        let is_new = |(step, deployed): &&(&Step, Deployed)| step.known.as_ref() != Some(deployed);
        let new = added.iter().filter(is_new);
        let new = new.map(|(step, deployed)| (step.place.clone(), deployed.clone()));
        self.run.store(&new.collect::<Vec<_>>())?;
        self.run
            .connected(self.placement, Connectivity::Available)?;
        for (step, deployed) in added {
            match deployed.status {
                RsyncStatus::Failed => self.run.progress.failed(step),
                _ => self.run.progress.applied(step, deployed),
            }
        }
        Ok(())
    }
}

impl Run<'_> {
    /// Stores another status of each resource for which `next` returns one. The reasons stay.
    pub(super) fn reset(
        &self,
        plan: &Plan,
        next: impl Fn(&Step) -> Option<RsyncStatus>,
    ) -> Result<()> {
        for placement in plan.placements.iter().chain(&plan.others) {
            let steps = placement.steps.iter().chain(&placement.leftovers);
            let changes = steps.filter_map(|step| {
                let mut deployed = step.deployed.clone();
                deployed.status = next(step)?;
                deployed.why = step.known.as_ref().and_then(|known| known.why.clone());
                Some((step.place.clone(), deployed))
            });
            self.store(&changes.collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Stores the states of resources of one placement.
    pub(super) fn store(&self, changes: &[(Place, Deployed)]) -> Result<()> {
        for changes in changes.chunks(DEPLOYED_CHANGES_MAX) {
            let contexts = &self.of.contexts;
            written(contexts.record_deployed(&self.work.status_context, changes)?)?;
        }
        Ok(())
    }

    /// Stores the state of a resource, unless it is stored already.
    pub(super) fn store_one(&self, step: &Step, deployed: Deployed) -> Result<()> {
        if step.known.as_ref() == Some(&deployed) {
            return Ok(());
        }
        self.store(&[(step.place.clone(), deployed)])
    }

    /// Makes the resources that wait for an unreachable cluster Retrying, with the reason. After the last permitted retry,
    /// they are Failed. `rest` has the states to store, which get another status and reason.
    pub(super) fn retry(
        &self,
        placement: &Placement,
        rest: &[(&Step, Deployed)],
        why: &str,
    ) -> Result<Part> {
        let is_last = self.attempt_failed(placement);
        let (status, part) = if is_last {
            (RsyncStatus::Failed, Part::Failed)
        } else {
            (RsyncStatus::Retrying, Part::Retry)
        };
        let changes = rest.iter().filter_map(|(step, deployed)| {
            let mut deployed = deployed.clone();
            deployed.status = status;
            deployed.why = Some(why.to_owned());
            let is_stored = step.known.as_ref() == Some(&deployed);
            (!is_stored).then(|| (step.place.clone(), deployed))
        });
        self.store(&changes.collect::<Vec<_>>())?;
        self.connected(placement, Connectivity::Retrying)?;
        if is_last {
            for (step, _) in rest {
                self.progress.failed(step);
            }
        } else {
            self.progress.unreachable(&placement.target.cluster);
        }
        Ok(part)
    }

    /// Stores the outcome of the last attempt to reach the cluster.
    pub(super) fn connected(&self, placement: &Placement, to: Connectivity) -> Result<()> {
        if to == Connectivity::Available {
            self.attempt_succeeded(placement);
        }
        let target = &placement.target;
        let (contexts, app) = (&self.of.contexts, &target.deployment.app);
        // A placement that only an earlier context names is in the status context alone.
        let id = if placement.steps.is_empty() {
            &self.work.status_context
        } else {
            &self.work.context
        };
        let recorded = contexts.record_connectivity(id, app, &target.cluster, to)?;
        if placement.is_removed {
            return Ok(());
        }
        written(recorded)
    }
}
