//! Lists as the beginning of a watch: the server sends the existing objects, marks their end, and continues with
//! the changes.
//!
//! A streamed list is requested first, because it costs the server a fraction of a list in pages. Servers before
//! Kubernetes 1.32 refuse the request, and other servers ignore its parameters. Then objects are listed in pages,
//! and the session requests no further streamed lists.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::timeout;

use super::connection::{ApiError, Line, Lines};
use super::decode::WatchEvent;
use super::kind_watch::{Closed, End, KindWatch};
use super::news::News;

/// Number of objects that are sent to the session at a time.
const BATCH: usize = 100;
/// Longest silence before the end of the list.
const SILENCE_MAX: Duration = Duration::from_secs(10);

/// Knowledge of whether a server streams lists, which all watches of a cluster share.
#[derive(Debug, Clone, Default)]
pub(super) struct ListStreams(Arc<AtomicBool>);

impl ListStreams {
    /// Returns whether the server refused to stream a list.
    fn are_refused(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn refuse(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A list from a stream.
pub(super) struct Streamed {
    /// The version at which the watch continues.
    pub(super) version: String,
    /// The lines with later changes.
    pub(super) lines: Lines,
}

/// The reason why a list is not streamed.
enum NotStreamed {
    /// The server does not support streamed lists.
    Refused,
    /// Another failure, which a list in pages reports.
    Failed,
    End(End),
}

impl From<Closed> for NotStreamed {
    fn from(closed: Closed) -> Self {
        Self::End(closed.into())
    }
}

impl From<ApiError> for NotStreamed {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::Unauthorized(_) => Self::End(End::Failed(error)),
            // The server rejects the parameters of a streamed list.
            ApiError::Failed {
                code: 400 | 422, ..
            } => Self::Refused,
            _ => Self::Failed,
        }
    }
}

impl KindWatch {
    /// Lists all objects by a stream. None if the server does not stream.
    pub(super) async fn stream(&mut self, number: u64) -> Result<Option<Streamed>, End> {
        if self.streams.are_refused() {
            return Ok(None);
        }
        match self.streamed(number).await {
            Ok(streamed) => Ok(Some(streamed)),
            Err(NotStreamed::End(end)) => Err(end),
            Err(NotStreamed::Failed) => Ok(None),
            Err(NotStreamed::Refused) => {
                tracing::debug!(kind = %self.kind.gvk, "the server does not stream lists");
                self.streams.refuse();
                Ok(None)
            }
        }
    }

    async fn streamed(&mut self, number: u64) -> Result<Streamed, NotStreamed> {
        let target = self.watch_target("sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
        let client = self.client().await?;
        let answer = client.lines(&target, self.decoder.accept_watch());
        let mut lines = answer.await?;
        self.send(News::ListBegins(number)).await?;
        let mut batch = Vec::new();
        loop {
            let line = timeout(SILENCE_MAX, lines.next()).await;
            let Some(line) = line.map_err(|_| NotStreamed::Refused)?? else {
                return Err(NotStreamed::Refused);
            };
            let Line::Whole(line) = line else {
                // A list in pages identifies the object.
                return Err(NotStreamed::Failed);
            };
            match self.decoder.event(&line).map_err(ApiError::Unreadable)? {
                WatchEvent::Applied(object, _) => {
                    batch.push(*object);
                    if batch.len() >= BATCH {
                        self.send(News::Listed(std::mem::take(&mut batch))).await?;
                    }
                }
                WatchEvent::Deleted(object, _) => {
                    self.send(News::Listed(std::mem::take(&mut batch))).await?;
                    self.send(News::Deleted(object)).await?;
                }
                WatchEvent::Bookmark(_) => {}
                WatchEvent::AllSent(version) => {
                    self.send(News::Listed(batch)).await?;
                    self.send(News::ListEnds).await?;
                    return Ok(Streamed { version, lines });
                }
                WatchEvent::Error(status) => return Err(ApiError::of_status(status).into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_busy_does_not_refuse_to_stream() {
        let refuses = |code| {
            let error = ApiError::Failed {
                code,
                message: String::new(),
                retry_after: None,
            };
            matches!(NotStreamed::from(error), NotStreamed::Refused)
        };
        assert!(refuses(400) && refuses(422));
        assert!(!refuses(405) && !refuses(408) && !refuses(429) && !refuses(503));
    }
}
