//! Lists that come as the beginning of a watch: the server sends what there is, says when that was all, and
//! goes on with the changes.
//!
//! Asked for first, since it costs the server a fraction of a list. Servers before Kubernetes 1.32 refuse it,
//! and others pass over it without a word: then objects are listed in pages, and the cluster is not asked
//! again in this session.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::timeout;

use super::connection::{ApiError, Lines};
use super::decode::WatchEvent;
use super::kind_watch::{Closed, End, KindWatch};
use super::news::News;

/// Objects that are told at once.
const BATCH: usize = 100;
/// Longest silence before everything was sent.
const SILENCE_MAX: Duration = Duration::from_secs(10);

/// Knowledge of whether a server streams lists, which all watches of a cluster share.
#[derive(Debug, Clone, Default)]
pub(super) struct ListStreams(Arc<AtomicBool>);

impl ListStreams {
    /// Returns whether it refused one.
    fn are_refused(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn refuse(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A list that came as a stream.
pub(super) struct Streamed {
    /// The version to follow from.
    pub(super) version: String,
    /// The changes since.
    pub(super) lines: Lines,
}

/// The reason why a list does not come as a stream.
enum NotStreamed {
    /// The server does not know how.
    Refused,
    /// Something else, which a list in pages shows by itself.
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
            // Too busy, or too slow for it this time.
            ApiError::Failed {
                code: 408 | 429, ..
            } => Self::Failed,
            ApiError::Failed { code, .. } if (400..500).contains(&code) => Self::Refused,
            _ => Self::Failed,
        }
    }
}

impl KindWatch {
    /// Lists all objects by a stream. None where the server does not send one.
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
        let answer = self.client.lines(&target, self.decoder.accept_watch());
        let mut lines = answer.await?;
        self.tell(News::ListBegins(number)).await?;
        let mut batch = Vec::new();
        loop {
            let line = timeout(SILENCE_MAX, lines.next()).await;
            let Some(line) = line.map_err(|_| NotStreamed::Refused)?? else {
                return Err(NotStreamed::Refused);
            };
            match self.decoder.event(&line).map_err(ApiError::Unreadable)? {
                WatchEvent::Applied(object, _) => {
                    batch.push(*object);
                    if batch.len() >= BATCH {
                        self.tell(News::Listed(std::mem::take(&mut batch))).await?;
                    }
                }
                WatchEvent::Deleted(object, _) => {
                    self.tell(News::Listed(std::mem::take(&mut batch))).await?;
                    self.tell(News::Deleted(object)).await?;
                }
                WatchEvent::Bookmark(_) => {}
                WatchEvent::AllSent(version) => {
                    self.tell(News::Listed(batch)).await?;
                    self.tell(News::ListEnds).await?;
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
            };
            matches!(NotStreamed::from(error), NotStreamed::Refused)
        };
        assert!(refuses(400) && refuses(422));
        assert!(!refuses(408) && !refuses(429) && !refuses(503));
    }
}
