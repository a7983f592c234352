//! Fixtures of reported objects, for authors of interpreters.

use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use kindsight_api::interpreters::{RecordRefusal, Recorded, RecordedObject};
use kindsight_api::problem::ProblemDocument;

use crate::app::App;
use crate::problem::Problem;
use crate::routes::errors::CommonErrors;
use crate::routes::paths::ClusterPath;

/// Record a fixture of an object
///
/// Returns the input of the verdict on an object as a fixture of its interpreter: the object and its related objects,
/// reduced to the fields that the interpreter requests, their coverage, the time, the settings, and the verdict as the
/// promise. The server has checked that the interpreter gives this verdict on the fixture. No part of a Secret is in
/// it.
#[utoipa::path(
    get,
    path = "/v2/cluster-providers/{cluster-provider}/clusters/{cluster}/fixture",
    operation_id = "record_fixture",
    tag = "interpreters",
    params(ClusterPath, RecordedObject),
    responses(
        (status = 200, description = "The fixture, and its interpreter.", body = Recorded),
        (status = 404, description = "No application has such an object in this cluster.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, description = "Several groups have the Kind, or the object cannot be a fixture.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn fixture(
    State(app): State<App>,
    path: Result<Path<ClusterPath>, PathRejection>,
    query: Result<Query<RecordedObject>, QueryRejection>,
) -> Result<Json<Recorded>, Problem> {
    let cluster = path?.0.read();
    let cluster = cluster.map_err(|problems| Problem::invalid_in("the path", problems))?;
    let Query(object) =
        query.map_err(|rejection| Problem::new(StatusCode::BAD_REQUEST, rejection.body_text()))?;
    let recorded = app.catalog.record(cluster, object).await;
    recorded.map(Json).map_err(|refusal| {
        let status = match &refusal {
            RecordRefusal::NotFound => StatusCode::NOT_FOUND,
            RecordRefusal::Ambiguous(_) | RecordRefusal::Impossible(_) => StatusCode::CONFLICT,
            RecordRefusal::Busy(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        Problem::new(status, refusal.to_string())
    })
}
