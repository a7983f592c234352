//! The status of an application, followed over a stream that is opened again where it is lost.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use kindsight_api::problem::ProblemDocument;
use kindsight_api::status::Status;
use kindsight_api::watch::{EventName, StatusChange};
use kindsight_server::status::apply;

use super::StatusQuery;
use super::events::{self, Event, Told};
use crate::client::{self, Refused};

/// Time until a stream that was lost is opened again.
const AGAIN: Duration = Duration::from_secs(1);

/// Silence after which a stream counts as lost: three heartbeats of the server.
const SILENCE_MAX: Duration = Duration::from_secs(45);

/// A status that is followed.
pub(super) struct Followed {
    server: String,
    query: StatusQuery,
    stream: Option<Receiver<Told>>,
    /// When the stream was heard last, or lost.
    at: Instant,
    /// Id of the last event.
    last: Option<String>,
    /// The status as it is now, as JSON; none until it is known.
    status: Option<String>,
}

/// News of following.
#[derive(Debug)]
pub(super) enum News {
    /// The status as a whole is known.
    Snapshot,
    /// The status changed: JSON of a [`StatusChange`].
    Change(String),
    /// The stream was lost and is opened again; the status is that of before.
    Lost(String),
    /// There is no such application, or not any more.
    Missing(String),
    /// Nothing.
    Nothing,
}

impl Followed {
    /// Begins to follow.
    ///
    /// # Errors
    /// The query is not about an application.
    pub(super) fn begin(server: &str, query: StatusQuery) -> anyhow::Result<Self> {
        let stream = events::open(server, query.stream()?, None);
        Ok(Self {
            server: server.to_owned(),
            query,
            stream: Some(stream),
            at: Instant::now(),
            last: None,
            status: None,
        })
    }

    /// The status as it is now, as JSON; none until it is known.
    pub(super) fn status(&self) -> Option<&str> {
        self.status.as_deref()
    }

    /// Returns whether the stream is open: the status is that of now.
    pub(super) fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    /// Waits for news, so long at most.
    ///
    /// # Errors
    /// The server refuses for a reason that does not go away, or tells what is not understood.
    pub(super) fn next(&mut self, wait_max: Duration) -> anyhow::Result<News> {
        let Some(stream) = &self.stream else {
            let left = AGAIN.saturating_sub(self.at.elapsed());
            std::thread::sleep(left.min(wait_max));
            if left <= wait_max {
                let request = self.query.stream()?;
                self.stream = Some(events::open(&self.server, request, self.last.clone()));
                self.at = Instant::now();
            }
            return Ok(News::Nothing);
        };
        let told = match stream.recv_timeout(wait_max) {
            Ok(told) => told,
            Err(RecvTimeoutError::Timeout) if self.at.elapsed() < SILENCE_MAX => {
                return Ok(News::Nothing);
            }
            Err(_) => Told::Ended(anyhow::anyhow!("nothing came for {SILENCE_MAX:?}")),
        };
        self.at = Instant::now();
        match told {
            Told::Alive => Ok(News::Nothing),
            Told::Event(event) => self.take(event),
            Told::Ended(error) => {
                self.stream = None;
                match error.downcast_ref::<Refused>().map(|it| it.status) {
                    Some(404) => {
                        self.forget();
                        Ok(News::Missing(error.to_string()))
                    }
                    Some(status) if status < 500 => Err(error),
                    _ => Ok(News::Lost(format!("{error:#}"))),
                }
            }
        }
    }

    fn take(&mut self, event: Event) -> anyhow::Result<News> {
        let Event { name, data, id } = event;
        let known = EventName::ALL.iter().find(|it| it.as_str() == name);
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
                self.forget();
                News::Missing(problem.detail)
            }
            // Of a newer server.
            None => News::Nothing,
        };
        if !id.is_empty() {
            self.last = Some(id);
        }
        Ok(news)
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
