//! Follows an upstream host over HTTP.

mod freshness;
mod lines;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, HeaderValue};
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Collected, Empty, Limited};
use kindsight_api::problem::ProblemDocument;
use kindsight_model::clean;
use tokio::sync::mpsc::Sender;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::batch::{UpstreamChange, UpstreamEvent};
use crate::feed::FeedScope;
use crate::image::Image;
use crate::tls::{self, CONNECT_MAX, Https};
use crate::wire::{FORMAT, WireError};
use freshness::Freshness;
pub use freshness::SILENT_MAX;
use lines::Lines;
pub use settings::{UpstreamSettings, UpstreamSettingsError};

/// Time between two attempts to connect, at first. It doubles after each failure.
const RETRY_MIN: Duration = Duration::from_millis(200);
/// Maximum time between two attempts to connect.
const RETRY_MAX: Duration = Duration::from_secs(5);
/// Maximum size of an answer that is a problem, in bytes.
const PROBLEM_BYTES_MAX: usize = 64 * 1024;
/// Maximum length of a reason, in bytes.
const REASON_BYTES_MAX: usize = 600;

/// The state of the connection to an upstream host, for metrics and `/readyz`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpstreamState {
    /// True once a complete snapshot was applied.
    pub has_snapshot: bool,
    /// The reason why it does not answer; `None` while it answers.
    pub error: Option<Arc<str>>,
    /// Time of the last complete batch, in Unix milliseconds; `None` before the first one.
    pub fresh_ms: Option<i64>,
    /// Number of connections that were begun.
    pub connections: u64,
    /// Bytes received, before decompression.
    pub bytes: u64,
    /// Number of batches received.
    pub batches: u64,
}

/// An upstream host.
pub struct Upstream {
    /// Scheme, host and port.
    name: Arc<str>,
    url: String,
    settings: UpstreamSettings,
    https: Https,
    state: watch::Sender<UpstreamState>,
}

/// The reason why a stream ended.
#[derive(Debug, thiserror::Error)]
enum StreamError {
    #[error("the server cannot be reached: {0}")]
    Lost(String),
    #[error("the server refuses this host ({0}): {1}")]
    Refused(StatusCode, String),
    #[error("{0}")]
    Wire(#[from] WireError),
    #[error("{0}")]
    Token(String),
    #[error("the pipeline of this host ended")]
    Closed,
}

impl Upstream {
    /// An upstream host. Reads the file of authorities; does not connect.
    ///
    /// # Errors
    /// [`UpstreamSettingsError`] with the setting that is invalid.
    pub fn new(settings: UpstreamSettings) -> Result<Self, UpstreamSettingsError> {
        let (name, server) = settings.server()?;
        let scope = match settings.scope {
            FeedScope::Every => "all",
            FeedScope::Own => "own",
        };
        Ok(Self {
            name: name.into(),
            url: format!("{server}/v2/replication?format={FORMAT}&clusters={scope}"),
            https: tls::client(settings.ca.as_deref())?,
            settings,
            state: watch::Sender::default(),
        })
    }

    /// Scheme, host and port.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The state of the connection.
    pub fn state(&self) -> watch::Receiver<UpstreamState> {
        self.state.subscribe()
    }

    /// Follows the upstream host until `shutdown`. Sends each complete batch, and outages.
    pub async fn run<E: From<UpstreamEvent>>(
        self,
        events: Sender<E>,
        clock: fn() -> i64,
        shutdown: CancellationToken,
    ) {
        let mut following = Following {
            freshness: Freshness::new(clock),
            image: Image::default(),
            upstream: self,
            events,
        };
        // Nothing is returned at the stop.
        let _ = shutdown.run_until_cancelled(following.run()).await;
    }
}

struct Following<E> {
    upstream: Upstream,
    image: Image,
    freshness: Freshness,
    events: Sender<E>,
}

impl<E: From<UpstreamEvent>> Following<E> {
    async fn run(&mut self) {
        let mut retry = RETRY_MIN;
        loop {
            self.image.restart();
            let batches = self.upstream.state.borrow().batches;
            let error = match self.stream().await {
                Err(StreamError::Closed) | Ok(()) => return,
                Err(error) => clean(&error.to_string(), REASON_BYTES_MAX).into_owned(),
            };
            if self.upstream.state.borrow().batches > batches {
                retry = RETRY_MIN;
            }
            let upstream = &self.upstream.name;
            tracing::warn!(%upstream, error, "upstream host lost; it is connected again");
            self.freshness.failed(&error);
            self.upstream
                .state
                .send_modify(|state| state.error = Some(error.into()));
            if self.wait(sleep(retry)).await.is_err() {
                return;
            }
            retry = (retry * 2).min(RETRY_MAX);
        }
    }

