//! The reading of live objects into a context, as an orchestrator requests it of its rsync.

use kindsight_model::{Connectivity, ContextStatus, RsyncStatus};

use super::{Part, Placement, Run, Step, in_lanes, written};
use crate::Result;
use crate::sender::SendError;
use crate::work::CREATED;

impl Run<'_> {
    /// Stores the live object of each resource beside its manifest. A resource that cannot be read is Failed. The status of
    /// the context changes only if nothing was sent yet.
    pub(super) fn read_objects(&self) -> Result<Part> {
        let snapshot = self.snapshot()?;
        let plan = self.plan(&snapshot)?;
        let part = in_lanes(&plan.placements, |placement, _| {
            self.read_placement(placement)
        })?;
        let end = match part {
            Part::Done => ContextStatus::Instantiated,
            Part::Failed => ContextStatus::InstantiateFailed,
            Part::Retry | Part::Waiting | Part::Superseded => return Ok(part),
        };
        if snapshot
            .status
            .is_none_or(|status| status.as_str() == CREATED)
        {
            self.set_status(end)?;
        }
        Ok(part)
    }

    fn read_placement(&self, placement: &Placement) -> Result<Part> {
        let mut part = Part::Done;
        for (position, step) in placement.steps.iter().enumerate() {
            if !self.is_current()? {
                return Ok(Part::Superseded);
            }
            let mut deployed = step.deployed.clone();
            let read = self.read_step(placement, step);
            let stored = match read {
                Ok(object) => self.store_object(step, &object)?,
                Err(error) => Err(error),
            };
            match stored {
                Ok(()) => (deployed.status, deployed.why) = (RsyncStatus::Applied, None),
                Err(SendError::Refused(why)) => {
                    (deployed.status, deployed.why) = (RsyncStatus::Failed, Some(why));
                    part = part.and(Part::Failed);
                }
                Err(SendError::Unreachable(why)) => {
                    let rest = placement.steps.get(position..).unwrap_or_default();
                    let rest: Vec<_> = rest.iter().map(Step::to_send).collect();
                    return Ok(part.and(self.retry(placement, &rest, &why)?));
                }
            }
            self.store_one(step, deployed)?;
            self.connected(placement, Connectivity::Available)?;
        }
        Ok(part)
    }

    /// Stores a live object. Refuses an object over the limit of the store: another attempt would not store it either.
    fn store_object(&self, step: &Step, object: &str) -> Result<Result<(), SendError>> {
        let contexts = &self.of.contexts;
        match contexts.record_live_object(&self.work.context, &step.place, object) {
            Err(error) if error.is_too_large() => Ok(Err(SendError::Refused(error.to_string()))),
            recorded => written(recorded?).map(Ok),
        }
    }

    fn read_step(&self, placement: &Placement, step: &Step) -> Result<String, SendError> {
        let manifest = step.manifest(&placement.target.deployment);
        let manifest = manifest.map_err(SendError::Refused)?;
        self.of
            .sender
            .read(&placement.target, &step.sent(&manifest, false))
    }
}
