//! The removal of resources of one app from one cluster.

use kindsight_model::{Connectivity, RsyncStatus};

use super::{Part, Placement, Run, Step};
use crate::Result;
use crate::sender::{Deletion, SendError};

/// The result of the removal of a resource: its status, the reason of the status, and the result of the step.
type Removal = (RsyncStatus, Option<String>, Part);

impl Run<'_> {
    /// Removes resources in reverse order. A Failed removal does not end the sequence. Namespaces and definitions of Kinds
    /// are removed when everything else is. If the app is removed from the cluster, its remains are removed with the last
    /// resource.
    pub(super) fn remove(&self, placement: &Placement, steps: &[Step]) -> Result<Part> {
        let is_left = |step: &Step| step.status() != Some(RsyncStatus::Deleted);
        // The order is reversed, so the first resource is removed last.
        let last = steps.iter().position(is_left);
        let mut part = Part::Done;
        for (position, step) in steps.iter().enumerate().rev() {
            match step.status() {
                Some(RsyncStatus::Deleted) => continue,
                Some(RsyncStatus::Failed) => {
                    part = part.and(Part::Failed);
                    continue;
                }
                _ if step.is_base() && part >= Part::Retry => continue,
                _ => {}
            }
            if !self.is_current()? {
                return Ok(Part::Superseded);
            }
            part = part.and(match self.remove_step(placement, step) {
                Ok(result) => {
                    let is_last = part == Part::Done && last == Some(position);
                    let result = if placement.is_removed && is_last {
                        self.with_remains(placement, result)
                    } else {
                        result
                    };
                    self.store_removal(placement, step, result)?
                }
                Err(SendError::Refused(why)) => {
                    let failed = (RsyncStatus::Failed, Some(why), Part::Failed);
                    self.store_removal(placement, step, failed)?
                }
                Err(SendError::Unreachable(why)) => {
                    let rest = steps.get(..=position).unwrap_or_default().iter();
                    let rest = rest.filter(|step| !step.is_finished());
                    let rest: Vec<_> = rest.map(Step::to_send).collect();
                    return Ok(part.and(self.retry(placement, &rest, &why)?));
                }
            });
        }
        // A cluster that was never asked has no remains, so its answer is not needed.
        let may_have_remains = placement.is_removed && placement.was_asked && last.is_none();
        if may_have_remains && self.remove_remains(placement).is_some() {
            part = part.and(Part::Retry);
        }
        Ok(part)
    }

    /// Removes the remains of an app after its last resource was removed with this result. A resource that is Deleted is
    /// in no later plan, so the last resource is Retrying until the remains are removed. Otherwise an app that an update
    /// moved to another cluster would leave its remains behind.
    fn with_remains(&self, placement: &Placement, removal: Removal) -> Removal {
        if removal.2 != Part::Done {
            return removal;
        }
        match self.remove_remains(placement) {
            Some(why) => (RsyncStatus::Retrying, Some(why), Part::Retry),
            None => removal,
        }
    }

    /// Removes the remains of an app whose resources are removed. Returns the reason why a retry is needed.
    fn remove_remains(&self, placement: &Placement) -> Option<String> {
        match self.of.sender.removed(&placement.target) {
            Err(SendError::Unreachable(why)) if !self.attempt_failed(placement) => Some(why),
            // Every resource is removed, so remains that are refused, or left after the last retry, do not matter.
            Ok(()) | Err(SendError::Refused(_) | SendError::Unreachable(_)) => None,
        }
    }

    fn remove_step(&self, placement: &Placement, step: &Step) -> Result<Removal, SendError> {
        let manifest = step.manifest(&placement.target.deployment);
        let manifest = manifest.map_err(SendError::Refused)?;
        let sent = step.sent(&manifest, false);
        Ok(match self.of.sender.delete(&placement.target, &sent)? {
            Deletion::Deleted => (RsyncStatus::Deleted, None, Part::Done),
            Deletion::Kept { why } => (RsyncStatus::Deleted, Some(why), Part::Done),
            Deletion::Deleting { why } => (RsyncStatus::Pending, Some(why), Part::Retry),
        })
    }

    fn store_removal(
        &self,
        placement: &Placement,
        step: &Step,
        (status, why, part): Removal,
    ) -> Result<Part> {
        let mut deployed = step.deployed.clone();
        deployed.status = status;
        deployed.why = why;
        if status == RsyncStatus::Deleted {
            deployed.applied = None;
            deployed.uid = None;
            deployed.generation = None;
        }
        self.store_one(step, deployed)?;
        let connectivity = match status {
            RsyncStatus::Retrying => Connectivity::Retrying,
            _ => Connectivity::Available,
        };
        self.connected(placement, connectivity)?;
        Ok(part)
    }
}
