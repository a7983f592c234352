//! TLS of the listener.

use std::convert::Infallible;
use std::sync::Arc;

use kindsight_access::{TlsServer, TlsSettings};
use tokio::task::spawn_blocking;

use crate::clock::now_ms;
use crate::error::Error;
use crate::tasks::Tasks;

/// Reads the files of TLS, if TLS is enabled.
pub(crate) async fn open(settings: Option<TlsSettings>) -> Result<Option<Arc<TlsServer>>, Error> {
    let Some(settings) = settings else {
        return Ok(None);
    };
    let loaded = spawn_blocking(|| TlsServer::load(settings, now_ms)).await;
    let server = loaded.map_err(|_| Error::StartPanicked)??;
    Ok(Some(Arc::new(server)))
}

/// Begins to follow the files of TLS, if TLS is enabled.
pub(crate) fn begin(tls: Option<&Arc<TlsServer>>, tasks: &Tasks) {
    let Some(tls) = tls.map(Arc::clone) else {
        return;
    };
    let shutdown = tasks.shutdown();
    tasks.spawn("follower of the TLS files", async move {
        // Cancelled at the stop; the future does not end by itself.
        let _ = shutdown.run_until_cancelled(tls.follow()).await;
        Ok::<_, Infallible>(())
    });
}
