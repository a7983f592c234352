//! Uploads that are too large: the catalog records them beside the other refused components.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;

use crate::catalog::InterpreterCatalog;

/// The path of the interpreters before the name of one.
const INTERPRETERS: &str = "/v2/interpreters/";

/// Tells the catalog about each upload that is refused because it is larger than `bytes_max`.
pub(crate) async fn note_too_large(
    State(bytes_max): State<usize>,
    Extension(catalog): Extension<Arc<dyn InterpreterCatalog>>,
    request: Request,
    next: Next,
) -> Response {
    let name = request.uri().path().strip_prefix(INTERPRETERS);
    let name = name.and_then(|name| name.parse().ok());
    let response = next.run(request).await;
    if response.status() == StatusCode::PAYLOAD_TOO_LARGE {
        catalog.note_too_large(name, bytes_max);
    }
    response
}
