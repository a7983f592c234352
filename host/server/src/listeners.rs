//! The sockets that a server answers on.

use std::io;
use std::sync::Arc;

use kindsight_access::TlsServer;
use kindsight_grpc::Listener;
use kindsight_rest::{AppState, Ended, Limits, Slots};
use tokio::net::TcpListener;

use crate::tasks::Tasks;

/// Maximum number of connections to the listener of metrics: some scrapers, and health checks.
const METRICS_CONNECTIONS_MAX: usize = 16;

/// The sockets that a server answers on.
pub(crate) struct Listeners {
    pub(crate) rest: TcpListener,
    /// The additional listener of metrics.
    pub(crate) metrics: Option<TcpListener>,
    /// The server of rsync.
    pub(crate) rsync: Option<Listener>,
    /// The server of notifications.
    pub(crate) status_notify: Option<Listener>,
    /// TLS of the REST API; `None` for HTTP.
    pub(crate) tls: Option<Arc<TlsServer>>,
}

impl Listeners {
    /// Begins to answer requests on all listeners.
    pub(crate) fn answer(self, tasks: &Tasks, state: AppState) {
        let stopped = || {
            let shutdown = tasks.shutdown();
            async move { shutdown.cancelled().await }
        };
        if let Some(listener) = self.metrics {
            let limits = Limits {
                connections_max: METRICS_CONNECTIONS_MAX,
                ..state.limits
            };
            let router = kindsight_rest::metrics_router(state.clone());
            let slots = Slots::new(&limits);
            let serving = kindsight_rest::serve(listener, None, router, limits, slots, stopped());
            answer(tasks, "listener of metrics", serving, limits);
        }
        let (limits, slots) = (state.limits, state.slots.clone());
        let router = kindsight_rest::router(state);
        let serving = kindsight_rest::serve(self.rest, self.tls, router, limits, slots, stopped());
        answer(tasks, "REST API", serving, limits);
    }
}

/// Begins to answer requests on one listener.
fn answer(
    tasks: &Tasks,
    name: &'static str,
    serving: impl Future<Output = io::Result<Ended>> + Send + 'static,
    limits: Limits,
) {
    tasks.spawn(name, async move {
        if serving.await? == Ended::CutOff {
            let waited = limits.drain_max;
            tracing::warn!(?waited, "requests in progress were cut off at the stop");
        }
        Ok::<_, io::Error>(())
    });
}
