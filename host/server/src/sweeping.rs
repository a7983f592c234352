//! Removal of what writers of contexts left behind.

use std::time::Duration;

use kindsight_appcontext::{AppContexts, Creations};
use kindsight_store::chain;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;

/// Time between two sweeps. A creation that did not go on for so long is taken for dead.
const EVERY: Duration = Duration::from_mins(5);

/// Removes what is left of contexts whose writer died, and parts of reports that nothing refers to, until
/// `shutdown`. Not for contexts that are only observed.
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
        // After a panic nothing is known of the sweep before, as at the start.
        let (next, swept) = swept.unwrap_or((Creations::default(), Ok(0)));
        seen = next;
        match swept {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "contexts that were never completed are removed"),
            Err(error) => {
                tracing::warn!(
                    error = chain(&error),
                    "what is left of creations stays until the next sweep"
                );
            }
        }
    }
}
