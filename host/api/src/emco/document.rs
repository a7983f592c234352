//! Answers in EMCO's newer dialect by route, for the OpenAPI document.

use serde::Serialize;
use utoipa::ToSchema;

use super::{ClusterStatus, EmcoNames, GroupStatus, LogicalCloudStatus};

/// The answer about a deployment intent group, in EMCO's newer dialect.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum EmcoGroupAnswer {
    /// The status of the group.
    Status(Box<GroupStatus<'static>>),
    /// The answer to a query with `apps`, `clusters` or `resources`.
    Names(EmcoNames<'static>),
}

/// The answer about a cluster's own resources, in EMCO's newer dialect.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum EmcoClusterAnswer {
    /// The status of the resources.
    Status(Box<ClusterStatus<'static>>),
    /// The answer to a query with `apps`, `clusters` or `resources`.
    Names(EmcoNames<'static>),
}

/// The answer about a logical cloud, in EMCO's newer dialect.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum EmcoLogicalCloudAnswer {
    /// The status of the logical cloud.
    Status(Box<LogicalCloudStatus<'static>>),
    /// The answer to a query with `clusters` or `resources`.
    Names(EmcoNames<'static>),
}
