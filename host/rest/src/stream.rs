//! Streams of changes: server-sent events that follow what a query answers.
//!
//! Nothing is queued for a reader. The next event is made when the connection can take it, of what was sent
//! last and what is true then: who reads slowly gets fewer events, each with more.
//!
//! ```text
//! read model ──changed──▶ Follower ──state, state before──▶ Watched ──event──▶ EventBody ──▶ hyper
//! ```

mod body;
mod event;
mod follower;
mod resumable;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use kindsight_status::{ChangedSubject, ReadModel};
use tokio::sync::Semaphore;

use crate::Limits;
use crate::answer::{Answers, Chunks};
use crate::middleware::AnswerBytes;
use crate::problem::Problem;
use crate::serve::Stopping;

use body::EventBody;
pub(crate) use event::write as write_event;
use follower::Follower;
use resumable::Resumable;

/// The header in which a client names the last event that it got.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Subject of a stream: a query, whose answer is made of states of the read model.
pub(crate) trait Watched: Send + Sync + 'static {
    /// The part of the read model that the answer is made of, at one moment.
    type State: Send + Sync + 'static;

    /// Time for which changes are gathered into one event.
    const GATHER: Duration;

    /// Reads the state as it is now.
    ///
    /// # Errors
    /// Names that do not exist, or do not exist any more.
    fn read(&self, model: &ReadModel) -> Result<Self::State, Problem>;

    /// Returns whether a change of the read model may change the answer.
    fn is_concerned_by(&self, state: &Self::State, changed: &ChangedSubject) -> bool;

    /// Returns whether a state follows from one before by a change, and not by a fresh snapshot.
    fn follows(&self, before: &Self::State, after: &Self::State) -> bool;

    /// Returns whether events about the state are probably small.
    fn is_probably_small(&self, state: &Self::State) -> bool;

    /// Writes the whole answer.
    ///
    /// # Errors
    /// Names that do not exist any more.
    fn write_snapshot(&self, state: &Self::State, to: &mut Chunks) -> Result<(), Problem>;

    /// Writes the change, or nothing where the answer is the same.
    ///
    /// # Errors
    /// As for the whole answer.
    fn write_change(
        &self,
        before: &Self::State,
        after: &Self::State,
        to: &mut Chunks,
    ) -> Result<(), Problem>;
}

/// All streams: how many there are, and what was sent to those that ended.
#[derive(Debug)]
pub(crate) struct Streams {
    slots: Arc<Semaphore>,
    bytes: Arc<AnswerBytes>,
    heartbeat: Duration,
    resumable: Resumable,
}

impl Streams {
    /// Streams whose events count as bytes of answers.
    pub(crate) fn new(limits: &Limits, bytes: Arc<AnswerBytes>) -> Self {
        Self {
            slots: Arc::new(Semaphore::new(
                limits.streams_max.min(Semaphore::MAX_PERMITS),
            )),
            bytes,
            heartbeat: limits.heartbeat,
            resumable: Resumable::default(),
        }
    }

    /// Answers a request with a stream that ends when the client or the server does.
    ///
    /// # Errors
    /// Names that do not exist; too many streams.
    pub(crate) fn follow<W: Watched>(
        self: &Arc<Self>,
        model: Arc<ReadModel>,
        answers: Arc<Answers>,
        watched: W,
        request: &Parts,
    ) -> Result<Response, Problem> {
        let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() else {
            return Err(Problem::busy());
        };
        let uri = request.uri.path_and_query();
        let follower = Follower::begin(follower::Beginning {
            streams: Arc::clone(self),
            model,
            answers,
            watched,
            name: uri.map_or("", |it| it.as_str()).to_owned(),
            last: last_event(&request.headers),
            activity: request.extensions.get().cloned(),
            stopping: request.extensions.get().map(|Stopping(it)| it.clone()),
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

/// The generation of the last event that a client got; none if it names none that was ever sent.
fn last_event(headers: &HeaderMap) -> Option<u64> {
    headers.get(LAST_EVENT_ID)?.to_str().ok()?.parse().ok()
}
