//! Health of the API server: whether it answers over the connections in use, and over a new connection.
//!
//! ```text
//! /readyz over each connection ─▶ else a list of one object ─▶ else both over a new connection
//! ```
//!
//! A quiet cluster and a cluster that hangs look alike, so the server is probed every few seconds. A server whose
//! `/readyz` fails but whose lists answer has no outage.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use serde::Deserialize;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::connection::{ApiClient, ApiError, Connections};

/// Time for the answer to one request.
const ANSWER_MAX: Duration = Duration::from_secs(4);
/// Time for a new connection and the first answer over it.
const CONNECT_MAX: Duration = Duration::from_secs(8);
/// The media type of a list from which only the version is read.
pub(super) const METADATA: &str =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/// The health of the server, which all watches of a session share.
#[derive(Debug, Clone, Default)]
pub(super) struct ServerHealth(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Number of failed probes.
    failed: AtomicU64,
    recovered: Notify,
}

/// The health at one moment. Two equal marks have no failed probe between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HealthMark(u64);

impl ServerHealth {
    /// Counts a failed probe.
    pub(super) fn failed(&self) {
        self.0.failed.fetch_add(1, Ordering::Relaxed);
    }

    /// Wakes the watches that wait for the server.
    pub(super) fn recovered(&self) {
        self.0.recovered.notify_waiters();
    }

    /// Waits until the server answers again.
    pub(super) async fn recovery(&self) {
        self.0.recovered.notified().await;
    }

    /// The health now.
    pub(super) fn mark(&self) -> HealthMark {
        HealthMark(self.0.failed.load(Ordering::Relaxed))
    }
}

/// A consistent read of one object, of a listed Kind.
#[derive(Debug, Clone)]
pub(super) struct ConsistentRead {
    /// The path of the list.
    pub(super) path: String,
    /// The last version that its watch had seen before the read.
    pub(super) seen: u64,
}

/// Outcome of a probe.
#[derive(Debug)]
pub(super) enum Probed {
    /// Every connection in use answered.
    Answered {
        /// True if the server returned to an earlier state.
        is_older: bool,
    },
    /// A new connection replaces the connections that did not answer.
    Reconnected {
        /// True if the server returned to an earlier state.
        is_older: bool,
    },
    /// The server accepts a connection, but gives no useful answer.
    Failed(ApiError),
    /// No new connection can be made.
    Disconnected(ApiError),
    /// The server does not accept the credentials.
    Unauthorized(ApiError),
}

/// Probes the server over each connection in use, and over a new one if one of them does not answer. With
/// `reads_version`, the version of a consistent read is compared although `/readyz` succeeds.
pub(super) async fn probe(
    connections: Connections,
    read: Option<ConsistentRead>,
    reads_version: bool,
) -> Probed {
    let clients = connections.clients();
    let read = read.as_ref();
    let answers = clients
        .iter()
        .map(|client| answer_in_use(&connections, client, read, reads_version));
    let answers = join_all(answers).await;
    let mut silent = Vec::new();
    let mut is_older = false;
    for (client, answer) in clients.iter().zip(answers) {
        match answer {
            Ok(is_older_here) => is_older |= is_older_here,
            Err(error @ ApiError::Unauthorized(_)) => return Probed::Unauthorized(error),
            Err(_) => silent.push(client.clone()),
        }
    }
    if silent.is_empty() && !clients.is_empty() {
        return Probed::Answered { is_older };
    }
    let new = match limited(CONNECT_MAX, connections.connect()).await {
        Ok(new) => new,
        Err(error @ ApiError::Unauthorized(_)) => return Probed::Unauthorized(error),
        Err(
            error @ (ApiError::Unreachable(_) | ApiError::TimedOut(_) | ApiError::Credentials(_)),
        ) => return Probed::Disconnected(error),
        Err(error) => return Probed::Failed(error),
    };
    match answer(&new, read, true).await {
        Ok(is_older) => {
            connections.replace(&silent, new);
            Probed::Reconnected { is_older }
        }
        Err(error @ ApiError::Unauthorized(_)) => Probed::Unauthorized(error),
        Err(error) => Probed::Failed(error),
    }
}

/// Requests an answer over a connection in use, which must still lead to the same cluster. Returns whether the server
/// returned to an earlier state.
async fn answer_in_use(
    connections: &Connections,
    client: &ApiClient,
    read: Option<&ConsistentRead>,
    reads_version: bool,
) -> Result<bool, ApiError> {
    let is_older = answer(client, read, reads_version).await?;
    limited(ANSWER_MAX, connections.check_cluster(client)).await?;
    Ok(is_older)
}

/// Requests an answer over one connection. Returns whether the server returned to an earlier state.
async fn answer(
    client: &ApiClient,
    read: Option<&ConsistentRead>,
    reads_version: bool,
) -> Result<bool, ApiError> {
    let ready = limited(ANSWER_MAX, client.get("/readyz", "*/*")).await;
    if matches!(ready, Err(ApiError::Unauthorized(_))) || ready.is_ok() && !reads_version {
        return ready.map(|_| false);
    }
    if let Some(read) = read {
        match limited(ANSWER_MAX, version(client, read)).await {
            // Permissions may be withdrawn, and the Kind may be removed.
            Err(ApiError::Forbidden(_) | ApiError::NotFound(_)) => {}
            Err(_) if ready.is_ok() => return Ok(false),
            version => {
                return version.map(|version| version.is_some_and(|version| version < read.seen));
            }
        }
    }
    if ready.is_ok() {
        return Ok(false);
    }
    let version = client.get("/version", "application/json");
    limited(ANSWER_MAX, version).await.map(|_| false)
}

/// The version of a consistent read; none if it is no number.
async fn version(client: &ApiClient, read: &ConsistentRead) -> Result<Option<u64>, ApiError> {
    #[derive(Deserialize)]
    struct List {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Metadata {
        resource_version: String,
    }
    // Without a version in the request, the server reads its store.
    let bytes = client
        .get(&format!("{}?limit=1", read.path), METADATA)
        .await?;
    let list: Result<List, _> = serde_json::from_slice(&bytes);
    let list = list.map_err(|error| ApiError::Unreadable(error.to_string()))?;
    Ok(list.metadata.resource_version.parse().ok())
}

async fn limited<T>(
    time: Duration,
    request: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    timeout(time, request).await.unwrap_or_else(|_| {
        let seconds = time.as_secs();
        Err(ApiError::TimedOut(format!("no answer in {seconds} s")))
    })
}
