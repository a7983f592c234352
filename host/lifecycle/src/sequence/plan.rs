//! The resources of a context, and the resources that only earlier contexts name.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_appcontext::{
    AppContexts, AppSnapshot, ClusterSnapshot, ContextSnapshot, DependsOn, Deployed, Place,
    ResourceName, ResourceWait,
};
use kindsight_model::{ClusterName, ContextId, DeploymentId, RecordSubject, RsyncStatus};

use crate::Result;
use crate::manifest;
use crate::sender::{SendError, SentResource, Target};

/// The resources of a context, and the remaining resources of earlier contexts.
pub(crate) struct Plan {
    /// The apps of the context in their clusters, in the order of the apps.
    pub(crate) placements: Vec<Placement>,
    /// Apps in clusters that only earlier contexts name.
    pub(crate) others: Vec<Placement>,
}

/// An app in one cluster.
pub(crate) struct Placement {
    pub(crate) target: Target,
    /// The apps that it waits for.
    pub(crate) depends_on: Vec<DependsOn>,
    /// The resources, in the order of application.
    pub(crate) steps: Vec<Step>,
    /// The resources that only earlier contexts name, in the order of application.
    pub(crate) leftovers: Vec<Step>,
    /// True if the context does not name the app in this cluster, or its termination is wanted.
    pub(crate) is_removed: bool,
    /// True if the outcome of an attempt to reach the cluster is stored.
    pub(crate) was_asked: bool,
}

/// A resource of a placement.
pub(crate) struct Step {
    pub(crate) place: Place,
    /// The state that is stored after the step: status and reason are replaced.
    pub(crate) deployed: Deployed,
    /// The stored state.
    pub(crate) known: Option<Deployed>,
    /// The status in the context, if there is no stored state.
    written: Option<RsyncStatus>,
    /// The resources that it waits for.
    pub(crate) waits: Vec<ResourceWait>,
    yaml: Option<Arc<str>>,
    /// The manifest of the earlier context that named the resource last.
    previous: Option<Arc<str>>,
}

/// The rank of a Kind: namespaces and definitions of Kinds are sent before everything else, and removed after.
fn rank(kind: &str) -> u8 {
    match kind {
        "Namespace" => 0,
        "CustomResourceDefinition" => 1,
        _ => 2,
    }
}

impl Plan {
    /// Reads the plan of a context of a subject. `None` for a context that no record names.
    pub(crate) fn read(
        contexts: &AppContexts,
        (snapshot, status_context): (&ContextSnapshot, &ContextId),
        subject: Option<&RecordSubject>,
    ) -> Result<Self> {
        let deployed = contexts.deployed(status_context)?;
        let context = contexts.load(&snapshot.id)?;
        let waits = |app: &str, cluster: &ClusterName| {
            let handle = context.app(app)?.cluster(cluster)?;
            let stored = handle.resource_dependency().get()?;
            Ok(stored.map(|context| context.waits()).unwrap_or_default())
        };
        let of = (snapshot, status_context, subject);
        Self::of(contexts, of, deployed, waits)
    }

