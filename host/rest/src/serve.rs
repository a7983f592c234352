//! Serves connections until it is told to stop.

use std::io;

use axum::Router;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::Limits;
use crate::limited_listener::LimitedListener;

/// The end of serving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Every request that had begun was answered.
    Drained,
    /// Some took longer than [`Limits::drain_max`]; they end with the process.
    CutOff,
}

/// Serves `router` on `listener` until `shutdown` is done, then answers the requests that have begun.
///
/// # Errors
/// When the listener becomes unusable. A failing connection is not an error.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<Ended> {
    let (stopping_tx, stopping_rx) = oneshot::channel();
    let stop = async move {
        shutdown.await;
        // Nobody listens only when serving has already ended.
        let _ = stopping_tx.send(());
    };
    let serving =
        axum::serve(LimitedListener::new(listener, &limits), router).with_graceful_shutdown(stop);
    let deadline = async {
        match stopping_rx.await {
            Ok(()) => tokio::time::sleep(limits.drain_max).await,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        result = serving.into_future() => result.map(|()| Ended::Drained),
        () = deadline => Ok(Ended::CutOff),
    }
}
