//! A server that shows the state of another host.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use kindsight_pipeline::{QueuedEvent, RememberedFile};
use kindsight_replication::{FeedScope, Upstream, UpstreamSettings, UpstreamState};
use tokio::sync::{mpsc, watch};

use crate::clock::now_ms;
use crate::error::Error;
use crate::settings::Settings;
use crate::tasks::{Tasks, infallible};

/// The host whose state a replica shows.
#[derive(Debug, Clone)]
pub struct ReplicaSettings {
    /// URL of its REST API.
    pub url: String,
    /// File with the token of a user with the role `viewer` for everything.
    pub token_file: Option<PathBuf>,
    /// PEM file with the authorities that may sign its certificate, instead of the system's authorities.
    pub ca: Option<PathBuf>,
}

/// The state of the connection of a replica to its upstream host.
#[derive(Clone)]
pub(crate) struct ReplicaState {
    /// Scheme, host and port of the upstream host.
    pub(crate) upstream: Arc<str>,
    pub(crate) connection: watch::Receiver<UpstreamState>,
}

impl fmt::Debug for ReplicaState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReplicaState").field(&self.upstream).finish()
    }
}

/// Prepares the connection to the upstream host; `None` for a server that is no replica. A replica keeps no last-known
/// state: its first snapshot has the complete state.
pub(crate) fn open(settings: &mut Settings) -> Result<Option<Upstream>, Error> {
    let Some(replica) = settings.replica_of.take() else {
        return Ok(None);
    };
    let conflicts = [
        (!settings.clusters.is_empty(), "clusters"),
        (settings.registry.is_enabled(), "registered clusters"),
        (settings.lifecycle, "--lifecycle"),
        (settings.mongodb.is_some(), "--mongodb"),
        // The upstream host sends them.
        (!settings.notify.is_empty(), "[[notify]]"),
        (settings.aai.is_some(), "[aai]"),
        (
            !Arc::ptr_eq(&settings.contexts, &settings.store),
            "--observe",
        ),
    ];
    if let Some((_, other)) = conflicts.into_iter().find(|(is_set, _)| *is_set) {
        return Err(Error::ReplicaWith(other));
    }
    settings.cluster_changes = None;
    settings.remembered = None::<RememberedFile>;
    let upstream = Upstream::new(UpstreamSettings {
        url: replica.url,
        token_file: replica.token_file,
        ca: replica.ca,
        scope: FeedScope::Every,
    })?;
    Ok(Some(upstream))
}

/// Begins to follow the upstream host. Returns the state of the connection.
pub(crate) fn begin(
    tasks: &Tasks,
    upstream: Option<Upstream>,
    events_tx: mpsc::Sender<QueuedEvent>,
) -> Option<ReplicaState> {
    let upstream = upstream?;
    let state = ReplicaState::of(&upstream);
    let following = upstream.run(events_tx, now_ms, tasks.shutdown());
    tasks.spawn("follower of the upstream host", infallible(following));
    Some(state)
}

impl ReplicaState {
    pub(crate) fn of(upstream: &Upstream) -> Self {
        Self {
            upstream: Arc::clone(upstream.name()),
            connection: upstream.state(),
        }
    }

    /// The missing part until the first snapshot is complete, for `GET /readyz`.
    pub(crate) fn missing(&self) -> Option<String> {
        let state = self.connection.borrow();
        let upstream = &self.upstream;
        match (&state.error, state.has_snapshot) {
            (_, true) => None,
            (None, false) => Some(format!("the first snapshot of {upstream}")),
            (Some(error), false) => Some(format!("the first snapshot of {upstream}: {error}")),
        }
    }

    /// The problem of a ready replica, for `GET /readyz`.
    pub(crate) fn note(&self) -> Option<String> {
        let state = self.connection.borrow();
        let error = state.error.as_ref().filter(|_| state.has_snapshot)?;
        let upstream = &self.upstream;
        Some(format!(
            "the upstream host {upstream} is not followed: {error}; answers contain the state that it sent last"
        ))
    }
}
