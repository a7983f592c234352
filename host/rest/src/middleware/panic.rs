//! Answers in place of handlers that panicked.

use std::any::Any;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::problem::{INTERNAL, Problem};

/// Answers a request whose handler panicked. The text of the panic is logged, but not sent to the client.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the layer hands over the panic"
)]
pub(crate) fn answer_panic(panic: Box<dyn Any + Send>) -> Response {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text.unwrap_or("no text"), "a handler panicked");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL).into_response()
}
