//! Many artifacts that are followed one after the other.

use std::sync::Arc;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::{ArtifactFollower, ArtifactSource, looked};
use crate::catalog::Catalog;
use crate::follow::Panicked;

/// Admits the artifacts of a source to the catalog like [`follow_artifact`](super::follow_artifact),
/// but only one at a time, in the order of their references. A start compiles at most one component
/// at a time, so that two dozen artifacts do not take all processors and two dozen times the memory of
/// a compilation. For artifacts on disk, because a slow registry would delay the other artifacts.
///
/// # Errors
/// [`Panicked`]: the artifacts are no longer followed.
pub async fn follow_artifacts_in_turn(
    catalog: Arc<Catalog>,
    source: ArtifactSource,
    shutdown: CancellationToken,
) -> Result<(), Panicked> {
    let begin = Instant::now();
    let references = source.references.iter();
    let mut waiting: Vec<(Instant, ArtifactFollower)> = references
        .map(|reference| (begin, ArtifactFollower::new(&source, reference.clone())))
        .collect();
    loop {
        // Of several that are due at the same time, the first one is next.
        let next = waiting.iter().enumerate();
        let next = next.min_by_key(|(_, (due, _))| *due);
        let Some(position) = next.map(|(position, _)| position) else {
            shutdown.cancelled().await;
            return Ok(());
        };
        let (due, follower) = waiting.remove(position);
        let waited = shutdown.run_until_cancelled(sleep_until(due)).await;
        if waited.is_none() {
            return Ok(());
        }
        let Some(looked) = looked(follower, &catalog, &shutdown).await else {
            return Ok(());
        };
        let (follower, next) = looked?;
        waiting.push((Instant::now() + next, follower));
    }
}
