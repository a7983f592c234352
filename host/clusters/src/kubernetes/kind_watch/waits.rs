//! Waits of a watch before its next request.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::retry::Wait;
use super::{Closed, KindWatch};
use crate::kubernetes::connection::{ApiError, ResponseClass};
use crate::kubernetes::news::News;
use crate::kubernetes::turn::ListTurn;

/// Longest wait without a report. The changes during a longer wait are unknown for too long.
const BRIEF: Duration = Duration::from_secs(1);
/// Cause of the state of a Kind whose list waits for the lists of other clusters.
const OTHERS_LIST: &str = "it is listed again once fewer clusters are listed at the same time";
/// Cause of the state of a Kind whose list waits because its watch could not continue several times in a row.
const NOT_CONTINUED: &str =
    "its watch could not continue; it is listed again in less than a minute";

impl KindWatch {
    /// Waits for a turn of its cluster to list. The Kind is reported as out of date if it has to wait.
    pub(super) async fn turn(&self) -> Result<ListTurn, Closed> {
        if let Some(turn) = self.turns.try_list() {
            return Ok(turn);
        }
        self.send(News::Waiting(OTHERS_LIST)).await?;
        Ok(self.turns.list().await)
    }

    /// Waits before the list that replaces an outdated version. Returns whether other objects are requested meanwhile.
    pub(super) async fn pause_before_list(&mut self, time: Duration) -> Result<bool, Closed> {
        if time > BRIEF {
            self.send(News::Waiting(NOT_CONTINUED)).await?;
        }
        self.pause(Wait::of(time)).await
    }

    /// Waits before a watch that the server ended is resumed. Returns whether other objects are requested meanwhile.
    pub(super) async fn pause_before_resuming(&mut self) -> Result<bool, Closed> {
        let wait = self.retry.pause();
        if wait.time > BRIEF {
            self.send(News::Failed(ApiError::Ended)).await?;
        }
        self.pause(wait).await
    }

    /// Reports a failure, and waits until the request is repeated. Returns whether other objects are requested
    /// since the last list began.
    pub(super) async fn fail(&mut self, error: ApiError) -> Result<bool, Closed> {
        let (news, wait) = self.retry.failed(error);
        self.send(news).await?;
        self.pause(wait).await
    }

    /// Waits before a request. Returns whether other objects are requested meanwhile.
    pub(super) async fn pause(&mut self, wait: Wait) -> Result<bool, Closed> {
        let until = Instant::now() + wait.time;
        let mut is_changed = false;
        let recovery = self.retry.recovery();
        tokio::pin!(recovery);
        loop {
            tokio::select! {
                () = sleep_until(until) => return Ok(is_changed),
                () = &mut recovery, if wait.ends_on_recovery => return Ok(is_changed),
                changed = self.asked.changed() => {
                    changed.map_err(|_| Closed)?;
                    is_changed = true;
                    if wait.is_interruptible {
                        return Ok(true);
                    }
                }
            }
        }
    }
}

/// Returns whether a request that is repeated a moment after this failure may succeed.
pub(super) fn is_brief(error: &ApiError) -> bool {
    let asked = error.retry_after().unwrap_or_default();
    error.response() == ResponseClass::Awaited && asked <= BRIEF
}
