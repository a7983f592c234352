//! Answers in EMCO's newer dialect by route, for the document.

use serde::Serialize;
use utoipa::ToSchema;

use super::{ClusterStatus, EmcoNames, GroupStatus, LogicalCloudStatus};

/// The answer about a deployment intent group, in EMCO's newer dialect.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum EmcoGroupAnswer {
    /// Its status.
    Status(Box<GroupStatus<'static>>),
    /// With `apps`, `clusters` or `resources`.
    Names(EmcoNames<'static>),
}

/// The answer about a cluster's own resources, in EMCO's newer dialect.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum EmcoClusterAnswer {
    /// Their status.
    Status(Box<ClusterStatus<'static>>),
    /// With `apps`, `clusters` or `resources`.
    Names(EmcoNames<'static>),
}

/// The answer about a logical cloud, in EMCO's newer dialect.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum EmcoLogicalCloudAnswer {
    /// Its status.
    Status(Box<LogicalCloudStatus<'static>>),
    /// With `clusters` or `resources`.
    Names(EmcoNames<'static>),
}
