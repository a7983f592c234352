//! New contexts, written so that a reader sees all of one or nothing.

use std::collections::BTreeMap;

use kindsight_model::{ClusterName, ContextId};
use kindsight_store::{Batch, Error as StoreError, Store};
use serde::Serialize;

use crate::instruction::{
    AppDependency, AppOrder, AppsDependency, Instruction, ResourceDependency, ResourceOrder,
    ResourceWait,
};
use crate::keys::{self, AppKeys, ClusterKeys, ContextKeys, ResourceName};
use crate::{ContextMeta, Error, Result, go_json};

mod steps;

use steps::Steps;

/// A new context.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewContext {
    /// The deployment intent group that it instantiates.
    pub meta: ContextMeta,
    /// The apps, in the order of their instantiation.
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
    /// The resources that are sent there, in the order of their application.
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

/// The context of an instance of a group: a new context with dependencies and a status context.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewInstance {
    /// The context.
    pub context: NewContext,
    /// The context with the statuses, if it is another.
    pub status_context: Option<ContextId>,
    /// The dependencies of apps, by app.
    pub apps: BTreeMap<String, AppDependency>,
    /// The resources that wait for others, by app.
    pub resources: BTreeMap<String, Vec<ResourceWait>>,
}

/// Refuses an id that no label could name.
pub(crate) fn check_id(id: &ContextId) -> Result<()> {
    if id.is_negative() {
        return Err(Error::Name {
            name: id.to_string(),
            expected: "the id of a new context: a decimal number from 0 and below 2^63",
        });
    }
    Ok(())
}

/// Creates a context under an id that is free.
pub(crate) fn create(store: &dyn Store, id: &ContextId, new: &NewContext) -> Result<()> {
    let waits = BTreeMap::new();
    create_all(store, id, &content(&ContextKeys::new(id), new, &waits)?)
}

/// Creates the context of an instance under an id that is free.
pub(crate) fn create_instance(store: &dyn Store, id: &ContextId, new: &NewInstance) -> Result<()> {
    let keys = ContextKeys::new(id);
    let mut content = content(&keys, &new.context, &new.resources)?;
    if let Some(status_context) = &new.status_context {
        content = put(content, keys.status_context(), status_context.as_str())?;
    }
    for (app, dependency) in &new.apps {
        content = put_instruction(content, keys.app(app)?.dependency(), dependency)?;
    }
    create_all(store, id, &content)
}

fn create_all(store: &dyn Store, id: &ContextId, content: &Batch) -> Result<()> {
    check_id(id)?;
    let keys = ContextKeys::new(id);
    let root = go_json::encode(id.as_str())?;
    let whole = content.clone().put(keys.root(), root.clone());
    let whole = whole.absent(keys.root()).absent(keys::creation(id));
    match whole.check(store.limits()) {
        Ok(()) => drop(store.apply(&whole)?),
        Err(StoreError::BatchTooLarge { .. }) => Steps::new(store, id, root).create(content)?,
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// All keys of a context but its root, as writes without conditions.
///
/// # Errors
/// [`Error::Name`] for an app with an impossible name.
fn content(
    keys: &ContextKeys,
    new: &NewContext,
    waits: &BTreeMap<String, Vec<ResourceWait>>,
) -> Result<Batch> {
    let names: Vec<&str> = new.apps.iter().map(|app| app.name.as_str()).collect();
    let dependency = AppsDependency::go(&names)?;
    let mut batch = put(Batch::new(), keys.meta(), &new.meta)?;
    batch = put_instruction(batch, keys.app_order(), &AppOrder::new(names))?;
    batch = put_instruction(batch, keys.app_dependency(), &dependency)?;
    for app in &new.apps {
        let waits = waits.get(&app.name).map_or(&[][..], Vec::as_slice);
        batch = add_app(batch, &keys.app(&app.name)?, app, waits)?;
    }
    Ok(batch)
}

fn add_app(
    mut batch: Batch,
    keys: &AppKeys,
    app: &NewApp,
    waits: &[ResourceWait],
) -> Result<Batch> {
    batch = put(batch, keys.root(), &app.name)?;
    for cluster in &app.clusters {
        batch = add_cluster(batch, &keys.cluster(&cluster.cluster), cluster, waits)?;
    }
    Ok(batch)
}

fn add_cluster(
    mut batch: Batch,
    keys: &ClusterKeys,
    cluster: &NewCluster,
    waits: &[ResourceWait],
) -> Result<Batch> {
    batch = put(batch, keys.root(), &cluster.cluster.to_string())?;
    if let Some(group) = &cluster.group {
        batch = put(batch, keys.group(), group)?;
    }
    for new in &cluster.resources {
        batch = put(batch, keys.resource(&new.resource).root(), &new.manifest)?;
    }
    add_resource_instructions(batch, keys, &cluster.resources, waits)
}

/// Adds order and dependency of the resources; the reference writes neither for a cluster without
/// resources.
fn add_resource_instructions(
    batch: Batch,
    keys: &ClusterKeys,
    resources: &[NewResource],
    waits: &[ResourceWait],
) -> Result<Batch> {
    if resources.is_empty() {
        return Ok(batch);
    }
    let names: Vec<String> = resources
        .iter()
        .map(|new| new.resource.to_string())
        .collect();
    let dependency = ResourceDependency::go(&names)?.with_waits(waits)?;
    let batch = put_instruction(batch, keys.resource_order(), &ResourceOrder::new(names))?;
    put_instruction(batch, keys.resource_dependency(), &dependency)
}

fn put<T: Serialize + ?Sized>(batch: Batch, key: impl Into<String>, value: &T) -> Result<Batch> {
    Ok(batch.put(key, go_json::encode(value)?))
}

fn put_instruction<I: Instruction>(batch: Batch, key: String, value: &I) -> Result<Batch> {
    put(batch, key, &value.encode()?)
}

#[cfg(test)]
mod tests;
