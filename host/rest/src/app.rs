//! The state of the handlers, shared by all requests.

use std::ops::Deref;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::FromRef;
use tokio::sync::Semaphore;

use crate::AppState;
use crate::answer::Answers;
use crate::limits::FOLLOWERS_MAX;
use crate::stream::Streams;

/// The state of the handlers. A clone is one pointer: axum clones the state of a route several times for each request.
#[derive(Clone)]
pub(crate) struct App(Arc<Parts>);

struct Parts {
    state: AppState,
    answers: Arc<Answers>,
    streams: Arc<Streams>,
    followers: Arc<Semaphore>,
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
            followers: Arc::new(Semaphore::new(FOLLOWERS_MAX)),
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

    /// The slots of hosts that follow the complete state.
    pub(crate) fn followers(&self) -> &Arc<Semaphore> {
        &self.0.followers
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
