//! The removal of resources of one app from one cluster.

use kindsight_model::{Connectivity, RsyncStatus};

use super::{Part, Placement, Run, Step};
use crate::Result;
use crate::sender::{Deletion, SendError};

impl Run<'_> {
    /// Removes resources in reverse order. A Failed removal does not end the sequence. Namespaces and definitions of Kinds
    /// are removed when everything else is. If the app is removed from the cluster, its remains are removed at the end.
    pub(super) fn remove(&self, placement: &Placement, steps: &[Step]) -> Result<Part> {
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
                Ok(result) => self.store_removal(placement, step, result)?,
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
        let is_left = |step: &Step| step.status() != Some(RsyncStatus::Deleted);
        // A cluster that was never asked has no remains, so its answer is not needed.
        let may_have_remains = placement.was_asked || steps.iter().any(is_left);
        if part == Part::Done && placement.is_removed && may_have_remains {
            part = match self.of.sender.removed(&placement.target) {
                // Every resource is removed, so remains that are refused, or left after the last retry, do not matter.
                Ok(()) | Err(SendError::Refused(_)) => Part::Done,
                Err(SendError::Unreachable(_)) if self.attempt_failed(placement) => Part::Done,
                Err(SendError::Unreachable(_)) => Part::Retry,
            };
        }
        Ok(part)
    }

    fn remove_step(
        &self,
        placement: &Placement,
        step: &Step,
    ) -> Result<(RsyncStatus, Option<String>, Part), SendError> {
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
        (status, why, part): (RsyncStatus, Option<String>, Part),
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
        self.connected(placement, Connectivity::Available)?;
        Ok(part)
    }
}
