//! Confirmations that a status is not older than the clusters.

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use kindsight_api::problem::ProblemDocument;
use kindsight_api::status::{Confirmation, StatusParameters};
use tokio::task::spawn_blocking;

use crate::AppState;
use crate::answer::internal;
use crate::problem::Problem;
use crate::routes::errors::CommonErrors;
use crate::routes::paths::DigPath;
use crate::routes::status::{Pairs, missing, read};

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
    State(app): State<AppState>,
    path: Result<Path<DigPath>, PathRejection>,
    pairs: Pairs,
) -> Result<Json<Confirmation<'static>>, Problem> {
    let (name, query) = (path?.0.name()?, read(pairs)?);
    let subject = app.read_model.dig(&name, &query).map_err(missing)?;
    // The application may have a hundred thousand resources.
    let involved = spawn_blocking(move || subject.involved_kinds(&query));
    let clusters = involved.await.map_err(|_| internal())??;
    let confirmed = app.confirm.confirm(clusters).await;
    Ok(Json(Confirmation {
        confirmed: confirmed.is_ok(),
        reason: confirmed.err().map(Into::into),
    }))
}
