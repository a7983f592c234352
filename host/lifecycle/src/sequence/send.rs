//! The sending of the resources of one app to one cluster.

use kindsight_appcontext::Deployed;
use kindsight_model::{Digest, RsyncStatus};

use super::results::Results;
use super::{Lane, Part, Placement, Run, Step};
use crate::Result;
use crate::sender::{Change, SendError};

impl Run<'_> {
    /// Sends the resources of one app to one cluster in their order, then removes the resources that only earlier contexts
    /// name. After a Failed resource, the later resources stay Pending. A resource that waits for another one is passed
    /// over.
    pub(super) fn send(&self, placement: &Placement, lane: &mut Lane) -> Result<Part> {
        if let Some(part) = self.app_waits(placement)? {
            return Ok(part);
        }
        let mut part = Part::Done;
        let mut is_announced = false;
        let mut results = Results::new(self, placement);
        let open = |step: &&Step| step.status() != Some(RsyncStatus::Applied);
        let steps: Vec<&Step> = placement.steps.iter().filter(open).collect();
        for (position, step) in steps.iter().enumerate() {
            if step.status() == Some(RsyncStatus::Failed) {
                results.store()?;
                return Ok(Part::Failed);
            }
            if let Some(why) = &lane.unreachable {
                let rest = steps.get(position..).unwrap_or_default();
                return Ok(part.and(self.retry(placement, rest, why)?));
            }
            if !step.waits.is_empty() {
                // Only stored results meet dependencies.
                results.store()?;
            }
            if let Some(waiting) = self.resource_waits(placement, step)? {
                part = part.and(waiting);
                continue;
            }
            if !results.may_continue()? {
                return Ok(Part::Superseded);
            }
            match self.send_step(placement, step, lane, &mut is_announced) {
                Ok(deployed) => results.add(step, deployed),
                Err(SendError::Refused(why)) => {
                    let mut deployed = step.deployed.clone();
                    deployed.status = RsyncStatus::Failed;
                    deployed.why = Some(why);
                    results.add(step, deployed);
                    results.store()?;
                    return Ok(Part::Failed);
                }
                // The next round makes this resource and the later ones Retrying.
                Err(SendError::Unreachable(why)) => {
                    results.store()?;
                    let rest = steps.get(position..).unwrap_or_default();
                    let retried = self.retry(placement, rest, &why)?;
                    lane.unreachable = Some(why);
                    return Ok(part.and(retried));
                }
            }
        }
        results.store()?;
        match part {
            Part::Done => self.remove(placement, &placement.leftovers),
            part => Ok(part),
        }
    }

    /// Sends a resource, if it is new, changed or missing, or differs in the cluster. Returns the state to store.
    fn send_step(
        &self,
        placement: &Placement,
        step: &Step,
        lane: &Lane,
        is_announced: &mut bool,
    ) -> Result<Deployed, SendError> {
        let (sender, target) = (&self.of.sender, &placement.target);
        let manifest = step.manifest(&target.deployment);
        let manifest = manifest.map_err(SendError::Refused)?;
        let sent = step.sent(&manifest, self.forces());
        if !lane.is_vetted {
            self.vet(placement, step)?;
        }
        let digest = Digest::of(manifest.as_bytes());
        let mut deployed = step.deployed.clone();
        deployed.status = RsyncStatus::Applied;
        let is_unchanged = deployed.applied.as_ref() == Some(&digest);
        let is_present = is_unchanged
            && match sender.preview(target, &sent) {
                // A process that ended may have sent other content whose digest it did not store.
                Ok(preview) => preview.change == Change::Unchanged,
                Err(SendError::Refused(_)) => false,
                Err(unreachable) => return Err(unreachable),
            };
        if !is_present {
            let applied = sender.apply(target, &sent)?;
            deployed.uid = applied.uid;
            deployed.generation = applied.generation;
            deployed.applied = Some(digest);
        }
        if !*is_announced {
            // A cluster without the definition of the report is no reason to stop.
            if let Err(SendError::Unreachable(why)) = sender.announce(target) {
                return Err(SendError::Unreachable(why));
            }
            *is_announced = true;
        }
        Ok(deployed)
    }
}
