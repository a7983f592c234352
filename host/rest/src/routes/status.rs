//! How applications and clusters fare.

use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse, Response};
use kindsight_status::{StatusQuery, cluster_name, dig_name};

use crate::AppState;
use crate::problem::{Problem, ProblemDocument};
use crate::schema::{ClusterParts, DigParts, Status, StatusParameters};

type Pairs = Result<Query<Vec<(String, String)>>, QueryRejection>;

/// How a deployment intent group fares
///
/// With `type=rsync`, the default: what happened to its resources when they were sent. With
/// `type=cluster`: what the clusters have of it, and what they should have and have not; of each
/// resource how it fares, and of each level how its resources fare together, where the worst wins.
///
/// Answered from memory, from one state of everything that is shown.
#[utoipa::path(
    get,
    path = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}/status",
    tag = "status",
    params(DigParts, StatusParameters),
    responses(
        (status = 200, description = "How it fares; with `instance` without a value, its instances.", body = Status),
        (status = 400, description = "The query is not valid.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 404, description = "The group, the instance, or a name to filter by does not exist.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 503, description = "Too many requests at a time; the header `Retry-After` says when to come back.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = "default", description = "Anything else that went wrong.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(crate) async fn dig_status(
    State(app): State<AppState>,
    path: Result<Path<[String; 4]>, PathRejection>,
    pairs: Pairs,
) -> Result<Response, Problem> {
    let [project, composite_app, version, dig] = path?.0;
    let name = dig_name(&project, &composite_app, &version, &dig).map_err(Problem::invalid)?;
    let query = read(pairs)?;
    let subject = app.board.dig(&name, &query)?;
    Ok(Json(subject.answer(&query)?).into_response())
}

/// How a cluster's own resources fare
///
/// What was sent to a cluster itself, as its network intents are. Asked and answered like the status
/// of a deployment intent group.
#[utoipa::path(
    get,
    path = "/v2/cluster-providers/{cluster-provider}/clusters/{cluster}/status",
    tag = "status",
    params(ClusterParts, StatusParameters),
    responses(
        (status = 200, description = "How they fare; with `instance` without a value, its instances.", body = Status),
        (status = 400, description = "The query is not valid.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 404, description = "The cluster, the instance, or a name to filter by does not exist.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 503, description = "Too many requests at a time; the header `Retry-After` says when to come back.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = "default", description = "Anything else that went wrong.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(crate) async fn cluster_status(
    State(app): State<AppState>,
    path: Result<Path<[String; 2]>, PathRejection>,
    pairs: Pairs,
) -> Result<Response, Problem> {
    let [provider, cluster] = path?.0;
    let name = cluster_name(&provider, &cluster).map_err(Problem::invalid)?;
    let query = read(pairs)?;
    let subject = app.board.cluster(&name, &query)?;
    Ok(Json(subject.answer(&query)?).into_response())
}

fn read(pairs: Pairs) -> Result<StatusQuery, Problem> {
    StatusQuery::parse(pairs?.0).map_err(Problem::invalid)
}
