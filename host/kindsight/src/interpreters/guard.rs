//! Watches what is live: follows what other hosts over the same store change, and goes back where it
//! fails too often.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_catalog::Catalog;
use tokio_util::sync::CancellationToken;

/// How often faults are counted. The catalog looks at those of the last minute.
const LOOK: Duration = Duration::from_secs(1);

/// Runs until it is told to stop.
pub(crate) async fn guard(catalog: Arc<Catalog>, shutdown: CancellationToken) {
    let mut trouble = None;
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(LOOK) => {}
        }
        let catalog = Arc::clone(&catalog);
        // Both read the store, and may have to load what is to be live.
        let looked = tokio::task::spawn_blocking(move || {
            let followed = catalog.follow();
            catalog.check_breaker(Instant::now());
            followed.err().map(|error| error.to_string())
        });
        match looked.await {
            // Said once, not once a second.
            Ok(now) if now == trouble => {}
            Ok(now) => {
                if let Some(error) = &now {
                    tracing::error!(error, "what other hosts change is not followed");
                }
                trouble = now;
            }
            Err(error) => {
                tracing::error!(%error, "the guard of the interpreters broke; it goes on");
            }
        }
    }
}
