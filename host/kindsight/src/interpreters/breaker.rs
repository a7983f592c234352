//! Watches what is live, and goes back where it fails too often.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_interpreter::catalog::Catalog;
use tokio_util::sync::CancellationToken;

/// How often faults are counted. The catalog looks at those of the last minute.
const LOOK: Duration = Duration::from_secs(1);

/// Runs until it is told to stop.
pub(crate) async fn guard(catalog: Arc<Catalog>, shutdown: CancellationToken) {
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(LOOK) => {}
        }
        let catalog = Arc::clone(&catalog);
        // Going back writes to the store, and may have to load what was live before.
        let looked = tokio::task::spawn_blocking(move || catalog.break_off_faulty(Instant::now()));
        if let Err(error) = looked.await {
            tracing::error!(%error, "the breaker broke; it goes on");
        }
    }
}
