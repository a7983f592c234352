//! The health of scopes.

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use kindsight_api::health_scopes::ScopeParameters;
use kindsight_api::problem::ProblemDocument;

use crate::app::App;
use crate::caller::Sender;
use crate::problem::Problem;
use crate::routes::errors::CommonErrors;

/// Health of a scope
///
/// The health of an object of the Kind `HealthScope` in one word, as the service of Rudr answers it: `healthy`,
/// `unhealthy`, `progressing` or `unknown`.
#[utoipa::path(
    get,
    path = "/scopes/{name}",
    operation_id = "health_scope",
    tag = "status",
    params(("name" = String, Path, description = "The name of the scope.", example = "shop"), ScopeParameters),
    responses(
        (status = 200, description = "The health.", body = String, content_type = "text/plain"),
        (status = 404, description = "There is no such scope, or the server does not follow health scopes.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, description = "Several scopes have the name; the problem lists their namespaces and clusters.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn health(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<String>, PathRejection>,
    query: Result<Query<ScopeParameters>, QueryRejection>,
) -> Result<&'static str, Problem> {
    let (Path(name), Query(parameters)) = (path?, query?);
    Ok(app.scopes.health(&name, &parameters, sender.visible())?)
}
