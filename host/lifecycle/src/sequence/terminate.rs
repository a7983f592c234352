//! The sequence of a termination.

use kindsight_appcontext::ContextSnapshot;
use kindsight_model::{ContextStatus, DigName, RsyncStatus};

use super::placement::Placement;
use super::{Part, Sequence, written};
use crate::sender::{Deletion, SendError};
use crate::work::Work;
use crate::{Error, Result};

impl Sequence {
    /// Removes every resource of a context, in reverse order. A Failed removal does not end the sequence.
    pub(super) fn terminate(&self, name: &DigName, work: &Work) -> Result<Part> {
        let Some(snapshot) = self.contexts.read(&work.context)? else {
            return Ok(Part::Superseded);
        };
        let snapshot = self.begun_to_terminate(work, snapshot)?;
        let mut part = Part::Done;
        for placement in Placement::all(&snapshot)?.iter().rev() {
            part = part.and(self.remove(name, work, placement)?);
            if part == Part::Superseded {
                return Ok(part);
            }
        }
        match part {
            Part::Done => self.set_status(&work.context, ContextStatus::Terminated)?,
            Part::Failed => self.set_status(&work.context, ContextStatus::TerminateFailed)?,
            Part::Retry | Part::Superseded => {}
        }
        Ok(part)
    }

    /// Makes every resource that may have been sent Pending, and the context Terminating, unless the termination has
    /// begun. A resource without a status was never sent: it is Deleted.
    fn begun_to_terminate(
        &self,
        work: &Work,
        snapshot: ContextSnapshot,
    ) -> Result<ContextSnapshot> {
        if snapshot.status == Some(ContextStatus::Terminating) && !snapshot.stop_flag {
            return Ok(snapshot);
        }
        // The statuses first: Terminating means that no status of the instantiation is left.
        self.reset(&snapshot, |status| match status {
            None => Some(RsyncStatus::Deleted),
            Some(RsyncStatus::Deleted | RsyncStatus::Pending) => None,
            Some(RsyncStatus::Applied | RsyncStatus::Failed | RsyncStatus::Retrying) => {
                Some(RsyncStatus::Pending)
            }
        })?;
        self.set_status(&work.context, ContextStatus::Terminating)?;
        if snapshot.stop_flag {
            written(self.contexts.record_stop_flag(&work.context, false)?)?;
        }
        let snapshot = self.contexts.read(&work.context)?;
        snapshot.ok_or(Error::ContextDeleted)
    }

    /// Removes the resources of one app from one cluster.
    fn remove(&self, name: &DigName, work: &Work, placement: &Placement) -> Result<Part> {
        let mut part = Part::Done;
        for step in placement.steps.iter().rev() {
            match step.status {
                Some(RsyncStatus::Deleted) => continue,
                Some(RsyncStatus::Failed) => {
                    part = Part::Failed;
                    continue;
                }
                _ => {}
            }
            if !self.is_current(name, work)? {
                return Ok(Part::Superseded);
            }
            let manifest = placement.manifest(step)?;
            let sent = self.sender.delete(&placement.target, &step.sent(&manifest));
            let sent = sent.and_then(|deletion| match deletion {
                Deletion::Deleted | Deletion::Kept { .. } => Ok(()),
                Deletion::Deleting { why } => Err(SendError::Unreachable(why)),
            });
            let result = (sent, RsyncStatus::Deleted);
            part = part.and(self.store_result(&work.context, placement, step, result)?);
            if part == Part::Retry {
                return Ok(part);
            }
        }
        if part == Part::Done {
            part = match self.sender.removed(&placement.target) {
                // Every resource is removed, so refused remains do not matter.
                Ok(()) | Err(SendError::Refused(_)) => Part::Done,
                Err(SendError::Unreachable(_)) => Part::Retry,
            };
        }
        Ok(part)
    }
}
