//! Items of the inventory.

use std::net::IpAddr;

use kindsight_api::onap::OnapState;
use kindsight_outgoing::path_segment;
use serde::{Deserialize, Serialize};

use crate::settings::CloudPlace;

/// The identity of an item in A&AI.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ItemKey {
    /// A virtual server of a tenant.
    Vserver {
        owner: String,
        region: String,
        tenant: String,
        /// The uid of the object: a new object with the same name is another vserver.
        id: String,
    },
    /// The status of a generic-vnf, which another system made.
    Vnf { id: String },
}

impl ItemKey {
    pub(crate) fn vserver(place: &CloudPlace, id: &str) -> Self {
        Self::Vserver {
            owner: place.owner.clone(),
            region: place.region.clone(),
            tenant: place.tenant.clone(),
            id: id.to_owned(),
        }
    }

    /// The path below the version of the API.
    pub(crate) fn path(&self) -> String {
        match self {
            Self::Vserver {
                owner,
                region,
                tenant,
                id,
            } => format!(
                "cloud-infrastructure/cloud-regions/cloud-region/{}/{}/tenants/tenant/{}/vservers/vserver/{}",
                path_segment(owner),
                path_segment(region),
                path_segment(tenant),
                path_segment(id)
            ),
            Self::Vnf { id } => format!("network/generic-vnfs/generic-vnf/{}", path_segment(id)),
        }
    }
}

/// The content of an item, as far as kindsight determines it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Content {
    Vserver(Vserver),
    Vnf { state: OnapState },
}

/// The content of a vserver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Vserver {
    /// The name of the object.
    pub(crate) name: String,
    /// The name of the application.
    pub(crate) name2: String,
    /// The place of the object: cluster, namespace, Kind and name.
    pub(crate) self_link: String,
    pub(crate) state: OnapState,
    /// The address of the object, if it has one.
    pub(crate) address: Option<IpAddr>,
    /// The label `generic-vnf-id`.
    pub(crate) vnf: String,
    /// The label `vfmodule-id`.
    pub(crate) vf_module: String,
}

impl Vserver {
    /// The namespace and the Kind in `self_link`. The namespace of a cluster-scoped object is empty.
    pub(crate) fn namespace_and_kind(&self) -> Option<(&str, &str)> {
        let mut parts = self.self_link.split('/').skip(1);
        Some((parts.next()?, parts.next()?))
    }
}

/// `operational-status` in A&AI's words.
pub(crate) fn operational_status(state: OnapState) -> &'static str {
    match state {
        OnapState::Ready => "in-service-path",
        OnapState::Pending | OnapState::Failed => "out-of-service-path",
    }
}
