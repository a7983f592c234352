//! The state of the handlers, shared by all requests.

use std::ops::Deref;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::FromRef;
use kindsight_api::replication::ReplicatedClusters;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::AppState;
use crate::answer::Answers;
use crate::limits::{PEERS_MAX, REMOTE_CALLS_MAX, REPLICAS_MAX};
use crate::problem::Problem;
use crate::stream::Streams;

/// The state of the handlers. A clone is one pointer: axum clones the state of a route several times for each request.
#[derive(Clone)]
pub(crate) struct App(Arc<Parts>);

struct Parts {
    state: AppState,
    answers: Arc<Answers>,
    streams: Arc<Streams>,
    replicas: Arc<Semaphore>,
    peers: Arc<Semaphore>,
    remote_calls: Arc<Semaphore>,
    document: Bytes,
}

impl App {
    /// Creates the state. `document` is the OpenAPI document of the routes, as JSON.
    pub(crate) fn new(state: AppState, streams: Arc<Streams>, document: Bytes) -> Self {
        let answers = Arc::new(Answers::new(&state.limits));
        Self(Arc::new(Parts {
            state,
            answers,
            streams,
            replicas: Arc::new(Semaphore::new(REPLICAS_MAX)),
            peers: Arc::new(Semaphore::new(PEERS_MAX)),
            remote_calls: Arc::new(Semaphore::new(REMOTE_CALLS_MAX)),
            document,
        }))
    }

    /// The writer of large answers.
    pub(crate) fn answers(&self) -> &Arc<Answers> {
        &self.0.answers
    }

    /// The streams of changes.
    pub(crate) fn streams(&self) -> &Arc<Streams> {
        &self.0.streams
    }

    /// A slot for a host that follows these clusters. Replicas take no slot of a host that shares clusters.
    ///
    /// # Errors
    /// All slots are taken.
    pub(crate) fn follower(
        &self,
        clusters: ReplicatedClusters,
    ) -> Result<OwnedSemaphorePermit, Problem> {
        let slots = match clusters {
            ReplicatedClusters::All => &self.0.replicas,
            ReplicatedClusters::Own => &self.0.peers,
        };
        let slot = Arc::clone(slots).try_acquire_owned();
        slot.map_err(|_| Problem::busy())
    }

    /// A slot for a request whose blocking thread waits for other servers. The thread holds it to its end, also if the
    /// client disconnects before.
    ///
    /// # Errors
    /// All slots are taken.
    pub(crate) fn remote_call(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let slot = Arc::clone(&self.0.remote_calls).try_acquire_owned();
        slot.map_err(|_| Problem::busy())
    }

    /// The OpenAPI document of the routes, as JSON.
    pub(crate) fn document(&self) -> Bytes {
        self.0.document.clone()
    }
}

impl Deref for App {
    type Target = AppState;

    fn deref(&self) -> &AppState {
        &self.0.state
    }
}

impl FromRef<App> for Arc<Answers> {
    fn from_ref(app: &App) -> Self {
        Self::clone(app.answers())
    }
}
