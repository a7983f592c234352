//! Names of subjects in paths.

use kindsight_api::problem::PartialProblem;
use kindsight_model::{ClusterName, DigName, LogicalCloudName, RecordSubject};
use kindsight_status::{cluster_name, dig_name, logical_cloud_name};
use serde::Deserialize;

use crate::problem::Problem;

/// The full name of a deployment intent group, in a path.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct DigPath {
    /// The project; `-` for an application that was found in the clusters.
    #[param(example = "testvfw")]
    project: String,
    /// The composite application, or the name of the application that was found.
    #[param(example = "compositevfw")]
    composite_app: String,
    /// Version of the composite application; `-` for an application that was found.
    #[param(example = "v1")]
    version: String,
    /// The deployment intent group. For an application that was found: its namespace, or `-` if it has objects in
    /// several namespaces.
    #[param(example = "vfw_deployment_intent_group")]
    deployment_intent_group: String,
}

impl DigPath {
    /// The name.
    ///
    /// # Errors
    /// Some part cannot be a name.
    pub(super) fn name(&self) -> Result<DigName, Problem> {
        self.read().map_err(invalid_path)
    }

    /// The subject of a query with this path.
    ///
    /// # Errors
    /// Some part cannot be a name.
    pub(super) fn subject(&self) -> Result<RecordSubject, Problem> {
        self.read().map(RecordSubject::Group).map_err(invalid_path)
    }

    /// The name, or what is wrong with its parts.
    pub(super) fn read(&self) -> Result<DigName, Vec<PartialProblem>> {
        dig_name(
            &self.project,
            &self.composite_app,
            &self.version,
            &self.deployment_intent_group,
        )
    }
}

/// The full name of a cluster, in a path.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct ClusterPath {
    /// Provider of the cluster.
    #[param(example = "vfw-cluster-provider")]
    cluster_provider: String,
    /// Name of the cluster at that provider.
    #[param(example = "edge01")]
    cluster: String,
}

impl ClusterPath {
    /// The subject of a query with this path.
    ///
    /// # Errors
    /// Some part cannot be a name.
    pub(super) fn subject(&self) -> Result<RecordSubject, Problem> {
        self.read()
            .map(RecordSubject::Cluster)
            .map_err(invalid_path)
    }

    /// The name, or what is wrong with its parts.
    pub(super) fn read(&self) -> Result<ClusterName, Vec<PartialProblem>> {
        cluster_name(&self.cluster_provider, &self.cluster)
    }
}

/// The full name of a logical cloud, in a path.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct LogicalCloudPath {
    /// The project.
    #[param(example = "testvfw")]
    project: String,
    /// Name of the logical cloud in that project.
    #[param(example = "lc1")]
    logical_cloud: String,
}

impl LogicalCloudPath {
    /// The subject of a query with this path.
    ///
    /// # Errors
    /// Some part cannot be a name.
    pub(super) fn subject(&self) -> Result<RecordSubject, Problem> {
        self.read()
            .map(RecordSubject::LogicalCloud)
            .map_err(invalid_path)
    }

    /// The name, or what is wrong with its parts.
    pub(super) fn read(&self) -> Result<LogicalCloudName, Vec<PartialProblem>> {
        logical_cloud_name(&self.project, &self.logical_cloud)
    }
}

/// The error for a path with parts that cannot be names.
pub(super) fn invalid_path(problems: Vec<PartialProblem>) -> Problem {
    Problem::invalid_in("the path", problems)
}
