//! Probes of the server during the session, and the outages that they find.

use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::Instant;

use super::{Session, SessionEnd};
use crate::ClusterEvent;
use crate::kubernetes::connection::{ApiError, Connections};
use crate::kubernetes::health::{ConsistentRead, Probed, probe};
use crate::kubernetes::known::Known;
use crate::kubernetes::run::EventSender;

/// Time between the end of a probe and the next probe.
const PROBE_EVERY: Duration = Duration::from_secs(2);
/// Number of probes per comparison of the server's version.
#[cfg(not(test))]
const VERSION_EVERY: u32 = 15;
#[cfg(test)]
const VERSION_EVERY: u32 = 1;
/// Number of failed probes in a row that make an outage.
const FAILED_MAX: u32 = 3;

/// Probes of the server, one after the other.
pub(super) struct Probe {
    /// The time of the next probe; none while one is running.
    at: Option<Instant>,
    running: BoxFuture<'static, Probed>,
    /// Number of probes that began.
    begun: u32,
    /// Number of probes that failed since one succeeded.
    failed: u32,
    /// The reason why the cluster cannot be reached, as text for readers.
    outage: Option<String>,
}

impl Default for Probe {
    fn default() -> Self {
        Self {
            at: Some(Instant::now() + PROBE_EVERY),
            running: Box::pin(std::future::pending()),
            begun: 0,
            failed: 0,
            outage: None,
        }
    }
}

impl Probe {
    /// The time of the next probe; none while one is running.
    pub(super) fn at(&self) -> Option<Instant> {
        self.at
    }

    /// The reason why the cluster cannot be reached; none if it can.
    pub(super) fn outage(&self) -> Option<&str> {
        self.outage.as_deref()
    }

    /// Begins a probe if it is time.
    pub(super) fn ask(
        &mut self,
        connections: &Connections,
        now: Instant,
        read: impl FnOnce() -> Option<ConsistentRead>,
    ) {
        if self.at.is_some_and(|at| at <= now) {
            self.begun = self.begun.wrapping_add(1);
            let reads_version = self.failed > 0 || self.begun.is_multiple_of(VERSION_EVERY);
            self.at = None;
            self.running = Box::pin(probe(connections.clone(), read(), reads_version));
        }
    }

    /// Begins the next probe at once.
    pub(super) fn ask_soon(&mut self) {
        self.at = self.at.map(|_| Instant::now());
    }

    /// Waits for the end of the probe that is running; for ever while none is.
    pub(super) async fn ended(&mut self) -> Probed {
        let probed = (&mut self.running).await;
        self.running = Box::pin(std::future::pending());
        self.at = Some(Instant::now() + PROBE_EVERY);
        probed
    }

    /// Notes a success. Returns whether probes had failed before.
    fn succeeded(&mut self) -> bool {
        self.outage = None;
        std::mem::take(&mut self.failed) > 0
    }

    fn failed(&mut self, error: &ApiError, is_outage: bool) {
        self.failed += 1;
        if is_outage || self.failed >= FAILED_MAX {
            self.outage = Some(error.of_cluster());
        }
    }
}

impl Session {
    /// Follows the outcome of a probe. If every connection answered, this sends that the cluster is heard, after
    /// the changes that preceded the answers.
    pub(super) async fn follow_probe<E: From<ClusterEvent>>(
        &mut self,
        probed: Probed,
        known: &mut Known,
        events: &mut EventSender<E>,
    ) -> Result<(), SessionEnd> {
        let is_answered = matches!(probed, Probed::Answered { .. });
        match probed {
            Probed::Answered { is_older } | Probed::Reconnected { is_older } => {
                if self.probe.succeeded() || !is_answered {
                    self.health.recovered();
                }
                if is_older {
                    tracing::warn!(cluster = %self.cluster.name, "server returned to an earlier state; every Kind is listed again");
                    self.watches.list_again();
                }
            }
            Probed::Failed(error) => self.note_failed(&error, false, events)?,
            Probed::Disconnected(error) => self.note_failed(&error, true, events)?,
            Probed::Unauthorized(error) => return Err(SessionEnd::Failed(error.of_cluster())),
        }
        while let Ok(news) = self.news_rx.try_recv() {
            self.take(news, known)?;
        }
        self.report(known, events).await?;
        let is_heard = is_answered && !self.is_stale && self.is_reported(known);
        if is_heard && !self.watches.are_refused() {
            events.heard().await?;
            let (access, refused) = (&self.cluster.access, self.watches.refused());
            if events
                .entered()
                .is_some_and(|identity| identity.is_narrow(access, refused))
            {
                return Err(SessionEnd::Narrow);
            }
        }
        Ok(())
    }

    /// Notes a failed probe. An outage ends the session if another context leads to the cluster.
    fn note_failed<E: From<ClusterEvent>>(
        &mut self,
        error: &ApiError,
        is_outage: bool,
        events: &EventSender<E>,
    ) -> Result<(), SessionEnd> {
        self.health.failed();
        self.probe.failed(error, is_outage);
        let reaches = events
            .entered()
            .map_or(0, |identity| identity.reaches().len());
        match self.probe.outage() {
            Some(why) if reaches > 1 => Err(SessionEnd::Lost(why.to_owned())),
            _ => Ok(()),
        }
    }
}
