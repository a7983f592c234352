//! The sequences that send and remove the resources of a context.
//!
//! The results of a few steps are stored together. A step whose result was not stored is repeated after a restart,
//! without a further effect.

mod attempts;
mod begin;
mod choose;
mod create;
mod dependencies;
mod lanes;
mod plan;
mod read;
mod remove;
mod results;
mod retention;
mod send;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kindsight_appcontext::{
    AppContexts, ContextSnapshot, Deployed, Intent, Place, Recorded, Records,
};
use kindsight_model::{ClusterName, ContextId, ContextStatus, RecordSubject, RsyncStatus};

use crate::preparation::Preparation;
use crate::readiness::Readiness;
use crate::sender::Sender;
use crate::work::{Job, Work, WorkKind};
use crate::{Error, Result};

use attempts::Attempts;
pub(crate) use choose::chosen;
use dependencies::{Progress, Timers};
pub(crate) use lanes::{Lane, in_lanes};
pub(crate) use plan::{Placement, Plan, Step};

/// The number of instances of a subject that are kept, unless [`Sequence::keeping`] says another.
pub const INSTANCES_KEPT: usize = 10;

/// Does the work that records ask for.
///
/// Only one sequence at a time may work on a subject, which the caller ensures with a lease. Cheap to clone.
#[derive(Clone)]
pub struct Sequence {
    contexts: AppContexts,
    records: Records,
    sender: Arc<dyn Sender>,
    readiness: Arc<dyn Readiness>,
    preparation: Option<Arc<dyn Preparation>>,
    timers: Timers,
    instances_kept: usize,
    /// The number of retries after which the resources of an unreachable cluster are Failed. `None` for no limit.
    retries_max: Option<u32>,
    attempts: Attempts,
    is_cancelled: Arc<AtomicBool>,
}

/// The result of [`Sequence::run`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// No work is left.
    Complete,
    /// A resource waits for another one: run the sequence again soon.
    Waiting,
    /// A cluster is unreachable, or a deletion is not complete: run the sequence again later, even if a resource waits for
    /// another one.
    Retry,
}

/// The result of a part of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// The part is complete.
    Done,
    /// A resource is Failed.
    Failed,
    /// A resource waits for another one.
    Waiting,
    /// A cluster is unreachable, or a deletion is not complete.
    Retry,
    /// Other work is asked for.
    Superseded,
}

impl Part {
    /// The result of two parts.
    fn and(self, other: Self) -> Self {
        self.max(other)
    }
}

/// The work of one call.
struct Run<'s> {
    of: &'s Sequence,
    job: &'s Job,
    work: &'s Work,
    /// The content of the revision. `None` for a context that no record names, or if nothing is sent.
    content: Option<Intent>,
    progress: Progress,
    /// The clusters that did not answer in earlier rounds of this call. Nothing is sent to them.
    away: BTreeSet<ClusterName>,
}

/// Nothing is observed.
struct Unobserved;

impl Readiness for Unobserved {
    fn are_ready(&self, _: &ContextId, _: &BTreeMap<Place, Deployed>) -> bool {
        false
    }

    fn is_reachable(&self, _: &ClusterName) -> bool {
        true
    }

    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

impl Sequence {
    /// A sequence over these stores, which sends through `sender`. Without [`Sequence::observing`], no resource is ready.
    pub fn new(contexts: AppContexts, records: Records, sender: Arc<dyn Sender>) -> Self {
        Self {
            contexts,
            records,
            sender,
            readiness: Arc::new(Unobserved),
            preparation: None,
            timers: Timers::default(),
            instances_kept: INSTANCES_KEPT,
            retries_max: None,
            attempts: Attempts::default(),
            is_cancelled: Arc::default(),
        }
    }

    /// The same sequence with observations of the clusters.
    #[must_use]
    pub fn observing(self, readiness: Arc<dyn Readiness>) -> Self {
        Self { readiness, ..self }
    }

    /// The same sequence with controllers that change each new context.
    #[must_use]
    pub fn prepared_by(self, controllers: Arc<dyn Preparation>) -> Self {
        let preparation = Some(controllers);
        Self {
            preparation,
            ..self
        }
    }

