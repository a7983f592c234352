//! New contexts, written with all their keys as one batch.

use kindsight_model::{ClusterName, ContextId};
use kindsight_store::Batch;
use serde::Serialize;

use crate::instruction::{
    AppOrder, AppsDependency, Instruction, ResourceDependency, ResourceOrder,
};
use crate::keys::{AppKeys, ClusterKeys, ContextKeys, ResourceName};
use crate::{ContextMeta, Result, go_json};

/// A context that is to be created.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewContext {
    /// The deployment intent group that it instantiates.
    pub meta: ContextMeta,
    /// The apps, in the order in which they are instantiated.
    pub apps: Vec<NewApp>,
}

/// An app of a new context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewApp {
    /// The name, by the rule of [`is_name`](kindsight_model::is_name), other than `instruction`.
    pub name: String,
    /// The clusters that it goes to.
    pub clusters: Vec<NewCluster>,
}

/// An app of a new context in one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCluster {
    /// The name of the cluster.
    pub cluster: ClusterName,
    /// The number of the group of clusters, if placement chose one of several.
    pub group: Option<String>,
    /// The resources that are sent there, in the order in which they are applied.
    pub resources: Vec<NewResource>,
}

/// A resource of a new context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewResource {
    /// The name and Kind.
    pub resource: ResourceName,
    /// The manifest, as YAML.
    pub manifest: String,
}

/// Builds the batch that writes all keys of a context, on the condition that its id is free.
///
/// # Errors
/// [`crate::Error::Name`] for an app with an impossible name.
pub(crate) fn batch(id: &ContextId, new: &NewContext) -> Result<Batch> {
    let keys = ContextKeys::new(id);
    let names: Vec<&str> = new.apps.iter().map(|app| app.name.as_str()).collect();
    let dependency = AppsDependency::go(&names)?;
    let mut batch = Batch::new().absent(keys.root());
    batch = put(batch, keys.root(), id.as_str())?;
    batch = put(batch, keys.meta(), &new.meta)?;
    batch = put_instruction(batch, keys.app_order(), &AppOrder::new(names))?;
    batch = put_instruction(batch, keys.app_dependency(), &dependency)?;
    for app in &new.apps {
        batch = add_app(batch, &keys.app(&app.name)?, app)?;
    }
    Ok(batch)
}

fn add_app(mut batch: Batch, keys: &AppKeys, app: &NewApp) -> Result<Batch> {
    batch = put(batch, keys.root(), &app.name)?;
    for cluster in &app.clusters {
        batch = add_cluster(batch, &keys.cluster(&cluster.cluster), cluster)?;
    }
    Ok(batch)
}

fn add_cluster(mut batch: Batch, keys: &ClusterKeys, cluster: &NewCluster) -> Result<Batch> {
    batch = put(batch, keys.root(), &cluster.cluster.to_string())?;
    if let Some(group) = &cluster.group {
        batch = put(batch, keys.group(), group)?;
    }
    for new in &cluster.resources {
        batch = put(batch, keys.resource(&new.resource).root(), &new.manifest)?;
    }
    add_resource_instructions(batch, keys, &cluster.resources)
}

/// Adds order and dependency of the resources; the reference writes neither for a cluster without
/// resources.
fn add_resource_instructions(
    batch: Batch,
    keys: &ClusterKeys,
    resources: &[NewResource],
) -> Result<Batch> {
    if resources.is_empty() {
        return Ok(batch);
    }
    let names: Vec<String> = resources
        .iter()
        .map(|new| new.resource.to_string())
        .collect();
    let dependency = ResourceDependency::go(&names)?;
    let batch = put_instruction(batch, keys.resource_order(), &ResourceOrder::new(names))?;
    put_instruction(batch, keys.resource_dependency(), &dependency)
}

fn put<T: Serialize + ?Sized>(batch: Batch, key: impl Into<String>, value: &T) -> Result<Batch> {
    Ok(batch.put(key, go_json::encode(value)?))
}

fn put_instruction<I: Instruction>(batch: Batch, key: String, value: &I) -> Result<Batch> {
    put(batch, key, &value.encode()?)
}
