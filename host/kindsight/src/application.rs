//! Writes a whole composite application into the store, through the AppContext library.

use std::sync::Arc;

use anyhow::Context as _;
use kindsight_appcontext::{
    Action, AppContexts, ContextMeta, DigRecord, NewApp, NewCluster, NewContext, NewResource,
    Recorded, Records, ResourceName, StatusChange,
};
use kindsight_model::{ClusterName, ContextStatus, DigName, RsyncStatus};
use kindsight_store::Store;
use serde::Deserialize;

/// The newest version of the description that is read.
const VERSION: u64 = 1;

/// A composite application that was instantiated, as the demo's recording describes it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Application {
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
    pub(crate) fn read(json: &str) -> anyhow::Result<Self> {
        let application: Self = serde_json::from_str(json).context("read the application")?;
        let version = application.version;
        anyhow::ensure!(
            version == VERSION,
            "version {version} of the application; {VERSION} is right"
        );
        Ok(application)
    }

    /// Its full name.
    pub(crate) fn dig(&self) -> anyhow::Result<DigName> {
        Ok(DigName::new(
            &self.project,
            &self.composite_app,
            &self.composite_app_version,
            &self.dig,
        )?)
    }

    /// Writes it into a store, as an orchestrator would have. `manifest` finds a manifest's text.
    ///
    /// # Errors
    /// When the store refuses, or a manifest is missing.
    pub(crate) fn store(
        &self,
        store: &Arc<dyn Store>,
        manifest: impl Fn(&str) -> Option<&'static str>,
    ) -> anyhow::Result<()> {
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
    ) -> anyhow::Result<NewContext> {
        let resource = |resource: &Resource| {
            let text = manifest(&resource.manifest);
            Ok(NewResource {
                resource: ResourceName::new(&resource.name, &resource.kind)?,
                manifest: text
                    .with_context(|| format!("no manifest {}", resource.manifest))?
                    .to_owned(),
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
                    .collect::<anyhow::Result<_>>()?,
            })
        };
        let app = |app: &App| {
            Ok(NewApp {
                name: app.name.clone(),
                clusters: app
                    .clusters
                    .iter()
                    .map(cluster)
                    .collect::<anyhow::Result<_>>()?,
            })
        };
        Ok(NewContext {
            meta: ContextMeta::of_dig(dig),
            apps: self.apps.iter().map(app).collect::<anyhow::Result<_>>()?,
        })
    }
}

impl Cluster {
    fn names(&self) -> anyhow::Result<Vec<(ResourceName, RsyncStatus)>> {
        let names = self.resources.iter().map(|resource| {
            let name = ResourceName::new(&resource.name, &resource.kind)?;
            Ok((name, resource.rsync_status))
        });
        names.collect()
    }
}

fn written(recorded: Recorded) -> anyhow::Result<()> {
    anyhow::ensure!(
        recorded != Recorded::NotFound,
        "what was just created is not there"
    );
    Ok(())
}