    /// Waits, and meanwhile reports an upstream host that has been silent for too long.
    async fn wait<T>(&mut self, future: impl Future<Output = T>) -> Result<T, StreamError> {
        let mut future = std::pin::pin!(future);
        loop {
            tokio::select! {
                done = &mut future => return Ok(done),
                staleness = self.freshness.expired() => {
                    self.send(UpstreamChange::Away(staleness)).await?;
                }
            }
        }
    }

    async fn send(&self, change: UpstreamChange) -> Result<(), StreamError> {
        let event = UpstreamEvent {
            upstream: Arc::clone(&self.upstream.name),
            scope: self.upstream.settings.scope,
            change,
        };
        let sent = self.events.send(event.into()).await;
        sent.map_err(|_| StreamError::Closed)
    }

    /// Follows one stream. Returns only with an error.
    async fn stream(&mut self) -> Result<(), StreamError> {
        let request = self.upstream.request()?;
        let state = &self.upstream.state;
        state.send_modify(|state| state.connections = state.connections.saturating_add(1));
        let answer = timeout(
            CONNECT_MAX * 2,
            self.upstream.https.clone().request(request),
        );
        let answer = self.wait(answer).await?;
        let answer = answer.map_err(|_| StreamError::Lost("no answer in time".to_owned()))?;
        let (head, body) = answer
            .map_err(|error| StreamError::Lost(chain(&error)))?
            .into_parts();
        if head.status != StatusCode::OK {
            let body = Limited::new(body, PROBLEM_BYTES_MAX).collect();
            let body = self.wait(timeout(CONNECT_MAX, body)).await?;
            let body = body.ok().and_then(Result::ok);
            let body = body.map(Collected::to_bytes).unwrap_or_default();
            let problem: ProblemDocument = serde_json::from_slice(&body).unwrap_or_default();
            let detail = clean(&problem.detail, REASON_BYTES_MAX).into_owned();
            return Err(StreamError::Refused(head.status, detail));
        }
        let is_gzip = head.headers.get(CONTENT_ENCODING).is_some();
        let mut lines = Lines::new(is_gzip);
        let mut body = std::pin::pin!(body);
        loop {
            let frame = self.wait(timeout(SILENT_MAX, body.frame())).await?;
            let silent = || format!("no sign of life for {} s", SILENT_MAX.as_secs());
            let frame = frame.map_err(|_| StreamError::Lost(silent()))?;
            let frame = frame.ok_or_else(|| StreamError::Lost("the stream ended".to_owned()))?;
            let frame = frame.map_err(|error| StreamError::Lost(chain(&error)))?;
            if let Ok(bytes) = frame.into_data() {
                self.take(&mut lines, &bytes).await?;
            }
        }
    }

    async fn take(&mut self, lines: &mut Lines, bytes: &[u8]) -> Result<(), StreamError> {
        let received = bytes.len() as u64;
        let state = &self.upstream.state;
        state.send_modify(|state| state.bytes = state.bytes.saturating_add(received));
        lines.add(bytes).map_err(StreamError::Lost)?;
        while let Some(line) = lines.next()? {
            let Some(batch) = self.image.take(&line)? else {
                continue;
            };
            self.send(UpstreamChange::Batch(Box::new(batch))).await?;
            let fresh_ms = self.freshness.proven();
            self.upstream.state.send_modify(|state| {
                state.has_snapshot = true;
                state.error = None;
                state.fresh_ms = Some(fresh_ms);
                state.batches = state.batches.saturating_add(1);
            });
        }
        Ok(())
    }
}

impl Upstream {
    fn request(&self) -> Result<Request<Empty<&'static [u8]>>, StreamError> {
        let mut request = Request::get(&self.url).header(ACCEPT_ENCODING, "gzip");
        if let Some(file) = &self.settings.token_file {
            let shown = file.display();
            let token = tls::read(file);
            let token = token
                .map_err(|why| StreamError::Token(format!("the token file {shown}: {why}")))?;
            let token = String::from_utf8_lossy(&token);
            let mut value = HeaderValue::try_from(format!("Bearer {}", token.trim()));
            if let Ok(value) = &mut value {
                value.set_sensitive(true);
            }
            let value = value.map_err(|_| {
                let why = "a token has only printable ASCII characters";
                StreamError::Token(format!("the token file {shown}: {why}"))
            })?;
            request = request.header(AUTHORIZATION, value);
        }
        let request = request.body(Empty::new());
        request.map_err(|error| StreamError::Lost(error.to_string()))
    }
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
