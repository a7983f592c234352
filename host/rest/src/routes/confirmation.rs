//! Confirmations that a status is not older than the clusters.

use crate::blocking::spawn_blocking;
use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use kindsight_api::problem::ProblemDocument;
use kindsight_api::status::{Confirmation, StatusParameters};
use kindsight_model::RecordSubject;
use kindsight_read_model::VisibleModel;

use crate::AppState;
use crate::answer::internal;
use crate::app::App;
use crate::caller::Visible;
use crate::problem::Problem;
use crate::query_pairs::QueryPairs;
use crate::routes::errors::CommonErrors;
use crate::routes::paths::{ClusterPath, DigPath, LogicalCloudPath};
use crate::routes::status::{missing, read};

/// Confirmation of the status of a deployment intent group
///
/// Compares consistent lists of the clusters with everything that was reported, for the Kinds and namespaces of the
/// selected apps. A watch that hangs looks like a quiet watch: its state is not confirmed if a list has a newer one.
/// If the answer is `confirmed`, a status that is requested afterwards includes everything in the lists. The parameters
/// are the same as for the status; names of resources select nothing here.
///
/// The clusters are asked by each request, which may take some seconds.
#[utoipa::path(
    get,
    path = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}/status/confirmation",
    tag = "status",
    params(DigPath, StatusParameters),
    responses(
        (status = 200, description = "Whether the status is confirmed, or the reason why it is not.", body = Confirmation<'static>),
        (status = 404, description = "The group, the instance, or a name to filter by does not exist.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn dig_confirmation(
    State(app): State<App>,
    Visible(model): Visible,
    path: Result<Path<DigPath>, PathRejection>,
    pairs: QueryPairs,
) -> Result<Json<Confirmation<'static>>, Problem> {
    confirmed(&app, &model, path?.0.subject()?, pairs).await
}

/// Confirmation of the status of a cluster's own resources
///
/// Parameters and answer are the same as for a deployment intent group.
#[utoipa::path(
    get,
    path = "/v2/cluster-providers/{cluster-provider}/clusters/{cluster}/status/confirmation",
    tag = "status",
    params(ClusterPath, StatusParameters),
    responses(
        (status = 200, description = "Whether the status is confirmed, or the reason why it is not.", body = Confirmation<'static>),
        (status = 404, description = "The cluster, the instance, or a name to filter by does not exist.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn cluster_confirmation(
    State(app): State<App>,
    Visible(model): Visible,
    path: Result<Path<ClusterPath>, PathRejection>,
    pairs: QueryPairs,
) -> Result<Json<Confirmation<'static>>, Problem> {
    confirmed(&app, &model, path?.0.subject()?, pairs).await
}

/// Confirmation of the status of a logical cloud
///
/// Parameters and answer are the same as for a deployment intent group.
#[utoipa::path(
    get,
    path = "/v2/projects/{project}/logical-clouds/{logical-cloud}/status/confirmation",
    tag = "status",
    params(LogicalCloudPath, StatusParameters),
    responses(
        (status = 200, description = "Whether the status is confirmed, or the reason why it is not.", body = Confirmation<'static>),
        (status = 404, description = "The logical cloud, the instance, or a name to filter by does not exist.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn logical_cloud_confirmation(
    State(app): State<App>,
    Visible(model): Visible,
    path: Result<Path<LogicalCloudPath>, PathRejection>,
    pairs: QueryPairs,
) -> Result<Json<Confirmation<'static>>, Problem> {
    confirmed(&app, &model, path?.0.subject()?, pairs).await
}

/// Compares the status of a subject with its clusters.
async fn confirmed(
    app: &AppState,
    model: &VisibleModel,
    name: RecordSubject,
    pairs: QueryPairs,
) -> Result<Json<Confirmation<'static>>, Problem> {
    let query = read(pairs)?;
    let subject = model.subject(&name, &query).map_err(missing)?;
    // The application may have a hundred thousand resources.
    let involved = spawn_blocking(move || subject.involved_kinds(&query));
    let clusters = involved.await.map_err(|_| internal())??;
    let confirmed = app.confirm.confirm(clusters).await;
    Ok(Json(Confirmation {
        confirmed: confirmed.is_ok(),
        reason: confirmed.err().map(Into::into),
    }))
}