    /// The same sequence with other handles of its stores, such as handles whose writes need a lease.
    #[must_use]
    pub fn over(self, contexts: AppContexts, records: Records) -> Self {
        Self {
            contexts,
            records,
            ..self
        }
    }

    /// The same sequence, which keeps this number of instances of each subject, at least 1.
    #[must_use]
    pub fn keeping(self, instances: usize) -> Self {
        Self {
            instances_kept: instances.max(1),
            ..self
        }
    }

    /// The same sequence, which gives up on an app in an unreachable cluster after this number of retries in succession.
    #[must_use]
    pub fn giving_up_after(self, retries_max: Option<u32>) -> Self {
        Self {
            retries_max,
            ..self
        }
    }

    /// Ends all calls of [`Sequence::run`], of this sequence and its clones, after the step that they are at.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns whether a job has work, so that its caller needs a lease. Forgets the failed attempts of a job without work,
    /// because another server may have completed it.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn has_work(&self, job: &Job) -> Result<bool> {
        let has_work = match (Work::read(job, &self.contexts, &self.records)?, job) {
            (None, _) => false,
            (Some(work), Job::Subject(_)) => !work.is_complete(&self.contexts)?,
            // Completed work is forgotten.
            (Some(_), Job::Context(_)) => true,
        };
        if !has_work {
            self.forget(job);
        }
        Ok(has_work)
    }

    /// Does the work of a subject or a context until none is left, a cluster is unreachable, or a resource waits for another
    /// one. Does what a later action asks for, if an action is appended meanwhile.
    ///
    /// # Errors
    /// Errors of the store. The caller runs the sequence again later.
    pub fn run(&self, job: &Job) -> Result<Outcome> {
        let mut away = BTreeSet::new();
        loop {
            if self.is_cancelled.load(Ordering::Relaxed) {
                return Ok(Outcome::Retry);
            }
            let Some(work) = Work::read(job, &self.contexts, &self.records)? else {
                self.forget(job);
                return Ok(Outcome::Complete);
            };
            self.forget_other_contexts(job, &work.context);
            if work.is_complete(&self.contexts)? {
                self.forget(job);
                self.completed(job, &work)?;
                return Ok(Outcome::Complete);
            }
            let content = match job {
                Job::Subject(subject) if work.kind != WorkKind::Stop => {
                    self.records.revision(subject, work.revision)?
                }
                _ => None,
            };
            let run = Run {
                of: self,
                job,
                work: &work,
                content,
                progress: Progress::default(),
                away: away.clone(),
            };
            let part = match work.kind {
                WorkKind::Instantiate => run.instantiate()?,
                WorkKind::Terminate => run.terminate()?,
                WorkKind::Stop => run.stop()?,
                WorkKind::Read => run.read_objects()?,
            };
            match part {
                // The next round sends resources that waited. It does not ask these clusters again.
                Part::Retry | Part::Waiting if run.progress.may_continue() => {
                    away.append(&mut run.progress.away());
                }
                Part::Retry => return Ok(Outcome::Retry),
                Part::Waiting => return Ok(Outcome::Waiting),
                Part::Done | Part::Failed if work.kind == WorkKind::Read => {
                    self.completed(job, &work)?;
                }
                // The next round finds no work, or other work.
                Part::Done | Part::Failed | Part::Superseded => away.clear(),
            }
        }
    }
}

