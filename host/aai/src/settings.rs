//! Settings of updates.

use std::collections::BTreeMap;

use kindsight_model::{ClusterName, Gvk};
use kindsight_outgoing::Endpoint;

/// Settings of updates: the table `[aai]` of the configuration.
#[derive(Debug, Clone)]
pub struct AaiSettings {
    /// A&AI, without `/aai/v14`.
    pub endpoint: Endpoint,
    /// The version of A&AI's API, such as `v14`.
    pub version: String,
    /// The value of the header `X-FromAppId`.
    pub app_id: String,
    /// Kinds whose objects are vservers, as `Kind`, or `Kind.group` for a Kind with a group.
    pub kinds: Vec<String>,
    /// The place of each cluster in A&AI. Objects in other clusters are not reported.
    pub clusters: BTreeMap<ClusterName, CloudPlace>,
    /// Maximum number of requests per second, at least 1.
    pub requests_per_second: u32,
}

/// The place of a cluster in A&AI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloudPlace {
    /// `cloud-owner` of the cloud region.
    pub owner: String,
    /// `cloud-region-id` of the cloud region.
    pub region: String,
    /// `tenant-id` of the tenant.
    pub tenant: String,
}

impl AaiSettings {
    /// Returns whether objects of a Kind are vservers.
    pub(crate) fn reports(&self, gvk: &Gvk) -> bool {
        self.kinds.iter().any(|kind| match kind.split_once('.') {
            Some((name, group)) => *gvk.kind == *name && *gvk.group == *group,
            None => *gvk.kind == **kind && gvk.group.is_empty(),
        })
    }
}
