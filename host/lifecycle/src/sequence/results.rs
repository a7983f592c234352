//! Stored results of steps.

use kindsight_appcontext::{DEPLOYED_CHANGES_MAX, Deployed, Place};
use kindsight_model::{Connectivity, RsyncStatus};

use super::{Placement, Plan, Run, Step, written};
use crate::Result;

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

    /// Makes the resources that wait for an unreachable cluster Retrying, with the reason.
    pub(super) fn retry(&self, placement: &Placement, rest: &[&Step], why: &str) -> Result<()> {
        let changes = rest.iter().filter_map(|step| {
            let mut deployed = step.deployed.clone();
            deployed.status = RsyncStatus::Retrying;
            deployed.why = Some(why.to_owned());
            let is_stored = step.known.as_ref() == Some(&deployed);
            (!is_stored).then(|| (step.place.clone(), deployed))
        });
        self.store(&changes.collect::<Vec<_>>())?;
        self.connected(placement, Connectivity::Retrying)
    }

    /// Stores the outcome of the last attempt to reach the cluster.
    pub(super) fn connected(&self, placement: &Placement, to: Connectivity) -> Result<()> {
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
