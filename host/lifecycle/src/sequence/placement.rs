//! The resources of a context, one placement for each app in each cluster.

use kindsight_appcontext::{AppSnapshot, ClusterSnapshot, ContextSnapshot, ResourceName};
use kindsight_model::{DeploymentId, RsyncStatus};

use crate::manifest;
use crate::sender::{SentResource, Target};
use crate::{Error, Result};

/// An app in one cluster.
pub(super) struct Placement {
    pub(super) target: Target,
    /// The resources, in the order of application.
    pub(super) steps: Vec<Step>,
}

/// A resource of a placement.
pub(super) struct Step {
    position: usize,
    pub(super) resource: ResourceName,
    /// The stored status.
    pub(super) status: Option<RsyncStatus>,
    yaml: String,
}

impl Placement {
    /// All placements of a context, in the order of its apps.
    pub(super) fn all(snapshot: &ContextSnapshot) -> Result<Vec<Self>> {
        let apps = snapshot.apps.iter();
        let placements = apps.flat_map(|app| app.clusters.iter().map(move |it| (app, it)));
        placements
            .map(|(app, cluster)| Self::of(snapshot, app, cluster))
            .collect()
    }

    fn of(
        snapshot: &ContextSnapshot,
        app: &AppSnapshot,
        cluster: &ClusterSnapshot,
    ) -> Result<Self> {
        let steps = cluster.resources.iter().enumerate();
        let steps = steps.map(|(position, resource)| {
            Ok(Step {
                position,
                resource: ResourceName::new(&resource.name, &resource.kind)?,
                status: resource.status,
                yaml: resource.manifest.as_deref().unwrap_or_default().to_owned(),
            })
        });
        Ok(Self {
            steps: steps.collect::<Result<_>>()?,
            target: Target {
                project: snapshot.meta.clone().unwrap_or_default().project,
                cluster: cluster.cluster.clone(),
                deployment: DeploymentId {
                    context: snapshot.id.clone(),
                    app: app.name.as_str().into(),
                },
            },
        })
    }

    /// The manifest of a resource with the label, as JSON.
    pub(super) fn manifest(&self, step: &Step) -> Result<String> {
        let labelled = manifest::labelled(&step.yaml, &self.target.deployment);
        labelled.map_err(|why| Error::Manifest {
            resource: step.resource.to_string(),
            why,
        })
    }
}

impl Step {
    /// The resource for the sender.
    pub(super) fn sent<'a>(&'a self, manifest: &'a str) -> SentResource<'a> {
        SentResource {
            position: self.position,
            name: self.resource.name(),
            kind: self.resource.kind(),
            manifest,
            uid: None,
            force: false,
        }
    }
}
