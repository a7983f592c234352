//! Lists of names in EMCO's newer dialect.

use std::borrow::Cow;

use super::EmcoCompositeApp;
use crate::name_lists::name_lists;
use crate::status::ResourceName;

name_lists! {
    case = "camelCase", app = EmcoCompositeApp;
    /// Names of apps, of clusters or of resources, in EMCO's newer dialect.
    EmcoNames;
    /// One of the lists of names, in EMCO's newer dialect.
    EmcoNameList;
    /// Clusters of one app, in EMCO's newer dialect.
    AppClusters;
    /// Name of a cluster, in EMCO's newer dialect.
    ClusterRef;
    /// Resources of one app in one cluster, in EMCO's newer dialect.
    AppResources;
}
