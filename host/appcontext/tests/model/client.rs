//! A client of the library.

use std::collections::HashMap;

use kindsight_appcontext::{
    App, AppOrder, Cluster, CompositeApp, Error, Resource, ResourceName, ResourceOrder,
};
use kindsight_model::{ClusterName, RsyncStatus};

use super::call::{Call, Outcome};

/// A client with the handles it once got.
pub(crate) struct Client {
    context: CompositeApp,
    apps: HashMap<u8, App>,
    clusters: HashMap<(u8, u8), Cluster>,
    resources: HashMap<(u8, u8, u8), Resource>,
}

impl Client {
    pub(crate) fn new(context: CompositeApp) -> Self {
        Self {
            context,
            apps: HashMap::new(),
            clusters: HashMap::new(),
            resources: HashMap::new(),
        }
    }

    pub(crate) fn make(&mut self, call: &Call) -> Outcome {
        match self.try_make(call) {
            Ok(true) => Outcome::Done,
            Ok(false) | Err(Error::NotFound { .. }) => Outcome::NotFound,
            Err(Error::Exists { .. }) => Outcome::Exists,
            Err(error) => panic!("{call:?}: {error}"),
        }
    }

    /// Makes a call; false when what it deletes does not exist.
    fn try_make(&mut self, call: &Call) -> Result<bool, Error> {
        match *call {
            Call::AddApp(app) => {
                let added = self.context.add_app(&app_name(app))?;
                self.apps.insert(app, added);
            }
            Call::DeleteApp(app) => return self.app(app)?.delete(),
            Call::AppendApp(app) => {
                self.context.app_order().update(|order| {
                    let mut order = order.unwrap_or_else(|| AppOrder::new([""; 0]));
                    order.apps.push(app_name(app));
                    Some(order)
                })?;
            }
            Call::AddCluster(app, cluster) => {
                let added = self.app(app)?.add_cluster(&cluster_name(cluster))?;
                self.clusters.insert((app, cluster), added);
            }
            Call::DeleteCluster(app, cluster) => return self.cluster(app, cluster)?.delete(),
            Call::SetGroup(app, cluster, group) => {
                self.cluster(app, cluster)?
                    .group()
                    .set(&group.to_string())?;
            }
            Call::AddResource(app, cluster, resource, yaml) => {
                let name = resource_name(resource);
                let cluster_handle = self.cluster(app, cluster)?;
                let added = cluster_handle.add_resource(&name, &yaml.to_string())?;
                self.resources.insert((app, cluster, resource), added);
            }
            Call::DeleteResource(app, cluster, resource) => {
                return self.resource(app, cluster, resource)?.delete();
            }
            Call::AppendResource(app, cluster, resource) => {
                let order = self.cluster(app, cluster)?.resource_order();
                order.update(|order| {
                    let mut order = order.unwrap_or_else(|| ResourceOrder::new([""; 0]));
                    order.resources.push(resource_name(resource).to_string());
                    Some(order)
                })?;
            }
            Call::ChangeManifest(app, cluster, resource) => {
                let manifest = self.resource(app, cluster, resource)?.manifest();
                manifest.update(|yaml| yaml.map(|yaml| yaml + "+"))?;
            }
            Call::SetApplied(app, cluster, resource) => {
                let status = self.resource(app, cluster, resource)?.status();
                status.set(&RsyncStatus::Applied)?;
            }
            Call::DeleteContext => return self.context.delete(),
        }
        Ok(true)
    }

    fn app(&mut self, app: u8) -> Result<App, Error> {
        if let Some(known) = self.apps.get(&app) {
            return Ok(known.clone());
        }
        self.context.app(&app_name(app))
    }

    fn cluster(&mut self, app: u8, cluster: u8) -> Result<Cluster, Error> {
        if let Some(known) = self.clusters.get(&(app, cluster)) {
            return Ok(known.clone());
        }
        self.app(app)?.cluster(&cluster_name(cluster))
    }

    fn resource(&mut self, app: u8, cluster: u8, resource: u8) -> Result<Resource, Error> {
        if let Some(known) = self.resources.get(&(app, cluster, resource)) {
            return Ok(known.clone());
        }
        let cluster = self.cluster(app, cluster)?;
        cluster.resource(&resource_name(resource))
    }
}

pub(crate) fn app_name(app: u8) -> String {
    format!("app{app}")
}

pub(crate) fn cluster_name(cluster: u8) -> ClusterName {
    format!("p+c{cluster}").parse().expect("a cluster")
}

pub(crate) fn resource_name(resource: u8) -> ResourceName {
    ResourceName::new(&format!("r{resource}"), "Pod").expect("a name")
}
