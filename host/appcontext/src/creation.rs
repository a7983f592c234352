//! New contexts, written with all their keys as one batch.

use std::collections::BTreeMap;

use kindsight_model::{ClusterName, ContextId, DigName};
use kindsight_store::Batch;
use serde::{Deserialize, Serialize};

use crate::keys::{AppKeys, ClusterKeys, ContextKeys, ResourceName};
use crate::{Result, go_json};

/// The only dependency that is written: start at once, in the given order.
const GO: &str = "go";

/// The deployment intent group and environment of a context, stored under the field names of the
/// reference.
///
/// None of it is part of a key, so nothing is checked. Fields that another writer left out are
/// empty, fields that it added are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ContextMeta {
    /// The project.
    pub project: String,
    /// The composite application.
    pub composite_app: String,
    /// The version of the composite application.
    pub version: String,
    /// The release name that its templates were rendered with.
    pub release: String,
    /// The deployment intent group.
    #[serde(rename = "DeploymentIntentGroup")]
    pub dig: String,
    /// The namespace that its resources go to.
    pub namespace: String,
    /// The level of its logical cloud; `0` is the cluster itself.
    pub level: String,
    /// The ids of contexts that were instantiated for this one.
    #[serde(rename = "ChildContextIDs", with = "nullable")]
    pub child_context_ids: Vec<String>,
}

impl ContextMeta {
    /// Makes the meta of a deployment intent group: namespace `default`, level `0`, no release
    /// name.
    pub fn of_dig(name: &DigName) -> Self {
        Self {
            project: name.project.to_string(),
            composite_app: name.composite_app.to_string(),
            version: name.version.to_string(),
            dig: name.dig.to_string(),
            namespace: "default".to_owned(),
            level: "0".to_owned(),
            ..Self::default()
        }
    }
}

/// A list that is `null` when it is empty, as Go writes it.
mod nullable {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(list: &[String], to: S) -> Result<S::Ok, S::Error> {
        (!list.is_empty()).then_some(list).serialize(to)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<String>, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or_default())
    }
}

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
    /// The name: a Kubernetes label value other than `instruction`.
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

#[derive(Serialize)]
struct AppOrder<'a> {
    apporder: Vec<&'a str>,
}

#[derive(Serialize)]
struct AppDependency<'a> {
    appdependency: BTreeMap<&'a str, &'static str>,
}

#[derive(Serialize)]
struct ResourceOrder<'a> {
    resorder: &'a [String],
}

#[derive(Serialize)]
struct ResourceDependency<'a> {
    resdependency: BTreeMap<&'a str, &'static str>,
}

/// Builds the batch that writes all keys of a context, on the condition that its id is free.
///
/// # Errors
/// [`crate::Error::Name`] for an app with an impossible name.
pub(crate) fn batch(id: &ContextId, new: &NewContext) -> Result<Batch> {
    let keys = ContextKeys::new(id);
    let names: Vec<&str> = new.apps.iter().map(|app| app.name.as_str()).collect();
    let dependency = AppDependency {
        appdependency: names.iter().map(|name| (*name, GO)).collect(),
    };
    let mut batch = Batch::new().absent(keys.root());
    batch = put(batch, keys.root(), id.as_str())?;
    batch = put(batch, keys.meta(), &new.meta)?;
    batch = put_twice(batch, keys.app_order(), &AppOrder { apporder: names })?;
    batch = put_twice(batch, keys.app_dependency(), &dependency)?;
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
    let order = ResourceOrder { resorder: &names };
    let dependency = ResourceDependency {
        resdependency: names.iter().map(|name| (name.as_str(), GO)).collect(),
    };
    let batch = put_twice(batch, keys.resource_order(), &order)?;
    put_twice(batch, keys.resource_dependency(), &dependency)
}

fn put<T: Serialize + ?Sized>(batch: Batch, key: impl Into<String>, value: &T) -> Result<Batch> {
    Ok(batch.put(key, go_json::encode(value)?))
}

fn put_twice<T: Serialize>(batch: Batch, key: String, value: &T) -> Result<Batch> {
    Ok(batch.put(key, go_json::encode_twice(value)?))
}