impl Run<'_> {
    /// Sends the resources of a context that are new or changed, then removes the resources that only earlier contexts
    /// name.
    fn instantiate(&self) -> Result<Part> {
        let snapshot = self.created()?;
        if !self.is_current()? {
            return Ok(Part::Superseded);
        }
        let mut vetted = Vec::new();
        if snapshot.status != Some(ContextStatus::Instantiating) {
            match self.prepare(&snapshot)? {
                Part::Done => {}
                part => return Ok(part),
            }
            let snapshot = self.with_chosen_clusters(self.snapshot()?)?;
            let plan = self.plan(&snapshot)?;
            match self.begin(&plan)? {
                Some(clusters) => vetted = clusters,
                None => return Ok(Part::Failed),
            }
        }
        let plan = self.plan(&self.snapshot()?)?;
        self.progress.begin(&plan);
        let part = in_lanes(&plan.placements, |placement, lane| {
            lane.is_vetted = vetted.contains(&placement.target.cluster);
            self.send(placement, lane)
        })?;
        let part = match part {
            Part::Done => in_lanes(&plan.others, |placement, _| {
                self.remove(placement, &placement.leftovers)
            })?,
            part => part,
        };
        let end = match part {
            Part::Done => ContextStatus::Instantiated,
            Part::Failed => ContextStatus::InstantiateFailed,
            Part::Retry | Part::Waiting | Part::Superseded => return Ok(part),
        };
        if let Some(source) = &self.work.source {
            // The source may have been deleted since.
            let updated = ContextStatus::Other("Updated".into());
            let _ = self.of.contexts.record_status(source, updated)?;
        }
        self.set_status(end)?;
        Ok(part)
    }

    /// Removes every resource of a context, and the resources that only earlier contexts name, in reverse order. A Failed
    /// removal does not end the sequence.
    fn terminate(&self) -> Result<Part> {
        let snapshot = self.created()?;
        if !self.is_current()? {
            return Ok(Part::Superseded);
        }
        let snapshot = self.begin_to_terminate(snapshot)?;
        let plan = self.plan(&snapshot)?.merged();
        let placements: Vec<Placement> = plan.placements.into_iter().rev().collect();
        let part = in_lanes(&placements, |placement, _| {
            self.remove(placement, &placement.steps)
        })?;
        match part {
            Part::Done => self.set_status(ContextStatus::Terminated)?,
            Part::Failed => self.set_status(ContextStatus::TerminateFailed)?,
            Part::Retry | Part::Waiting | Part::Superseded => {}
        }
        Ok(part)
    }

    /// Ends an instantiation or termination: a resource that is Retrying becomes Failed.
    fn stop(&self) -> Result<Part> {
        let snapshot = self.snapshot()?;
        let plan = self.plan(&snapshot)?.merged();
        self.reset(&plan, |step| match step.status() {
            Some(RsyncStatus::Retrying) => Some(RsyncStatus::Failed),
            _ => None,
        })?;
        written(
            self.of
                .contexts
                .record_stop_flag(&self.work.context, true)?,
        )?;
        self.set_status(match snapshot.status {
            Some(ContextStatus::Terminating) => ContextStatus::TerminateFailed,
            _ => ContextStatus::InstantiateFailed,
        })?;
        Ok(Part::Done)
    }

    /// Returns whether this work is still asked for.
    fn is_current(&self) -> Result<bool> {
        if self.is_cancelled() {
            return Ok(false);
        }
        let work = Work::read(self.job, &self.of.contexts, &self.of.records)?;
        Ok(work.as_ref() == Some(self.work))
    }

    /// The subject; `None` for a context that no record names.
    fn subject(&self) -> Option<&RecordSubject> {
        match self.job {
            Job::Subject(subject) => Some(subject),
            Job::Context(_) => None,
        }
    }

    fn is_cancelled(&self) -> bool {
        self.of.is_cancelled.load(Ordering::Relaxed)
    }

    fn snapshot(&self) -> Result<ContextSnapshot> {
        let snapshot = self.of.contexts.read(&self.work.context)?;
        snapshot.ok_or(Error::ContextDeleted)
    }

    fn plan(&self, snapshot: &ContextSnapshot) -> Result<Plan> {
        let of = (snapshot, &self.work.status_context);
        Plan::read(&self.of.contexts, of, self.subject())
    }

    fn set_status(&self, status: ContextStatus) -> Result<()> {
        let recorded = self.of.contexts.record_status(&self.work.context, status);
        written(recorded?)
    }
}

fn written(recorded: Recorded) -> Result<()> {
    match recorded {
        Recorded::Written(_) | Recorded::Unchanged => Ok(()),
        Recorded::NotFound => Err(Error::ContextDeleted),
    }
}
