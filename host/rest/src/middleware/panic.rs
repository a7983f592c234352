//! Answers in place of handlers that panicked.

use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::problem::{INTERNAL, Problem};

/// The answer of a handler, or an error in its place if the handler panicked. The text of the panic is logged, but not
/// sent to the client.
pub(crate) async fn caught(answering: impl Future<Output = Response>) -> Response {
    let mut answering = pin!(answering);
    let caught = poll_fn(|cx| {
        // After a panic, the future is dropped and not polled again.
        let polled = catch_unwind(AssertUnwindSafe(|| answering.as_mut().poll(cx)));
        match polled {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    });
    caught.await.unwrap_or_else(|panic| answer_panic(&*panic))
}

fn answer_panic(panic: &(dyn Any + Send)) -> Response {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text.unwrap_or("no text"), "a handler panicked");
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL).into_response()
}
