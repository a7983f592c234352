//! The states of a resource in tables and lines, by the type of the status.

use kindsight_api::status::{Cluster, QueryType, Resource};
use kindsight_model::RsyncStatus;

use crate::color;
use crate::table::Cell;

/// The heads of the columns for the states.
pub(super) fn heads(kind: QueryType) -> &'static [&'static str] {
    match kind {
        QueryType::Rsync | QueryType::Cluster => &["STATE"],
        QueryType::All => &["SENT", "REPORTED"],
    }
}

/// The cells of a resource in these columns.
pub(super) fn cells<'r>(
    kind: QueryType,
    cluster: &Cluster<'_>,
    resource: &'r Resource<'_>,
) -> Vec<Cell<'r>> {
    let of_sent = || Cell::styled(sent(resource), color::of_sent(resource.rsync_status));
    let of_reported = || {
        let is_stale = cluster.readiness.stale_since.is_some();
        let style = color::of_phase(resource.phase, is_stale);
        Cell::styled(reported(cluster, resource), style)
    };
    match kind {
        QueryType::Rsync => vec![of_sent()],
        QueryType::Cluster => vec![of_reported()],
        QueryType::All => vec![of_sent(), of_reported()],
    }
}

/// The states of a resource in words.
pub(super) fn words(kind: QueryType, cluster: &Cluster<'_>, resource: &Resource<'_>) -> String {
    match kind {
        QueryType::Rsync => sent(resource).to_owned(),
        QueryType::Cluster => reported(cluster, resource),
        QueryType::All => {
            let reported = reported(cluster, resource);
            match sent(resource) {
                "" => format!("not sent, reported {reported}"),
                sent => format!("sent {sent}, reported {reported}"),
            }
        }
    }
}

/// The result of sending the resource to its cluster; empty for a resource that exists only in the cluster.
fn sent<'r>(resource: &'r Resource<'_>) -> &'r str {
    resource.rsync_status.map_or("", RsyncStatus::as_str)
}

/// The state that the cluster reports, with every reason to doubt it.
fn reported(cluster: &Cluster<'_>, resource: &Resource<'_>) -> String {
    let state = resource.cluster_status.as_deref().unwrap_or_default();
    let mut state = state.to_owned();
    if resource.hook == Some(true) {
        state.push_str(" (hook)");
    }
    if cluster.readiness.stale_since.is_some() {
        state.push_str(" (stale)");
    }
    state
}
