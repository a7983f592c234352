//! Lists of names in EMCO's newer dialect.

use std::borrow::Cow;

use serde::Serialize;
use utoipa::ToSchema;

use super::EmcoCompositeApp;
use crate::status::ResourceName;

/// Names of apps, of clusters or of resources, in EMCO's newer dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(bound = "")]
pub struct EmcoNames<'a, N = Vec<ResourceName<'a>>> {
    /// The composite application it is part of.
    #[serde(flatten)]
    #[schema(value_type = EmcoCompositeApp<'a>)]
    pub app: EmcoCompositeApp<'a>,
    /// The deployment intent group, the cluster as `provider+name`, or the logical cloud.
    pub name: Cow<'a, str>,
    /// The list that is asked for.
    #[serde(flatten)]
    #[schema(value_type = EmcoNameList<'a>)]
    pub list: EmcoNameList<'a, N>,
}

/// One of the lists of names, in EMCO's newer dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum EmcoNameList<'a, N = Vec<ResourceName<'a>>> {
    /// With `apps`: names of the apps.
    #[schema(value_type = Vec<String>)]
    Apps(Vec<Cow<'a, str>>),
    /// With `clusters`: the clusters of each selected app.
    ClustersByApp(Vec<AppClusters<'a>>),
    /// With `resources`: the resources of each selected app in each selected cluster.
    #[schema(value_type = Vec<AppResources<'a>>)]
    ResourcesByApp(Vec<AppResources<'a, N>>),
}

/// Clusters of one app, in EMCO's newer dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AppClusters<'a> {
    /// Name of the app.
    #[schema(example = "sink")]
    pub app: Cow<'a, str>,
    /// Its clusters.
    pub clusters: Vec<ClusterRef<'a>>,
}

/// Name of a cluster, in EMCO's newer dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterRef<'a> {
    /// Provider of the cluster.
    #[schema(example = "vfw-cluster-provider")]
    pub cluster_provider: Cow<'a, str>,
    /// Name of the cluster at that provider.
    #[schema(example = "edge01")]
    pub cluster: Cow<'a, str>,
}

/// Resources of one app in one cluster, in EMCO's newer dialect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(bound = "")]
pub struct AppResources<'a, N = Vec<ResourceName<'a>>> {
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
