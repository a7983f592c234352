//! Work of requests on blocking threads.

use tokio::task::JoinHandle;
use tracing::Span;

/// Runs work of a request on a blocking thread. Its log lines have the id of the request.
pub fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let request = Span::current();
    tokio::task::spawn_blocking(move || request.in_scope(work))
}
