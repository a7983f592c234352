//! How applications and clusters result.

use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use kindsight_api::problem::ProblemDocument;
use kindsight_api::status::{StatusAnswer, StatusParameters};
use kindsight_status::{StatusQuery, cluster_name, dig_name};
use serde::Deserialize;

use crate::AppState;
use crate::problem::Problem;

type Pairs = Result<Query<Vec<(String, String)>>, QueryRejection>;

/// The full name of a deployment intent group, in a path.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct DigPath {
    /// The project.
    #[param(example = "testvfw")]
    project: String,
    /// The composite application.
    #[param(example = "compositevfw")]
    composite_app: String,
    /// Version of the composite application.
    #[param(example = "v1")]
    version: String,
    /// The deployment intent group.
    #[param(example = "vfw_deployment_intent_group")]
    deployment_intent_group: String,
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

/// How a deployment intent group fares
///
/// With `type=rsync`, the default: what happened to its resources when they were sent. With
/// `type=cluster`: what the clusters have of it, and what they should have and have not; of each
/// resource how it fares, and of each level how its resources result together, where the worst wins.
///
/// Answered from memory, from one state of everything that is shown.
#[utoipa::path(
    get,
    path = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}/status",
    tag = "status",
    params(DigPath, StatusParameters),
    responses(
        (status = 200, description = "How it fares; with `instance` without a value, its instances.", body = StatusAnswer<'static>),
        (status = 400, description = "The query is not valid.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 404, description = "The group, the instance, or a name to filter by does not exist.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 503, description = "Too many requests at a time; the header `Retry-After` says when to come back.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = "default", description = "Anything else that went wrong.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(crate) async fn dig_status(
    State(app): State<AppState>,
    path: Result<Path<DigPath>, PathRejection>,
    pairs: Pairs,
) -> Result<Response, Problem> {
    let DigPath {
        project,
        composite_app,
        version,
        deployment_intent_group: dig,
    } = path?.0;
    let name = dig_name(&project, &composite_app, &version, &dig).map_err(Problem::invalid)?;
    let query = read(pairs)?;
    let subject = app.read_model.dig(&name, &query)?;
    Ok(Json(subject.answer(&query)?).into_response())
}

/// How a cluster's own resources result
///
/// What was sent to a cluster itself, as its network intents are. Asked and answered like the status
/// of a deployment intent group.
#[utoipa::path(
    get,
    path = "/v2/cluster-providers/{cluster-provider}/clusters/{cluster}/status",
    tag = "status",
    params(ClusterPath, StatusParameters),
    responses(
        (status = 200, description = "How they fare; with `instance` without a value, its instances.", body = StatusAnswer<'static>),
        (status = 400, description = "The query is not valid.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 404, description = "The cluster, the instance, or a name to filter by does not exist.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 503, description = "Too many requests at a time; the header `Retry-After` says when to come back.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = "default", description = "Anything else that went wrong.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(crate) async fn cluster_status(
    State(app): State<AppState>,
    path: Result<Path<ClusterPath>, PathRejection>,
    pairs: Pairs,
) -> Result<Response, Problem> {
    let ClusterPath {
        cluster_provider,
        cluster,
    } = path?.0;
    let name = cluster_name(&cluster_provider, &cluster).map_err(Problem::invalid)?;
    let query = read(pairs)?;
    let subject = app.read_model.cluster(&name, &query)?;
    Ok(Json(subject.answer(&query)?).into_response())
}

fn read(pairs: Pairs) -> Result<StatusQuery, Problem> {
    StatusQuery::parse(pairs?.0).map_err(Problem::invalid)
}
