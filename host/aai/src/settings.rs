//! Settings of updates.

use std::collections::BTreeMap;

use kindsight_model::{ClusterName, Gvk};
use kindsight_outgoing::Endpoint;

/// The first version of A&AI's schema whose vservers have `operational-status`. A&AI refuses members that the schema of the
/// requested version does not have.
///
/// Source: the schemas of ONAP's aai-schema-service, `aai_oxm_v8.xml` to `aai_oxm_v32.xml`.
pub(crate) const VSERVER_STATUS_VERSION: u32 = 20;

/// Settings of updates: the table `[aai]` of the configuration.
#[derive(Debug, Clone)]
pub struct AaiSettings {
    /// A&AI, without `/aai/v14`.
    pub endpoint: Endpoint,
    /// The version of A&AI's API, such as `v14`. From `v20` on, vservers have an operational status.
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

/// The requested version of A&AI's API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schema {
    /// The path of the API, such as `/aai/v14`.
    pub(crate) root: String,
    /// True if vservers have `operational-status`.
    pub(crate) has_vserver_status: bool,
}

impl AaiSettings {
    /// The schema of the requested version.
    pub(crate) fn schema(&self) -> Schema {
        let number = self.version.strip_prefix('v');
        let number = number.and_then(|number| number.parse::<u32>().ok());
        Schema {
            root: format!("/aai/{}", self.version),
            has_vserver_status: number.is_some_and(|number| number >= VSERVER_STATUS_VERSION),
        }
    }

    /// The Kinds whose objects are vservers, each with its group.
    pub(crate) fn reported_kinds(&self) -> impl Iterator<Item = (&str, &str)> {
        let kinds = self.kinds.iter();
        kinds.map(|kind| kind.split_once('.').unwrap_or((kind.as_str(), "")))
    }

    /// Returns whether objects of a Kind are vservers.
    pub(crate) fn reports(&self, gvk: &Gvk) -> bool {
        let mut kinds = self.reported_kinds();
        kinds.any(|(kind, group)| *gvk.kind == *kind && *gvk.group == *group)
    }
}
