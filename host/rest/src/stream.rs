//! Streams of changes: server-sent events that follow the answer to a query.
//!
//! Events are not queued for a reader. The next event is made when the connection can take it, from the state
//! that was sent last and the state at that time: a slow reader gets fewer events, each with more changes.
//!
//! ```text
//! read model ──changed──▶ Follower ──state, state before──▶ Watched ──event──▶ EventBody ──▶ hyper
//! ```

mod body;
mod event;
mod event_id;
mod follower;
mod resumable;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use kindsight_access::Lease;
use kindsight_model::ClusterName;
use kindsight_read_model::VisibleModel;
use kindsight_status::ChangedSubject;
use tokio::sync::Semaphore;

use crate::ClusterWaits;
use crate::Limits;
use crate::answer::{Answers, Chunks};
use crate::middleware::AnswerBytes;
use crate::problem::Problem;
use crate::serve::RequestConnection;
use crate::slots::Slots;

use body::EventBody;
pub(crate) use event::write as write_event;
use event_id::{EventId, EventIds};
use follower::Follower;
use resumable::Resumable;

/// The header with the id of the client's last event.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Subject of a stream: a query whose answer depends on a part of the read model.
pub(crate) trait Watched: Send + Sync + 'static {
    /// The part of the read model that determines the answer, at one time.
    type State: Send + Sync + 'static;

    /// Time for which changes are gathered into one event.
    const GATHER: Duration;

    /// Reads the current state.
    ///
    /// # Errors
    /// Names that do not exist, or do not exist any more.
    fn read(&self, model: &VisibleModel) -> Result<Self::State, Problem>;

    /// Returns whether a change of the read model may change the answer.
    fn is_concerned_by(&self, state: &Self::State, changed: &ChangedSubject) -> bool;

    /// Returns whether a state follows from one before by a change, and not by a fresh snapshot.
    fn follows(&self, before: &Self::State, after: &Self::State) -> bool;

    /// The clusters for whose changes the reader waits. Empty for an overview of all clusters.
    fn clusters(&self, state: &Self::State) -> BTreeSet<ClusterName>;

    /// Returns whether events about the state are probably small.
    fn is_probably_small(&self, state: &Self::State) -> bool;

    /// Writes the complete answer.
    ///
    /// # Errors
    /// Names that do not exist any more.
    fn write_snapshot(&self, state: &Self::State, to: &mut Chunks) -> Result<(), Problem>;

    /// Writes the change, or no bytes if the answer is the same.
    ///
    /// # Errors
    /// As for the complete answer.
    fn write_change(
        &self,
        before: &Self::State,
        after: &Self::State,
        to: &mut Chunks,
    ) -> Result<(), Problem>;
}

/// The reader of a stream.
pub(crate) struct Reader {
    /// The data that the reader may see.
    pub(crate) model: VisibleModel,
    /// Ends when the reader's rights change; `None` without access control.
    pub(crate) lease: Option<Lease>,
}

/// All streams: their number, the ids of their events, and the last events of ended streams.
pub(crate) struct Streams {
    slots: Arc<Semaphore>,
    bytes: Arc<AnswerBytes>,
    waits: Arc<dyn ClusterWaits>,
    heartbeat: Duration,
    ids: EventIds,
    resumable: Resumable,
}

impl Streams {
    /// Streams whose events count as bytes of answers.
    pub(crate) fn new(
        limits: &Limits,
        slots: &Slots,
        bytes: Arc<AnswerBytes>,
        waits: Arc<dyn ClusterWaits>,
    ) -> Self {
        Self {
            slots: Arc::clone(&slots.streams.free),
            bytes,
            waits,
            heartbeat: limits.heartbeat,
            ids: EventIds::default(),
            resumable: Resumable::default(),
        }
    }

    /// Answers a request with a stream that ends when the client disconnects, the reader's rights change, or the server
    /// stops.
    ///
    /// # Errors
    /// Names that do not exist; too many streams.
    pub(crate) fn follow<W: Watched>(
        self: &Arc<Self>,
        reader: Reader,
        answers: Arc<Answers>,
        watched: W,
        request: &Parts,
    ) -> Result<Response, Problem> {
        let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() else {
            return Err(Problem::busy());
        };
        let uri = request.uri.path_and_query();
        let connection = request.extensions.get::<Arc<RequestConnection>>();
        let follower = Follower::begin(follower::Beginning {
            streams: Arc::clone(self),
            reader,
            answers,
            watched,
            name: uri.map_or("", |uri| uri.as_str()).to_owned(),
            last: last_event(&request.headers),
            activity: connection.map(|it| Arc::clone(&it.activity)),
            stopping: connection.map(|it| it.stopping.clone()),
            slot,
        })?;
        let events = HeaderValue::from_static("text/event-stream");
        let unbuffered = HeaderValue::from_static("no");
        let headers = [
            (header::CONTENT_TYPE, events),
            (HeaderName::from_static("x-accel-buffering"), unbuffered),
        ];
        Ok((headers, Body::new(EventBody::new(follower))).into_response())
    }
}

/// The id of the last event that a client received; `None` if the header is absent or invalid.
fn last_event(headers: &HeaderMap) -> Option<EventId> {
    headers.get(LAST_EVENT_ID)?.to_str().ok()?.parse().ok()
}
