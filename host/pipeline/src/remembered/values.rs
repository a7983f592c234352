//! The values for the file, from the published read model.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_read_model::ReadModel;
use kindsight_status::{ApplicationKey, ClusterView, ConnectionState, ConnectionView, Recorded};

use super::format::{StoredCluster, StoredPlacement, written};
use super::keys;
use super::pace::{Pace, WaitingValues};
use super::pending::Pending;
use super::statuses::StoredStatuses;
use super::transitions::{StoredHistory, StoredTransition};

/// The changes of one application. Returns the views that they are made of, by their keys. A view that changed shortly
/// after its value was written waits instead.
pub(super) fn application(
    read_model: &ReadModel,
    pace: &mut Pace<'_>,
    key: &ApplicationKey,
    pending: &mut Pending<'_>,
) -> Vec<(String, Arc<ClusterView>)> {
    let prefix = keys::application(key);
    let (view, history) = read_model.application_history(key);
    let mut kept = BTreeSet::new();
    let mut new_views = Vec::new();
    if let (Some(view), ApplicationKey::Found(name)) = (&view, key) {
        for app in &view.apps {
            for placement in app.clusters() {
                let at = keys::placement(&prefix, placement.cluster(), app.name());
                if pace.is_due(key, &at, placement, pending.bytes(&at)) {
                    let stored = StoredPlacement::of(name, app.name(), placement);
                    pending.put(at.clone(), written(&stored));
                    new_views.push((at.clone(), Arc::clone(placement)));
                }
                kept.insert(at);
            }
        }
    }
    let statuses = view.as_ref().and_then(|view| StoredStatuses::of(key, view));
    if let Some(stored) = statuses {
        let at = keys::statuses(&prefix);
        pending.put(at.clone(), written(&stored));
        kept.insert(at);
    }
    let history = history.filter(|_| view.is_some());
    if let Some(history) = &history {
        let at = keys::history(&prefix);
        let stored = StoredHistory {
            of: key.to_string(),
            dropped: history.dropped,
        };
        pending.put(at.clone(), written(&stored));
        kept.insert(at);
    }
    let transitions = history.map(|history| history.transitions);
    put_transitions(key, &prefix, &transitions.unwrap_or_default(), pending);
    pending.retain(&prefix, &kept);
    new_views
}

/// Adds the transitions that the file lacks, and deletes the others. A transition never changes.
fn put_transitions(
    of: &ApplicationKey,
    prefix: &str,
    transitions: &[Recorded],
    pending: &mut Pending<'_>,
) {
    let known = pending.transitions(prefix);
    let is_known = |id: u64| known.is_some_and(|known| known.contains_key(&id));
    let mut remaining = 0;
    for recorded in transitions {
        if is_known(recorded.id) {
            remaining += 1;
        } else {
            let stored = StoredTransition::of(of, recorded);
            pending.put(keys::transition(prefix, recorded.id), written(&stored));
        }
    }
    if known.is_some_and(|known| known.len() > remaining) {
        let kept = transitions.iter().map(|recorded| recorded.id).collect();
        pending.retain_transitions(prefix, &kept);
    }
}

/// Notes until when each cluster is current, and forgets clusters that are not configured any more. A cluster is
/// current until the first of its changes that waits.
pub(super) fn clusters(
    read_model: &ReadModel,
    waiting: &WaitingValues,
    pending: &mut Pending<'_>,
    now_ms: i64,
) {
    let waiting = waiting.first_by_cluster();
    let connections: Vec<_> = read_model.inspect(|snapshot| {
        let connections = snapshot.connections();
        connections
            .map(|(name, connection)| {
                let first_waiting_ms = waiting.get(name).copied().unwrap_or(i64::MAX);
                let current_until_ms =
                    current_until(connection, now_ms).map(|at| at.min(first_waiting_ms));
                let stored = current_until_ms.map(|at| StoredCluster::of(name, connection, at));
                (name.clone(), stored)
            })
            .collect()
    });
    let mut kept = BTreeSet::new();
    for (name, stored) in connections {
        let at = keys::cluster(&name);
        if let Some(stored) = stored {
            pending.put(at.clone(), written(&stored));
        }
        kept.insert(at);
    }
    pending.retain(keys::CLUSTERS, &kept);
}

/// The time until when what is known of a cluster is current; none where it was not heard yet.
fn current_until(connection: &ConnectionView, now_ms: i64) -> Option<i64> {
    match connection.state {
        ConnectionState::Connecting => None,
        ConnectionState::Connected => Some(now_ms),
        // It was not heard since the start, where the time of before stays.
        ConnectionState::Stale => connection.heard_ms.map(|_| connection.since_ms),
    }
}
