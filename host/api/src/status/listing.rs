//! Lists of names: answers to `apps`, `clusters` and `resources`.

use std::borrow::Cow;

use kindsight_model::{Gvk, words};
use serde::Serialize;
use utoipa::ToSchema;

use super::CompositeApp;
use crate::name_lists::name_lists;

words! {
    /// The names that a query requests instead of a status.
    Listing {
        /// The names of the apps.
        Apps = "apps",
        /// The names of the clusters of each app.
        Clusters = "clusters",
        /// The names of the resources of each app in each cluster.
        Resources = "resources",
    }
}

name_lists! {
    case = "kebab-case", app = CompositeApp;
    /// Names of apps, of clusters or of resources: the answer to `apps`, `clusters` or `resources`.
    Names;
    /// One of the lists of names.
    NameList;
    /// Clusters of one app.
    ClustersOfApp;
    /// Name of a cluster.
    NamedCluster;
    /// Resources of one app in one cluster.
    ResourcesOfApp;
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
