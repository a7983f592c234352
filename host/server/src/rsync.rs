//! The server of rsync: an orchestrator that writes `AppContext`s has their resources sent and removed.

use std::sync::Arc;

use kindsight_access::{AccessControl, TlsServer};
use kindsight_grpc::{ContextWork, Listener, Rsync};
use tokio::net::TcpListener;

use crate::lifecycle::ServedGroups;
use crate::tasks::Tasks;

/// The socket of the server of rsync, and the parts that authenticate its clients.
pub(crate) struct RsyncListener {
    pub(crate) tcp: TcpListener,
    /// TLS with certificates of clients; `None` on a loopback address.
    pub(crate) tls: Option<Arc<TlsServer>>,
}

/// Begins to answer the calls of an orchestrator, if the server of rsync is configured.
pub(crate) fn begin(
    tasks: &Tasks,
    listener: Option<RsyncListener>,
    groups: Option<&Arc<ServedGroups>>,
    access: Option<&Arc<AccessControl>>,
) {
    let (Some(listener), Some(groups)) = (listener, groups) else {
        return;
    };
    let work: Arc<dyn ContextWork> = Arc::clone(groups) as _;
    let rsync = Rsync::new(work, access.map(Arc::clone));
    let shutdown = tasks.shutdown();
    let serving = Listener::new(listener.tcp, listener.tls);
    let serving = serving.serve(rsync, async move { shutdown.cancelled().await });
    tasks.spawn("server of rsync", serving);
}