    /// The plan of a context that may not be stored. `deployed` are the stored states of the status context.
    pub(crate) fn of(
        contexts: &AppContexts,
        (snapshot, status_context, subject): (&ContextSnapshot, &ContextId, Option<&RecordSubject>),
        mut deployed: BTreeMap<Place, Deployed>,
        waits: impl Fn(&str, &ClusterName) -> Result<Vec<ResourceWait>>,
    ) -> Result<Self> {
        let project = match subject {
            Some(RecordSubject::Cluster(_)) => None,
            _ => Some(snapshot.meta.clone().unwrap_or_default().project),
        };
        let target = |app: &str, cluster: &ClusterName| Target {
            project: project.clone(),
            cluster: cluster.clone(),
            deployment: DeploymentId {
                context: status_context.clone(),
                app: app.into(),
            },
        };
        let mut placements = Vec::new();
        let mut manifests = Manifests::default();
        for app in &snapshot.apps {
            for cluster in &app.clusters {
                let waits = waits(&app.name, &cluster.cluster)?;
                let mut placement = Placement {
                    target: target(&app.name, &cluster.cluster),
                    depends_on: app.depends_on.clone(),
                    steps: Vec::new(),
                    leftovers: Vec::new(),
                    is_removed: false,
                    was_asked: cluster.connectivity.is_some(),
                };
                placement.add_steps(&snapshot.id, (app, cluster), &waits, &mut deployed)?;
                for step in &mut placement.steps {
                    step.previous = manifests.previous(contexts, step)?;
                }
                placements.push(placement);
            }
        }
        deployed.retain(|_, it| it.status != RsyncStatus::Deleted);
        let mut leftovers: BTreeMap<(String, ClusterName), Vec<Step>> = BTreeMap::new();
        for (place, known) in deployed {
            let yaml = manifests.find(contexts, &known.acting, &place)?;
            let of_app = leftovers.entry((place.app.clone(), place.cluster.clone()));
            of_app.or_default().push(Step::left(place, known, yaml));
        }
        for steps in leftovers.values_mut() {
            steps.sort_by_key(|step| (step.rank(), step.deployed.position));
        }
        for placement in &mut placements {
            let target = &placement.target;
            let of_app = (target.deployment.app.to_string(), target.cluster.clone());
            placement.leftovers = leftovers.remove(&of_app).unwrap_or_default();
        }
        let others = leftovers
            .into_iter()
            .map(|((app, cluster), leftovers)| Placement {
                target: target(&app, &cluster),
                depends_on: Vec::new(),
                steps: Vec::new(),
                leftovers,
                is_removed: true,
                was_asked: true,
            });
        Ok(Self {
            placements,
            others: others.collect(),
        })
    }

    /// All resources as resources of the context, to remove all of them.
    pub(crate) fn merged(mut self) -> Self {
        self.placements.append(&mut self.others);
        for placement in &mut self.placements {
            let leftovers = std::mem::take(&mut placement.leftovers);
            for step in &mut placement.steps {
                step.become_previous();
            }
            placement.steps.extend(leftovers);
            placement.steps.sort_by_key(Step::rank);
            placement.is_removed = true;
        }
        self
    }
}

/// The manifests of earlier contexts. Each context is read once.
#[derive(Default)]
struct Manifests(BTreeMap<ContextId, BTreeMap<Place, Arc<str>>>);

impl Manifests {
    /// The manifest that an earlier context has of a resource.
    fn previous(&mut self, contexts: &AppContexts, step: &Step) -> Result<Option<Arc<str>>> {
        match &step.known {
            Some(known) if known.acting != step.deployed.acting => {
                self.find(contexts, &known.acting, &step.place)
            }
            _ => Ok(None),
        }
    }

    fn find(
        &mut self,
        contexts: &AppContexts,
        id: &ContextId,
        place: &Place,
    ) -> Result<Option<Arc<str>>> {
        if !self.0.contains_key(id) {
            let snapshot = contexts.read(id)?;
            let mut manifests = BTreeMap::new();
            for app in snapshot.iter().flat_map(|it| &it.apps) {
                for cluster in &app.clusters {
                    for resource in cluster.resources.iter() {
                        let place = Place {
                            app: app.name.clone(),
                            cluster: cluster.cluster.clone(),
                            resource: ResourceName::new(&resource.name, &resource.kind)?,
                        };
                        manifests.extend(resource.manifest.clone().map(|yaml| (place, yaml)));
                    }
                }
            }
            self.0.insert(id.clone(), manifests);
        }
        let found = self.0.get(id).and_then(|manifests| manifests.get(place));
        Ok(found.cloned())
    }
}

