//! The begin of an instantiation and of a termination.

use std::sync::{Mutex, PoisonError};

use kindsight_appcontext::{ContextSnapshot, Deployed, Place};
use kindsight_model::{ClusterName, ContextStatus, RecordSubject, RsyncStatus};

use super::{Part, Placement, Plan, Run, Step, in_lanes, written};
use crate::Result;
use crate::preparation::NotPrepared;
use crate::sender::SendError;

/// The answers of the clusters before anything is sent.
#[derive(Default)]
struct Answers {
    /// The clusters that accept every resource, each once for each app.
    accepted: Vec<ClusterName>,
    unreachable: Vec<ClusterName>,
    refused: Vec<(Place, Deployed)>,
}

impl Run<'_> {
    /// Vets every resource, makes every resource Pending, and the context `Instantiating`. Returns the clusters whose
    /// resources were all vetted. An unreachable cluster is vetted later, before its resources are sent.
    ///
    /// If a resource would become another object, or a cluster refuses a resource, the context is `InstantiateFailed`,
    /// nothing was sent, and the result is `None`.
    pub(super) fn begin(&self, plan: &Plan) -> Result<Option<Vec<ClusterName>>> {
        // This check needs no cluster. Pending resources have the new context, so a later check could not compare them.
        let steps = plan.placements.iter().flat_map(|it| &it.steps);
        let others = steps.filter_map(|step| match step.check_identity() {
            Err(SendError::Refused(why)) => Some((step.place.clone(), refused(step, why))),
            Ok(()) | Err(SendError::Unreachable(_)) => None,
        });
        let others: Vec<_> = others.collect();
        if !others.is_empty() {
            return self.refuse(plan, &others).map(|()| None);
        }
        let answers = Mutex::<Answers>::default();
        in_lanes(&plan.placements, |placement, lane| {
            if lane.unreachable.is_none() {
                let answer = self.vet_all(placement);
                let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
                let cluster = placement.target.cluster.clone();
                match answer {
                    Ok(()) => answers.accepted.push(cluster),
                    Err((_, SendError::Unreachable(why))) => {
                        answers.unreachable.push(cluster);
                        lane.unreachable = Some(why);
                    }
                    Err((step, SendError::Refused(why))) => {
                        answers
                            .refused
                            .push((step.place.clone(), refused(step, why)));
                    }
                }
            }
            Ok(Part::Done)
        })?;
        let answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
        if !answers.refused.is_empty() {
            return self.refuse(plan, &answers.refused).map(|()| None);
        }
        for placement in plan.placements.iter().chain(&plan.others) {
            let steps = placement.steps.iter().chain(&placement.leftovers);
            let changes = steps.map(|step| {
                let mut deployed = step.deployed.clone();
                deployed.status = RsyncStatus::Pending;
                (step.place.clone(), deployed)
            });
            self.store(&changes.collect::<Vec<_>>())?;
        }
        self.set_status(ContextStatus::Instantiating)?;
        let mut accepted = answers.accepted;
        accepted.retain(|cluster| !answers.unreachable.contains(cluster));
        Ok(Some(accepted))
    }

    /// Has the controllers change the context, except for network intents. If a controller fails, the context is `InstantiateFailed`, and the first
    /// resource has the reason.
    pub(super) fn prepare(&self, snapshot: &ContextSnapshot) -> Result<Part> {
        let is_of_cluster = matches!(self.subject(), Some(RecordSubject::Cluster(_)));
        let Some(controllers) = self.of.preparation.as_ref().filter(|_| !is_of_cluster) else {
            return Ok(Part::Done);
        };
        let content = self.content.as_ref();
        let intents = content
            .map(|content| content.controllers.clone())
            .unwrap_or_default();
        match controllers.prepare(&snapshot.id, &intents) {
            Ok(()) => Ok(Part::Done),
            Err(NotPrepared::Unreachable(_)) => Ok(Part::Retry),
            Err(NotPrepared::Refused(why)) => {
                // Only the chosen clusters of the groups get stored states.
                let plan = self.plan(&self.with_chosen_clusters(self.snapshot()?)?)?;
                let mut steps = plan.placements.iter().flat_map(|it| &it.steps);
                let first = steps.next();
                let refused = first.map(|step| (step.place.clone(), refused(step, why)));
                self.refuse(&plan, refused.as_slice())?;
                Ok(Part::Failed)
            }
        }
    }

    /// Vets the resources of a placement in their order, until one is refused or the cluster is unreachable.
    fn vet_all<'p>(&self, placement: &'p Placement) -> Result<(), (&'p Step, SendError)> {
        for step in &placement.steps {
            self.vet(placement, step).map_err(|error| (step, error))?;
        }
        Ok(())
    }

    /// Returns whether the resources overwrite the fields of other managers.
    pub(super) fn forces(&self) -> bool {
        self.content.as_ref().is_some_and(|content| content.force)
    }

    /// Vets a resource.
    pub(super) fn vet(&self, placement: &Placement, step: &Step) -> Result<(), SendError> {
        let manifest = step.manifest(&placement.target.deployment);
        let manifest = manifest.map_err(SendError::Refused)?;
        self.of
            .sender
            .vet(&placement.target, &step.sent(&manifest, self.forces()))
    }

    /// Ends an instantiation before anything is sent. Resources of earlier contexts keep their statuses.
    fn refuse(&self, plan: &Plan, refused: &[(Place, Deployed)]) -> Result<()> {
        for placement in &plan.placements {
            let steps = placement.steps.iter();
            let new = steps.filter(|step| step.known.is_none());
            let new = new.filter(|step| refused.iter().all(|(place, _)| *place != step.place));
            let new = new.map(|step| (step.place.clone(), step.deployed.clone()));
            self.store(&new.collect::<Vec<_>>())?;
        }
        for refused in refused {
            self.store(std::slice::from_ref(refused))?;
        }
        self.set_status(ContextStatus::InstantiateFailed)
    }

    /// Makes every resource that may have been sent Pending, and the context Terminating, unless the termination has
    /// begun. A resource without a status was never sent: it is Deleted.
    pub(super) fn begin_to_terminate(&self, snapshot: ContextSnapshot) -> Result<ContextSnapshot> {
        if snapshot.status == Some(ContextStatus::Terminating) && !snapshot.stop_flag {
            return Ok(snapshot);
        }
        // An instantiation of the same context may have begun to count.
        self.of.forget(self.job);
        // The statuses first: Terminating means that no status of the instantiation is left.
        let plan = self.plan(&snapshot)?.merged();
        for placement in &plan.placements {
            let changes = placement.steps.iter().filter_map(|step| {
                let mut deployed = step.deployed.clone();
                deployed.status = match step.status() {
                    Some(RsyncStatus::Deleted) if step.known.is_some() => return None,
                    None | Some(RsyncStatus::Deleted) => RsyncStatus::Deleted,
                    Some(_) => RsyncStatus::Pending,
                };
                Some((step.place.clone(), deployed))
            });
            self.store(&changes.collect::<Vec<_>>())?;
        }
        self.set_status(ContextStatus::Terminating)?;
        if snapshot.stop_flag {
            written(
                self.of
                    .contexts
                    .record_stop_flag(&self.work.context, false)?,
            )?;
        }
        self.snapshot()
    }
}

/// The stored state of a refused resource. The state of an earlier context stays, with the reason.
fn refused(step: &Step, why: String) -> Deployed {
    let mut deployed = step.known.clone().unwrap_or_else(|| step.deployed.clone());
    deployed.status = RsyncStatus::Failed;
    deployed.why = Some(why);
    deployed
}
