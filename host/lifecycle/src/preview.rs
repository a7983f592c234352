//! Dry runs: the resources that an instantiation, an application or an update would send and remove, and the changes.

mod created;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use kindsight_appcontext::{
    AppSnapshot, ClusterSnapshot, ContextMeta, ContextSnapshot, Deployed, Intent, IntentApp, Place,
    ResourceName, ResourceSnapshot, StoredBundle,
};
use kindsight_model::{ClusterName, ContextId, LifecycleState, RecordSubject, RsyncStatus};

use crate::readiness::Readiness;
use crate::sender::{Change, SendError, Sender};
use crate::sequence::{Lane, Part, Placement, Plan, Step, chosen, in_lanes};
use crate::state::{Action, Lifecycle, Situation};
use crate::work::Work;
use crate::{Draft, Error, Groups, Result, manifest};
use created::Created;

/// Maximum number of resources that a dry run asks clusters about. Each is some calls to a cluster. Removals need no calls.
pub const DRY_RUN_RESOURCES_MAX: usize = 1000;

/// The result of a dry run. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DryRun {
    /// The resources, in the order of their application, then the resources that would be removed.
    pub resources: Vec<PlannedResource>,
    /// The number of resources that would be sent and that no cluster was asked about.
    pub left_off: usize,
}

/// A resource of a dry run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedResource {
    /// The app.
    pub app: String,
    /// The cluster.
    pub cluster: ClusterName,
    /// The resource.
    pub resource: ResourceName,
    /// The change.
    pub change: PlannedChange,
    /// The JSON paths that would change.
    pub differences: Vec<String>,
}

/// The change of a resource in a dry run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlannedChange {
    /// It would be created.
    Create,
    /// It would be created after its namespace or its Kind, so the cluster cannot check it yet, with the reason.
    CreateUnchecked(String),
    /// It would be changed.
    Update,
    /// It would not change.
    Unchanged,
    /// It would be removed.
    Delete,
    /// The cluster would refuse it, with the reason.
    Refused(String),
    /// The cluster does not answer, with the reason.
    Unknown(String),
}

impl Groups {
    /// The effect that an instantiation would have, or an update if the group is instantiated, or an application of network
    /// intents: of a draft, or of the stored content. Asks the clusters, and changes nothing.
    ///
    /// # Errors
    /// [`Error::NotFound`] without a draft, [`Error::ReadOnly`], [`Error::Invalid`], [`Error::Refused`] while the previous
    /// instance is being removed, and errors of the store.
    pub fn dry_run(
        &self,
        subject: &RecordSubject,
        draft: Option<Draft>,
        sender: &dyn Sender,
        readiness: &dyn Readiness,
    ) -> Result<DryRun> {
        let draft = draft.map(|draft| draft.checked_for(subject)).transpose();
        let draft = draft.map_err(Error::Invalid)?;
        let group = match self.get(subject) {
            Ok(group) => Some(group),
            Err(Error::NotFound(_)) if draft.is_some() => None,
            Err(error) => return Err(error),
        };
        let stored = group.as_ref().and_then(|group| group.intent.clone());
        let content = draft.or(stored);
        let content = content.ok_or_else(|| Error::ReadOnly(subject.clone()))?;
        let live = group.as_ref().filter(|group| {
            use LifecycleState::{Applied, InstantiateStopped, Instantiated, TerminateStopped};
            // An instance after a stopped termination takes over what the previous instance left.
            matches!(
                group.situation.state,
                Applied | Instantiated | InstantiateStopped | TerminateStopped
            )
        });
        if let (None, Some(group)) = (live, &group) {
            check_removed(group.situation)?;
        }
        let live = live.and_then(|group| Work::of(&group.record));
        let id = self.contexts.new_id()?;
        let (status_context, deployed) = match live {
            Some(work) => {
                let deployed = self.contexts.deployed(&work.status_context)?;
                (work.status_context, deployed)
            }
            None => (id.clone(), BTreeMap::new()),
        };
        let has_app = |app: &str, cluster: &ClusterName| has_app(&deployed, app, cluster);
        let snapshot = snapshot(subject, &id, &content, |app, group| {
            chosen(group, |cluster| has_app(app, cluster), sender, readiness)
        })?;
        let of = (&snapshot, &status_context, Some(subject));
        let plan = Plan::of(&self.contexts, of, deployed.clone(), |_, _| Ok(Vec::new()))?;
        planned(plan, sender)
    }
}

/// Checks that no instance is being removed. The clusters still have resources of this instance, and would refuse the same
/// resources of a new instance.
fn check_removed(situation: Situation) -> Result<()> {
    let begin = match situation.of {
        Lifecycle::Group => Action::Instantiate,
        Lifecycle::NetworkIntents => Action::Apply,
    };
    if situation.is_running {
        situation.after(begin)?;
    }
    Ok(())
}

fn has_app(deployed: &BTreeMap<Place, Deployed>, app: &str, cluster: &ClusterName) -> bool {
    deployed.iter().any(|(place, resource)| {
        place.app == app && place.cluster == *cluster && resource.status != RsyncStatus::Deleted
    })
}