impl Placement {
    /// Adds the resources of the context, with their stored states.
    fn add_steps(
        &mut self,
        acting: &ContextId,
        (app, cluster): (&AppSnapshot, &ClusterSnapshot),
        waits: &[ResourceWait],
        deployed: &mut BTreeMap<Place, Deployed>,
    ) -> Result<()> {
        let of_this = deployed
            .iter()
            .filter(|(place, _)| place.app == app.name && place.cluster == cluster.cluster);
        let next = of_this.map(|(_, known)| known.position + 1).max();
        let mut next = next.unwrap_or_default();
        let mut resources: Vec<_> = cluster.resources.iter().collect();
        resources.sort_by_key(|resource| rank(&resource.kind));
        for resource in resources {
            let place = Place {
                app: app.name.clone(),
                cluster: cluster.cluster.clone(),
                resource: ResourceName::new(&resource.name, &resource.kind)?,
            };
            let known = deployed.remove(&place);
            let position = known.as_ref().map_or(next, |known| known.position);
            next = next.max(position + 1);
            let name = place.resource.to_string();
            let of_this = waits.iter().filter(|wait| wait.resource == name);
            self.steps.push(Step {
                place,
                deployed: Deployed {
                    status: RsyncStatus::Pending,
                    acting: acting.clone(),
                    position,
                    applied: known.as_ref().and_then(|known| known.applied.clone()),
                    uid: known.as_ref().and_then(|known| known.uid.clone()),
                    generation: known.as_ref().and_then(|known| known.generation),
                    why: None,
                },
                known,
                written: resource.status,
                waits: of_this.cloned().collect(),
                yaml: resource.manifest.clone(),
                previous: None,
            });
        }
        Ok(())
    }
}

impl Step {
    /// A resource that only an earlier context names.
    fn left(place: Place, known: Deployed, yaml: Option<Arc<str>>) -> Self {
        Self {
            place,
            deployed: known.clone(),
            known: Some(known),
            written: None,
            waits: Vec::new(),
            yaml,
            previous: None,
        }
    }

    /// Takes the manifest of the earlier context, which is the deployed one.
    fn become_previous(&mut self) {
        if let (Some(previous), Some(known)) = (self.previous.take(), &self.known) {
            self.yaml = Some(previous);
            self.deployed.acting = known.acting.clone();
        }
    }

    /// Checks that the applied manifest of an earlier context is the same object: in the same namespace and API group.
    ///
    /// # Errors
    /// [`SendError::Refused`].
    pub(crate) fn check_identity(&self) -> Result<(), SendError> {
        let (Some(yaml), Some(previous), Some(_)) =
            (&self.yaml, &self.previous, &self.deployed.applied)
        else {
            return Ok(());
        };
        if manifest::identity(yaml) == manifest::identity(previous) {
            return Ok(());
        }
        let why = "its namespace or API group differs from the applied resource; give it another name, or terminate first";
        Err(SendError::Refused(why.to_owned()))
    }

    /// The step with the state that is stored after it, if the cluster does not change.
    pub(super) fn to_send(&self) -> (&Self, Deployed) {
        (self, self.deployed.clone())
    }

    fn rank(&self) -> u8 {
        rank(self.place.resource.kind())
    }

    /// True for a namespace or a definition of a Kind.
    pub(crate) fn is_base(&self) -> bool {
        self.rank() < rank("")
    }

    /// Returns whether nothing is left to do for its removal.
    pub(super) fn is_finished(&self) -> bool {
        matches!(
            self.status(),
            Some(RsyncStatus::Deleted | RsyncStatus::Failed)
        )
    }

    /// The stored status.
    pub(crate) fn status(&self) -> Option<RsyncStatus> {
        self.known
            .as_ref()
            .map(|known| known.status)
            .or(self.written)
    }

    /// The manifest with the label, as JSON.
    ///
    /// # Errors
    /// The reason why it cannot be sent, as text for users.
    pub(crate) fn manifest(&self, deployment: &DeploymentId) -> Result<String, String> {
        let yaml = self.yaml.as_ref().ok_or_else(|| {
            let acting = &self.deployed.acting;
            format!(
                "the context {acting}, which has its manifest, does not exist or cannot be read"
            )
        })?;
        manifest::labelled(yaml, deployment)
    }

    /// The resource for the sender. With `force`, fields of other managers are overwritten.
    pub(crate) fn sent<'a>(&'a self, manifest: &'a str, force: bool) -> SentResource<'a> {
        SentResource {
            position: self.deployed.position,
            name: self.place.resource.name(),
            kind: self.place.resource.kind(),
            manifest,
            uid: self.deployed.uid.as_deref(),
            force,
        }
    }
}
