//! Removal of incomplete contexts whose writers died.

use std::time::Duration;

use kindsight_appcontext::{AppContexts, Creations};
use kindsight_store::chain;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

/// Time between two sweeps. A creation without progress for this time counts as abandoned.
const EVERY: Duration = Duration::from_mins(5);

/// Removes incomplete contexts whose writer died, and unreferenced parts of reports, until `shutdown`. Must not run for
/// contexts that are only observed.
pub(crate) async fn sweep(contexts: AppContexts, shutdown: CancellationToken) {
    let mut seen = Creations::default();
    loop {
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(EVERY) => {}
        }
        let contexts = contexts.clone();
        let swept = spawn_blocking(move || {
            let swept = contexts.sweep(&mut seen);
            (seen, swept)
        });
        let Some(swept) = shutdown.run_until_cancelled(swept).await else {
            return;
        };
        // After a panic, the creations of the previous sweep are not known, as at the start.
        let (next, swept) = swept.unwrap_or((Creations::default(), Ok(0)));
        seen = next;
        match swept {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "contexts that were never completed are removed"),
            Err(error) => {
                tracing::warn!(
                    error = chain(&error),
                    "incomplete contexts could not be removed; the next sweep tries again"
                );
            }
        }
    }
}
