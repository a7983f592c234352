//! Lists of applications and of clusters.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use kindsight_api::applications::{ApplicationList, ApplicationParameters};
use kindsight_api::clusters::ClusterList;
use kindsight_api::problem::{PartialProblem, ProblemDocument};
use kindsight_status::{ApplicationQuery, clipped};

use crate::answer::{Answers, Chunks};
use crate::caller::Visible;
use crate::problem::Problem;
use crate::query_pairs::QueryPairs;
use crate::routes::errors::CommonErrors;

/// Applications
///
/// Every application with the combined state of all its resources, in order of their names. The list has recorded
/// applications and applications that were found in clusters, which have `-` as project and version.
#[utoipa::path(
    get,
    path = "/v2/applications",
    tag = "status",
    params(ApplicationParameters),
    responses(
        (status = 200, description = "The applications that are selected.", body = ApplicationList<'static>),
        (status = 404, description = "No application has the name, or the cluster is not known; the problem lists similar names.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn applications(
    Visible(model): Visible,
    State(answers): State<Arc<Answers>>,
    QueryPairs(pairs): QueryPairs,
) -> Result<Response, Problem> {
    let query = ApplicationQuery::parse(pairs).map_err(Problem::invalid)?;
    let write = move |to: &mut Chunks| to.json(&model.applications(&query)?.answer());
    // The number of applications is not known beforehand.
    answers.json(false, write).await
}

/// Clusters
///
/// Every configured cluster with its connection, in order of their names.
#[utoipa::path(
    get,
    path = "/v2/clusters",
    tag = "status",
    responses(
        (status = 200, description = "The clusters.", body = ClusterList<'static>),
        CommonErrors,
    ),
)]
pub(crate) async fn clusters(
    Visible(model): Visible,
    State(answers): State<Arc<Answers>>,
    QueryPairs(pairs): QueryPairs,
) -> Result<Response, Problem> {
    if let Some((name, _)) = pairs.first() {
        return Err(Problem::invalid(vec![unknown(name)]));
    }
    let write = move |to: &mut Chunks| to.json(&model.clusters().answer());
    answers.json(false, write).await
}

fn unknown(name: &str) -> PartialProblem {
    PartialProblem::new(clipped(name), "unknown parameter", "no parameters")
}
