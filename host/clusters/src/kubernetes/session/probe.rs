//! The question whether a server that says nothing is still there.
//!
//! A quiet cluster and one that hangs look alike until a ping is not answered. So each connection is asked
//! every few seconds whether the server is ready, which is so only while it reaches its own store.

use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use tokio::time::Instant;

use super::{Session, SessionEnd};
use crate::ClusterEvent;
use crate::kubernetes::Run;
use crate::kubernetes::connection::{ApiClient, ApiError};

/// Time between the answer to a question and the next question.
const ASK_EVERY: Duration = Duration::from_secs(2);

/// Questions to the server, one after the other.
pub(super) struct Probe {
    /// The time of the next question; none while one is asked.
    at: Option<Instant>,
    answer: BoxFuture<'static, Result<(), ApiError>>,
}

impl Default for Probe {
    fn default() -> Self {
        Self {
            at: Some(Instant::now() + ASK_EVERY),
            answer: Box::pin(std::future::pending()),
        }
    }
}

impl Probe {
    /// The time of the next question; none while one is asked.
    pub(super) fn at(&self) -> Option<Instant> {
        self.at
    }

    /// Asks over each connection, where it is time.
    pub(super) fn ask(&mut self, clients: &[ApiClient], now: Instant) {
        if self.at.is_some_and(|at| at <= now) {
            let asked = clients.iter().cloned().map(is_ready);
            let answers = join_all(asked.collect::<Vec<_>>());
            self.at = None;
            self.answer = Box::pin(async { answers.await.into_iter().collect() });
        }
    }

    /// Asks as soon as nothing is asked.
    pub(super) fn ask_soon(&mut self) {
        self.at = self.at.map(|_| Instant::now());
    }

    /// Waits for the answer, which is none where nothing is asked.
    ///
    /// # Errors
    /// The server is not ready on a connection.
    pub(super) async fn answered(&mut self) -> Result<(), ApiError> {
        let answer = (&mut self.answer).await;
        *self = Self::default();
        answer
    }
}

/// Asks a server whether it is ready; one that does not tell that, for its version.
async fn is_ready(client: ApiClient) -> Result<(), ApiError> {
    let answer = match client.get("/readyz", "*/*").await {
        Err(ApiError::Forbidden(_) | ApiError::NotFound(_)) => {
            client.get("/version", "application/json").await
        }
        answer => answer,
    };
    answer.map(drop)
}

impl Session {
    /// Takes the answer of the server: tells that the cluster is heard, after everything that came before it.
    pub(super) async fn tell_heard<E: From<ClusterEvent>>(
        &mut self,
        answer: Result<(), ApiError>,
        run: &mut Run<E>,
    ) -> Result<(), SessionEnd> {
        match answer {
            Ok(()) => {}
            Err(error @ ApiError::Unauthorized(_)) => {
                return Err(SessionEnd::Failed(error.of_cluster()));
            }
            // The watches tell what comes of it.
            Err(_) => return Ok(()),
        }
        while let Ok(news) = self.news_rx.try_recv() {
            self.take(news)?;
        }
        self.report(run).await?;
        if !self.is_stale && self.is_told() {
            let cluster = self.cluster.name.clone();
            run.send(ClusterEvent::Heard { cluster }).await?;
        }
        Ok(())
    }
}
