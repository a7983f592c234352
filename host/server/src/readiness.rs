//! The answers of `GET /readyz`.

use std::sync::Arc;

use kindsight_aai::Health;
use kindsight_catalog::Catalog;
use kindsight_model::{ClusterName, Coverage};
use kindsight_pipeline::Unsynced;
use kindsight_read_model::ReadModel;
use kindsight_status::ConnectionView;

use crate::replica::ReplicaState;

/// Maximum number of Kinds of one cluster that `GET /readyz` lists as not answered.
const UNANSWERED_SHOWN_MAX: usize = 20;

/// Answers `GET /readyz`: the clusters that are not ready, with the Kinds that they have not answered for, and the first
/// snapshot of a replica.
pub(crate) fn missing(
    unsynced: &Arc<Unsynced>,
    read_model: &ReadModel,
    replica: Option<ReplicaState>,
) -> Arc<dyn Fn() -> Vec<String> + Send + Sync> {
    let (unsynced, read_model) = (Arc::clone(unsynced), read_model.clone());
    Arc::new(move || {
        let clusters = unsynced.borrow().clone();
        let of_cluster = |cluster: &ClusterName| {
            let kinds = read_model.inspect(|snapshot| {
                let mut connections = snapshot.connections();
                let known = connections.find(|(name, _)| *name == cluster);
                known.map_or_else(Vec::new, |(_, connection)| unanswered(connection))
            });
            if kinds.is_empty() {
                format!("the first listing of cluster {cluster}")
            } else {
                format!("answers of cluster {cluster} for {}", kinds.join(", "))
            }
        };
        let snapshot = replica.as_ref().and_then(ReplicaState::missing);
        clusters.iter().map(of_cluster).chain(snapshot).collect()
    })
}

/// The Kinds that a cluster has not answered for, with the causes; at most [`UNANSWERED_SHOWN_MAX`].
fn unanswered(connection: &ConnectionView) -> Vec<String> {
    let coverage = connection.coverage.iter();
    let kinds = coverage.flat_map(Coverage::unanswered);
    let kinds = kinds.take(UNANSWERED_SHOWN_MAX);
    kinds.map(|row| row.to_string()).collect()
}

/// Answers `GET /readyz` with 200: Kinds that clusters have not answered for, findings of the circuit breaker,
/// interpreters that could not be loaded, stores that are away, problems of the inventory A&AI, and an upstream host that
/// does not answer.
pub(crate) fn notes(
    catalog: Arc<Catalog>,
    read_model: ReadModel,
    aai: Option<Health>,
    replica: Option<ReplicaState>,
) -> Arc<dyn Fn() -> Vec<String> + Send + Sync> {
    Arc::new(move || {
        let stores = read_model.inspect(|snapshot| {
            let contexts = snapshot.store_away().map(|away| {
                let reason = &away.reason;
                format!("the store of AppContexts is away: {reason}; answers contain the data that was last read from it")
            });
            let states = snapshot.state_store_away().map(|away| {
                let reason = &away.reason;
                format!("MongoDB is away: {reason}; states and their history are shown as they were last read from it")
            });
            contexts.into_iter().chain(states).collect()
        });
        let clusters = read_model.inspect(|snapshot| {
            let unanswered = snapshot
                .connections()
                .map(|(name, connection)| (name, unanswered(connection)));
            let unanswered = unanswered.filter(|(_, kinds)| !kinds.is_empty());
            let note = |(name, kinds): (&ClusterName, Vec<String>)| {
                format!("cluster {name} has not answered for {}", kinds.join(", "))
            };
            unanswered.map(note).collect()
        });
        let (breaker, unavailable) = (catalog.breaker_notes(), catalog.unavailable_notes());
        let aai = aai.as_ref().map(Health::notes).unwrap_or_default();
        let replica = replica.as_ref().and_then(ReplicaState::note);
        let replica = replica.into_iter().collect();
        [stores, clusters, breaker, unavailable, aai, replica].concat()
    })
}
