//! The status of an application, followed over a stream. A lost stream is opened again.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use kindsight_api::problem::ProblemDocument;
use kindsight_api::status::Status;
use kindsight_api::watch::{EventName, StatusChange};
use kindsight_server::status::apply;

use super::StatusQuery;
use super::events::{self, Event, StreamItem};
use crate::client::{self, Refused, Server};

/// Time until a stream that was lost is opened again.
const AGAIN: Duration = Duration::from_secs(1);

/// Silence after which a stream counts as lost: three heartbeats of the server.
const SILENCE_MAX: Duration = Duration::from_secs(45);

/// A status that is followed.
pub(super) struct Followed {
    server: Server,
    query: StatusQuery,
    stream: Option<Receiver<StreamItem>>,
    /// True once the stream has sent anything, so that the status is current.
    is_current: bool,
    /// Time of the last event or comment, or of the loss of the stream.
    at: Instant,
    /// Id of the last event.
    last: Option<String>,
    /// The status as it is now, as JSON; none until it is known.
    status: Option<String>,
}

/// A change of the followed status, or of the stream.
#[derive(Debug)]
pub(super) enum News {
    /// The server sent the complete status.
    Snapshot,
    /// The status changed: JSON of a [`StatusChange`].
    Change(String),
    /// The stream was lost and will be opened again; the status is still the last one received.
    Lost(String),
    /// The application does not exist, or no longer exists.
    Missing(String),
    /// No change until the end of the wait.
    Unchanged,
}

impl Followed {
    /// Begins to follow.
    pub(super) fn begin(server: &Server, query: StatusQuery) -> Self {
        let stream = events::open(server, query.stream(), None);
        Self {
            server: server.clone(),
            query,
            stream: Some(stream),
            is_current: false,
            at: Instant::now(),
            last: None,
            status: None,
        }
    }

    /// The status as it is now, as JSON; none until it is known.
    pub(super) fn status(&self) -> Option<&str> {
        self.status.as_deref()
    }

    /// Returns whether the stream is open and has sent anything, so that the status is current.
    pub(super) fn is_current(&self) -> bool {
        self.is_current
    }

    /// Waits for news, at most for `wait_max`.
    ///
    /// # Errors
    /// The server refuses for a permanent reason, a credential is invalid, or the server sends data that cannot be parsed.
    pub(super) fn next(&mut self, wait_max: Duration) -> anyhow::Result<News> {
        let Some(stream) = &self.stream else {
            let left = AGAIN.saturating_sub(self.at.elapsed());
            std::thread::sleep(left.min(wait_max));
            if left <= wait_max {
                let request = self.query.stream();
                self.stream = Some(events::open(&self.server, request, self.last.clone()));
                self.at = Instant::now();
            }
            return Ok(News::Unchanged);
        };
        let item = match stream.recv_timeout(wait_max) {
            Ok(item) => item,
            Err(RecvTimeoutError::Timeout) if self.at.elapsed() < SILENCE_MAX => {
                return Ok(News::Unchanged);
            }
            Err(_) => {
                StreamItem::Ended(anyhow::anyhow!("no event or heartbeat for {SILENCE_MAX:?}"))
            }
        };
        self.at = Instant::now();
        self.is_current = matches!(item, StreamItem::Alive | StreamItem::Event(_));
        match item {
            StreamItem::Alive => Ok(News::Unchanged),
            StreamItem::Event(event) => self.take(event),
            StreamItem::Ended(error) => {
                self.stream = None;
                Ok(News::Lost(format!("{error:#}")))
            }
            StreamItem::NotOpened(error) => {
                self.stream = None;
                self.not_opened(error)
            }
        }
    }

    /// Handles the failure of a request for a stream.
    ///
    /// # Errors
    /// The next request would fail too: the server refuses for a permanent reason, or a credential is invalid, such as an
    /// expired login.
    fn not_opened(&mut self, error: anyhow::Error) -> anyhow::Result<News> {
        match error.downcast_ref::<Refused>() {
            Some(Refused { status: 404, .. }) => {
                self.forget();
                Ok(News::Missing(error.to_string()))
            }
            _ if client::is_temporary(&error) => Ok(News::Lost(format!("{error:#}"))),
            _ => Err(error),
        }
    }

    fn take(&mut self, event: Event) -> anyhow::Result<News> {
        let Event { name, data, id } = event;
        let known = EventName::ALL.iter().find(|known| known.as_str() == name);
        let news = match known {
            Some(EventName::Snapshot) => {
                client::read::<Status<'_>>(&data)?;
                self.status = Some(data);
                News::Snapshot
            }
            Some(EventName::Change) => {
                if let Some(before) = &self.status {
                    self.status = Some(changed(before, &data)?);
                }
                News::Change(data)
            }
            Some(EventName::Problem) => {
                let problem: ProblemDocument = client::read(&data)?;
                self.end(problem)?
            }
            // An event of a newer server.
            None => News::Unchanged,
        };
        if !id.is_empty() {
            self.last = Some(id);
        }
        Ok(news)
    }

    /// Handles the problem that ends a stream.
    ///
    /// # Errors
    /// The server refuses for a permanent reason.
    fn end(&mut self, problem: ProblemDocument) -> anyhow::Result<News> {
        let ProblemDocument { status, detail, .. } = problem;
        match status {
            404 => {
                self.forget();
                Ok(News::Missing(detail))
            }
            500.. => {
                self.stream = None;
                self.is_current = false;
                Ok(News::Lost(detail))
            }
            _ => Err(anyhow::anyhow!(
                "the server ends the stream with {status}: {detail}"
            )),
        }
    }

    fn forget(&mut self) {
        self.status = None;
        self.last = None;
    }
}

/// The status after a change, as JSON.
fn changed(before: &str, change: &str) -> anyhow::Result<String> {
    let mut status: Status<'_> = client::read(before)?;
    let change: StatusChange<'_> = client::read(change)?;
    apply(&mut status, change);
    Ok(serde_json::to_string(&status)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{Connection, TokenSource};

    /// The first news of a status on a server that cannot be reached.
    fn first(token: TokenSource) -> anyhow::Result<News> {
        let server = Server::new(Connection {
            url: "http://127.0.0.1:1".to_owned(),
            token,
            ..Connection::default()
        });
        let query = StatusQuery::about("p/ca/v1/dig").unwrap();
        Followed::begin(&server.unwrap(), query).next(SILENCE_MAX)
    }

    #[test]
    fn a_stream_is_requested_again_unless_there_is_no_token_for_it() {
        let lost = first(TokenSource::None).unwrap();
        assert!(matches!(lost, News::Lost(_)), "{lost:?}");
        let folder = tempfile::TempDir::new().unwrap();
        let missing = TokenSource::File(folder.path().join("token"));
        let error = first(missing).unwrap_err();
        assert!(error.to_string().contains("read a token"), "{error:#}");
    }
}
