//! The sequences that send and remove the resources of a context.
//!
//! The result of each step is stored before the next step. A step whose result was not stored is repeated after a
//! restart.

mod instantiate;
mod placement;
mod terminate;

use std::sync::Arc;

use kindsight_appcontext::{AppContexts, ContextSnapshot, Recorded, Records, StatusChange};
use kindsight_model::{Connectivity, ContextId, ContextStatus, DigName, RsyncStatus};

use crate::sender::{SendError, Sender};
use crate::work::{Work, WorkKind};
use crate::{Error, Result};

use placement::{Placement, Step};

/// Maximum number of statuses in one batch. etcd accepts 128 writes and 128 conditions.
const BATCH_STATUSES_MAX: usize = 64;

/// Does the work that records ask for.
///
/// Only one sequence at a time may work on a group. Cheap to clone.
#[derive(Clone)]
pub struct Sequence {
    contexts: AppContexts,
    records: Records,
    sender: Arc<dyn Sender>,
}

/// The result of [`Sequence::run`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// No work is left.
    Complete,
    /// A cluster is unreachable: run the sequence again later.
    Retry,
}

/// The result of a part of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The part is complete.
    Done,
    /// A resource is Failed.
    Failed,
    /// A cluster is unreachable.
    Retry,
    /// The record asks for other work.
    Superseded,
}

impl Sequence {
    /// A sequence over these stores, which sends through `sender`.
    pub fn new(contexts: AppContexts, records: Records, sender: Arc<dyn Sender>) -> Self {
        Self {
            contexts,
            records,
            sender,
        }
    }

    /// Does the work of a group until none is left or a cluster is unreachable. Does what a later action asks for, if an
    /// action is appended meanwhile.
    ///
    /// # Errors
    /// Errors of the store. The caller runs the sequence again later.
    pub fn run(&self, name: &DigName) -> Result<Outcome> {
        loop {
            let record = self.records.dig(name)?;
            let Some(work) = record.as_ref().and_then(Work::of) else {
                return Ok(Outcome::Complete);
            };
            if work.is_complete(&self.contexts)? {
                return Ok(Outcome::Complete);
            }
            let part = match work.kind {
                WorkKind::Instantiate => self.instantiate(name, &work)?,
                WorkKind::Terminate => self.terminate(name, &work)?,
                WorkKind::Stop => self.stop(&work)?,
            };
            match part {
                Part::Retry => return Ok(Outcome::Retry),
                // The next round finds no work, or other work.
                Part::Done | Part::Failed | Part::Superseded => {}
            }
        }
    }

    /// Ends an instantiation or termination: a resource that is Retrying becomes Failed.
    fn stop(&self, work: &Work) -> Result<Part> {
        let Some(snapshot) = self.contexts.read(&work.context)? else {
            return Ok(Part::Superseded);
        };
        self.reset(&snapshot, |status| match status {
            Some(RsyncStatus::Retrying) => Some(RsyncStatus::Failed),
            _ => None,
        })?;
        written(self.contexts.record_stop_flag(&work.context, true)?)?;
        let status = match snapshot.status {
            Some(ContextStatus::Terminating) => ContextStatus::TerminateFailed,
            _ => ContextStatus::InstantiateFailed,
        };
        self.set_status(&work.context, status)?;
        Ok(Part::Done)
    }

    /// Returns whether the record still asks for this work.
    fn is_current(&self, name: &DigName, work: &Work) -> Result<bool> {
        let record = self.records.dig(name)?;
        Ok(record.as_ref().and_then(Work::of).as_ref() == Some(work))
    }

    fn set_status(&self, id: &ContextId, status: ContextStatus) -> Result<()> {
        written(self.contexts.record_status(id, status)?)
    }

    /// Stores another status of each resource for which `next` returns one.
    fn reset(
        &self,
        snapshot: &ContextSnapshot,
        next: impl Fn(Option<RsyncStatus>) -> Option<RsyncStatus>,
    ) -> Result<()> {
        for placement in Placement::all(snapshot)? {
            let steps = placement.steps.iter();
            let changes: Vec<(&Step, RsyncStatus)> = steps
                .filter_map(|step| Some((step, next(step.status)?)))
                .collect();
            self.set_statuses(&snapshot.id, &placement, &changes)?;
        }
        Ok(())
    }

    fn set_statuses(
        &self,
        id: &ContextId,
        placement: &Placement,
        changes: &[(&Step, RsyncStatus)],
    ) -> Result<()> {
        for changes in changes.chunks(BATCH_STATUSES_MAX) {
            let changes = changes.iter().map(|(step, status)| StatusChange {
                app: &placement.target.deployment.app,
                cluster: &placement.target.cluster,
                resource: &step.resource,
                status: *status,
            });
            let changes: Vec<StatusChange<'_>> = changes.collect();
            written(self.contexts.record_resource_statuses(id, &changes)?)?;
        }
        Ok(())
    }

    /// Stores the result of an attempt to send or remove a resource: `success`, Failed or Retrying. Returns whether the
    /// placement can continue.
    fn store_result(
        &self,
        id: &ContextId,
        placement: &Placement,
        step: &Step,
        (sent, success): (Result<(), SendError>, RsyncStatus),
    ) -> Result<Part> {
        let (status, connectivity, part) = match &sent {
            Ok(()) => (success, Connectivity::Available, Part::Done),
            Err(SendError::Refused(_)) => {
                (RsyncStatus::Failed, Connectivity::Available, Part::Failed)
            }
            Err(SendError::Unreachable(_)) => {
                (RsyncStatus::Retrying, Connectivity::Retrying, Part::Retry)
            }
        };
        let target = &placement.target;
        self.set_statuses(id, placement, &[(step, status)])?;
        let recorded = self.contexts.record_connectivity(
            id,
            &target.deployment.app,
            &target.cluster,
            connectivity,
        );
        written(recorded?)?;
        Ok(part)
    }
}

fn written(recorded: Recorded) -> Result<()> {
    match recorded {
        Recorded::Written(_) | Recorded::Unchanged => Ok(()),
        Recorded::NotFound => Err(Error::ContextDeleted),
    }
}

impl Part {
    /// The result of two placements.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Superseded, _) | (_, Self::Superseded) => Self::Superseded,
            (Self::Retry, _) | (_, Self::Retry) => Self::Retry,
            (Self::Failed, _) | (_, Self::Failed) => Self::Failed,
            (Self::Done, Self::Done) => Self::Done,
        }
    }
}
