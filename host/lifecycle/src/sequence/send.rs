//! The sending of the resources of one app to one cluster.

use kindsight_appcontext::Deployed;
use kindsight_model::{Digest, RsyncStatus};

use super::results::Results;
use super::{Lane, Part, Placement, Run, Step};
use crate::Result;
use crate::sender::{Change, SendError};

/// Stands for the digest of a resource that a cluster may have, because the answer to its first application was lost. No
/// manifest is empty, so the resource is sent again.
const UNKNOWN_CONTENT: &[u8] = b"";

impl Run<'_> {
    /// Sends the resources of one app to one cluster in their order, then removes the resources that only earlier contexts
    /// name. After a Failed resource, the later resources stay Pending. A resource that waits for another one is passed
    /// over.
    pub(super) fn send(&self, placement: &Placement, lane: &mut Lane) -> Result<Part> {
        if let Some(part) = self.app_waits(placement)? {
            return Ok(part);
        }
        if self.away.contains(&placement.target.cluster) {
            return Ok(Part::Retry);
        }
        let mut part = Part::Done;
        let mut is_announced = false;
        let mut results = Results::new(self, placement);
        let open = |step: &&Step| step.status() != Some(RsyncStatus::Applied);
        let steps: Vec<&Step> = placement.steps.iter().filter(open).collect();
        for (position, step) in steps.iter().copied().enumerate() {
            if step.status() == Some(RsyncStatus::Failed) {
                results.store()?;
                return Ok(Part::Failed);
            }
            if let Some(why) = &lane.unreachable {
                let rest = steps.iter().copied().skip(position);
                let rest: Vec<_> = rest.map(Step::to_send).collect();
                return Ok(part.and(self.retry(placement, &rest, why)?));
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
            let mut deployed = step.deployed.clone();
            match self.send_step(placement, (step, &mut deployed), lane, &mut is_announced) {
                Ok(()) => results.add(step, deployed),
                Err(SendError::Refused(why)) => {
                    deployed.status = RsyncStatus::Failed;
                    deployed.why = Some(why);
                    results.add(step, deployed);
                    results.store()?;
                    return Ok(Part::Failed);
                }
                // The next round makes this resource and the later ones Retrying.
                Err(SendError::Unreachable(why)) => {
                    results.store()?;
                    let later = steps.iter().copied().skip(position + 1);
                    let later = later.map(Step::to_send);
                    let rest: Vec<_> = std::iter::once((step, deployed)).chain(later).collect();
                    let retried = self.retry(placement, &rest, &why)?;
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

    /// Sends a resource, if it is new, changed or missing, or differs in the cluster. Updates the state to store, also if
    /// the cluster becomes unreachable.
    fn send_step(
        &self,
        placement: &Placement,
        (step, deployed): (&Step, &mut Deployed),
        lane: &Lane,
        is_announced: &mut bool,
    ) -> Result<(), SendError> {
        let (sender, target) = (&self.of.sender, &placement.target);
        let manifest = step.manifest(&target.deployment);
        let manifest = manifest.map_err(SendError::Refused)?;
        let sent = step.sent(&manifest, self.forces());
        if !lane.is_vetted {
            self.vet(placement, step)?;
        }
        let digest = Digest::of(manifest.as_bytes());
        let is_unchanged = deployed.applied.as_ref() == Some(&digest);
        let is_present = is_unchanged
            && match sender.preview(target, &sent) {
                // A process that ended may have sent other content whose digest it did not store.
                Ok(preview) => preview.change == Change::Unchanged,
                Err(SendError::Refused(_)) => false,
                Err(unreachable) => return Err(unreachable),
            };
        if !is_present {
            let applied = sender.apply(target, &sent).inspect_err(|error| {
                if let SendError::Unreachable(_) = error {
                    // The cluster may have the resource, so an update must not move the resource.
                    let unknown = || Digest::of(UNKNOWN_CONTENT);
                    deployed.applied.get_or_insert_with(unknown);
                }
            })?;
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
        deployed.status = RsyncStatus::Applied;
        Ok(())
    }
}
