//! Uploads that are too large: the catalog records them beside the other refused components.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::Response;

use crate::catalog::InterpreterCatalog;

/// The path of the interpreters before the name of one.
const INTERPRETERS: &str = "/v2/interpreters/";

/// The record of uploads that are too large.
#[derive(Clone)]
pub(crate) struct TooLargeUploads {
    /// `None` for the document of the routes, which answers no request.
    pub(crate) catalog: Option<Arc<dyn InterpreterCatalog>>,
    /// The largest component, in bytes.
    pub(crate) bytes_max: usize,
}

/// Tells the catalog about each upload that is refused because it is too large.
pub(crate) async fn note_too_large(
    State(uploads): State<TooLargeUploads>,
    request: Request,
    next: Next,
) -> Response {
    let name = request.uri().path().strip_prefix(INTERPRETERS);
    let name = name.and_then(|name| name.parse().ok());
    let response = next.run(request).await;
    if response.status() == StatusCode::PAYLOAD_TOO_LARGE
        && let Some(catalog) = uploads.catalog
    {
        catalog.note_too_large(name, uploads.bytes_max);
    }
    response
}
