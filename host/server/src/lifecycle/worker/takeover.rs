//! The work that other servers leave.

use kindsight_lifecycle::Job;
use kindsight_store::{EndedLeases, Error, chain};

/// Waits until leases of jobs end, also the leases of this server. Returns the jobs; none if the watch ended. Without a
/// watch, waits forever.
pub(super) async fn left_jobs(watch: &mut Option<EndedLeases>) -> Option<Vec<Job>> {
    let Some(ended) = watch else {
        return std::future::pending().await;
    };
    match ended.next().await {
        Ok(names) => Some(names.iter().filter_map(|name| name.parse().ok()).collect()),
        Err(error) => {
            *watch = None;
            if !matches!(error, Error::Closed) {
                let error = chain(&error);
                tracing::warn!(error, "the leases of other servers were not followed");
            }
            None
        }
    }
}
