//! A recorded composite application, written into a store through the AppContext library.

use std::sync::Arc;

use kindsight_appcontext::{
    Action, AppContexts, ContextMeta, DigRecord, NewApp, NewCluster, NewContext, NewResource,
    Recorded, Records, ResourceName, StatusChange,
};
use kindsight_model::{ClusterName, ContextStatus, DigName, RsyncStatus};
use kindsight_store::Store;
use serde::Deserialize;

use crate::error::ApplicationError;

/// The newest version of the description that is read.
const VERSION: u64 = 1;

/// A composite application that was instantiated, as the demo's recording describes it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Application {
    version: u64,
    project: String,
    composite_app: String,
    composite_app_version: String,
    profile: String,
    dig: String,
    context_id: String,
    actions: Vec<Action>,
    apps: Vec<App>,
}

#[derive(Debug, Deserialize)]
struct App {
    name: String,
    clusters: Vec<Cluster>,
}

#[derive(Debug, Deserialize)]
struct Cluster {
    cluster: String,
    resources: Vec<Resource>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Resource {
    name: String,
    kind: String,
    manifest: String,
    rsync_status: RsyncStatus,
}

impl Application {
    /// Reads a description.
    ///
    /// # Errors
    /// When it is not one, or of a newer version.
    pub(super) fn read(json: &str) -> Result<Self, ApplicationError> {
        let application: Self = serde_json::from_str(json)?;
        match application.version {
            VERSION => Ok(application),
            found => Err(ApplicationError::Version {
                found,
                known: VERSION,
            }),
        }
    }

    /// Its full name.
    ///
    /// # Errors
    /// When a part of it is not valid.
    pub(super) fn dig(&self) -> Result<DigName, ApplicationError> {
        Ok(DigName::new(
            &self.project,
            &self.composite_app,
            &self.composite_app_version,
            &self.dig,
        )?)
    }

    /// Writes the application into a store, as an orchestrator would. `manifest` finds a manifest's text.
    ///
    /// # Errors
    /// When the store refuses, or a manifest is missing.
    pub(super) fn store(
        &self,
        store: &Arc<dyn Store>,
        manifest: impl Fn(&str) -> Option<&'static str>,
    ) -> Result<(), ApplicationError> {
        let dig = self.dig()?;
        let id = self.context_id.parse()?;
        let contexts = AppContexts::new(Arc::clone(store));
        contexts.create_as(&id, &self.context(&dig, manifest)?)?;
        written(contexts.record_status(&id, ContextStatus::Instantiated)?)?;
        for app in &self.apps {
            for cluster in &app.clusters {
                let name: ClusterName = cluster.cluster.parse()?;
                let resources = cluster.names()?;
                let changes = resources.iter().map(|(resource, status)| StatusChange {
                    app: &app.name,
                    cluster: &name,
                    resource,
                    status: *status,
                });
                written(contexts.record_resource_statuses(&id, &changes.collect::<Vec<_>>())?)?;
            }
        }
        let record = DigRecord {
            profile: Some(self.profile.clone()),
            actions: self.actions.clone(),
        };
        Ok(Records::new(Arc::clone(store)).create_dig(&dig, &record)?)
    }

    fn context(
        &self,
        dig: &DigName,
        manifest: impl Fn(&str) -> Option<&'static str>,
    ) -> Result<NewContext, ApplicationError> {
        let resource = |resource: &Resource| {
            let text = manifest(&resource.manifest);
            let missing = || ApplicationError::NoManifest(resource.manifest.clone());
            Ok(NewResource {
                resource: ResourceName::new(&resource.name, &resource.kind)?,
                manifest: text.ok_or_else(missing)?.to_owned(),
            })
        };
        let cluster = |cluster: &Cluster| {
            Ok(NewCluster {
                cluster: cluster.cluster.parse()?,
                group: None,
                resources: cluster
                    .resources
                    .iter()
                    .map(resource)
                    .collect::<Result<_, ApplicationError>>()?,
            })
        };
        let app = |app: &App| {
            Ok(NewApp {
                name: app.name.clone(),
                clusters: app
                    .clusters
                    .iter()
                    .map(cluster)
                    .collect::<Result<_, ApplicationError>>()?,
            })
        };
        Ok(NewContext {
            meta: ContextMeta::of_dig(dig),
            apps: self
                .apps
                .iter()
                .map(app)
                .collect::<Result<_, ApplicationError>>()?,
        })
    }
}

impl Cluster {
    fn names(&self) -> Result<Vec<(ResourceName, RsyncStatus)>, ApplicationError> {
        let names = self.resources.iter().map(|resource| {
            let name = ResourceName::new(&resource.name, &resource.kind)?;
            Ok((name, resource.rsync_status))
        });
        names.collect()
    }
}

fn written(recorded: Recorded) -> Result<(), ApplicationError> {
    match recorded {
        Recorded::NotFound => Err(ApplicationError::Deleted),
        Recorded::Written(_) | Recorded::Unchanged => Ok(()),
    }
}