/// The context that an instance of this content would have.
fn snapshot<'c>(
    subject: &RecordSubject,
    id: &ContextId,
    content: &'c Intent,
    chosen: impl Fn(&str, &[&'c ClusterName]) -> Option<&'c ClusterName>,
) -> Result<ContextSnapshot> {
    let apps = content.apps.iter().map(|app| {
        let groups = app.any_of.iter().filter_map(|group| {
            let group: Vec<&ClusterName> = group.iter().collect();
            chosen(&app.name, &group)
        });
        let clusters = app.clusters.iter().chain(groups);
        let clusters = clusters.map(|cluster| cluster_snapshot(app, cluster));
        Ok(AppSnapshot {
            name: app.name.clone(),
            depends_on: Vec::new(),
            clusters: clusters.collect::<Result<_>>()?,
        })
    });
    let meta = ContextMeta::of(subject);
    Ok(ContextSnapshot::unstored(
        id,
        meta,
        apps.collect::<Result<_>>()?,
    ))
}

fn cluster_snapshot(app: &IntentApp, cluster: &ClusterName) -> Result<ClusterSnapshot> {
    let resources = app.manifests.iter().map(|yaml| {
        let name = manifest::checked(yaml).map_err(|why| Error::Manifest {
            resource: format!("the app {}", app.name),
            why,
        })?;
        Ok(ResourceSnapshot {
            name: name.name().to_owned(),
            kind: name.kind().to_owned(),
            manifest: Some(yaml.as_str().into()),
            status: None,
            hook: None,
        })
    });
    Ok(ClusterSnapshot {
        cluster: cluster.clone(),
        group: None,
        bundle: StoredBundle::Absent,
        connectivity: None,
        resources: resources.collect::<Result<_>>()?,
    })
}

/// Asks the clusters for the changes.
fn planned(mut plan: Plan, sender: &dyn Sender) -> Result<DryRun> {
    let mut placements = plan.placements;
    placements.append(&mut plan.others);
    let mut room = DRY_RUN_RESOURCES_MAX;
    let mut left_off = 0;
    for Placement { steps, .. } in &mut placements {
        left_off += steps.len().saturating_sub(room);
        steps.truncate(room);
        room -= steps.len();
    }
    let lines = Mutex::<BTreeMap<usize, Vec<PlannedResource>>>::default();
    let created = Created::default();
    in_lanes(&placements, |placement, lane| {
        let steps = placement.steps.iter();
        let sent = steps.map(|step| planned_resource(placement, step, sender, (lane, &created)));
        let sent: Vec<PlannedResource> = sent.collect();
        let removed = placement.leftovers.iter();
        let removed = removed.map(|step| line(step, PlannedChange::Delete, Vec::new()));
        let at = placements
            .iter()
            .position(|earlier| earlier.target == placement.target);
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.insert(
            at.unwrap_or_default(),
            sent.into_iter().chain(removed).collect(),
        );
        Ok(Part::Done)
    })?;
    let lines = lines.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(DryRun {
        resources: lines.into_values().flatten().collect(),
        left_off,
    })
}

fn planned_resource(
    placement: &Placement,
    step: &Step,
    sender: &dyn Sender,
    (lane, created): (&mut Lane, &Created),
) -> PlannedResource {
    if let Some(why) = &lane.unreachable {
        return line(step, PlannedChange::Unknown(why.clone()), Vec::new());
    }
    match previewed(placement, step, sender, created) {
        Ok((change, differences)) => line(step, change, differences),
        Err(SendError::Refused(why)) => line(step, PlannedChange::Refused(why), Vec::new()),
        Err(SendError::Unreachable(why)) => {
            lane.unreachable = Some(why.clone());
            line(step, PlannedChange::Unknown(why), Vec::new())
        }
    }
}

/// The change of a resource, with the JSON paths that would change.
fn previewed(
    placement: &Placement,
    step: &Step,
    sender: &dyn Sender,
    created: &Created,
) -> Result<(PlannedChange, Vec<String>), SendError> {
    let target = &placement.target;
    let manifest = step.manifest(&target.deployment);
    let manifest = manifest.map_err(SendError::Refused)?;
    let sent = step.sent(&manifest, false);
    step.check_identity()?;
    sender.vet(target, &sent)?;
    let preview = match sender.preview(target, &sent) {
        Ok(preview) => preview,
        Err(error) => {
            let why = created.before(&target.cluster, &manifest).ok_or(error)?;
            return Ok((PlannedChange::CreateUnchecked(why), Vec::new()));
        }
    };
    let change = match preview.change {
        Change::Create => {
            created.note(&target.cluster, &manifest);
            PlannedChange::Create
        }
        Change::Update => PlannedChange::Update,
        Change::Unchanged => PlannedChange::Unchanged,
    };
    Ok((change, preview.differences))
}

fn line(step: &Step, change: PlannedChange, differences: Vec<String>) -> PlannedResource {
    PlannedResource {
        app: step.place.app.clone(),
        cluster: step.place.cluster.clone(),
        resource: step.place.resource.clone(),
        change,
        differences,
    }
}
