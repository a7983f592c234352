//! Lists of names: answers to `apps`, `clusters` and `resources`.

use std::borrow::Cow;

use kindsight_model::{Gvk, words};
use serde::Serialize;
use utoipa::ToSchema;

use super::CompositeApp;

words! {
    /// The names that a query asks for instead of a status.
    Listing {
        /// Those of the apps.
        Apps = "apps",
        /// Those of the clusters of each app.
        Clusters = "clusters",
        /// Those of the resources of each app in each cluster.
        Resources = "resources",
    }
}

/// Names of apps, of clusters or of resources: the answer to `apps`, `clusters` or `resources`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(bound = "")]
pub struct Names<'a, N = Vec<ResourceName<'a>>> {
    /// The composite application it is part of.
    #[serde(flatten)]
    #[schema(value_type = CompositeApp<'a>)]
    pub app: CompositeApp<'a>,
    /// The deployment intent group, the cluster as `provider+name`, or the logical cloud.
    pub name: Cow<'a, str>,
    /// The list that is asked for.
    #[serde(flatten)]
    #[schema(value_type = NameList<'a>)]
    pub list: NameList<'a, N>,
}

/// One of the lists of names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NameList<'a, N = Vec<ResourceName<'a>>> {
    /// With `apps`: names of the apps.
    #[schema(value_type = Vec<String>)]
    Apps(Vec<Cow<'a, str>>),
    /// With `clusters`: the clusters of each selected app.
    ClustersByApp(Vec<ClustersOfApp<'a>>),
    /// With `resources`: the resources of each selected app in each selected cluster.
    #[schema(value_type = Vec<ResourcesOfApp<'a>>)]
    ResourcesByApp(Vec<ResourcesOfApp<'a, N>>),
}

/// Clusters of one app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ClustersOfApp<'a> {
    /// Name of the app.
    #[schema(example = "sink")]
    pub app: Cow<'a, str>,
    /// Its clusters.
    pub clusters: Vec<NamedCluster<'a>>,
}

/// Name of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct NamedCluster<'a> {
    /// Provider of the cluster.
    #[schema(example = "vfw-cluster-provider")]
    pub cluster_provider: Cow<'a, str>,
    /// Name of the cluster at that provider.
    #[schema(example = "edge01")]
    pub cluster: Cow<'a, str>,
}

/// Resources of one app in one cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(bound = "")]
pub struct ResourcesOfApp<'a, N = Vec<ResourceName<'a>>> {
    /// Name of the app.
    #[schema(example = "sink")]
    pub app: Cow<'a, str>,
    /// Provider of the cluster.
    #[schema(example = "vfw-cluster-provider")]
    pub cluster_provider: Cow<'a, str>,
    /// Name of the cluster at that provider.
    #[schema(example = "edge01")]
    pub cluster: Cow<'a, str>,
    /// Its resources, those that were sent first.
    #[schema(value_type = Vec<ResourceName<'a>>)]
    pub resources: N,
}

/// Name of a resource, with its Kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ResourceName<'a> {
    /// Its name.
    #[schema(example = "sink-configmap")]
    pub name: Cow<'a, str>,
    /// Group, version and Kind.
    #[serde(rename = "GVK")]
    pub gvk: Cow<'a, Gvk>,
}
