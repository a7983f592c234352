//! Probes of the server during the session, and the outages that they find.
//!
//! Probes are frequent while a client waits for the cluster, and until some of them succeeded in a row. Otherwise they
//! are rare: an idle cluster costs less, and a broken connection still starts a probe at once.

use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{Session, SessionEnd};
use crate::ClusterEvent;
use crate::awaited::Waiting;
use crate::kubernetes::connection::{ApiError, Connections};
use crate::kubernetes::health::{ConsistentRead, Probed, probe};
use crate::kubernetes::known::Known;
use crate::kubernetes::run::EventSender;

/// Time between the end of a probe and the next probe while a client waits, and after a failed probe.
const PROBE_EVERY: Duration = Duration::from_secs(2);
/// Time between the end of a probe and the next probe while no client waits.
const IDLE_PROBE_EVERY: Duration = Duration::from_secs(10);
/// Number of successful probes in a row after which probes become rare.
const CALM_AFTER: u32 = 5;
/// Time between two comparisons of the server's version.
const VERSION_EVERY: Duration = if cfg!(test) {
    Duration::ZERO
} else {
    Duration::from_secs(30)
};
/// Number of failed probes in a row that make an outage.
const FAILED_MAX: u32 = 3;

/// Probes of the server, one after the other.
pub(super) struct Probe {
    /// The time of the next probe; none while one is running.
    at: Option<Instant>,
    running: BoxFuture<'static, Probed>,
    /// The time of the next comparison of versions.
    version_at: Instant,
    /// Number of probes that failed since one succeeded.
    failed: u32,
    /// Number of probes that succeeded since one failed, at most [`CALM_AFTER`].
    succeeded: u32,
    /// The clients that wait for the cluster.
    waiting: watch::Receiver<Waiting>,
    /// The reason why the cluster cannot be reached, as text for readers.
    outage: Option<String>,
}

impl Probe {
    /// The probes of a session, with the clients that wait for its cluster.
    pub(super) fn new(waiting: watch::Receiver<Waiting>) -> Self {
        Self {
            at: Some(Instant::now() + PROBE_EVERY),
            running: Box::pin(std::future::pending()),
            version_at: Instant::now() + VERSION_EVERY,
            failed: 0,
            succeeded: 0,
            waiting,
            outage: None,
        }
    }

    /// The clients that wait for the cluster, followed.
    pub(super) fn waiting(&self) -> watch::Receiver<Waiting> {
        self.waiting.clone()
    }

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
            let is_version_due = self.version_at <= now;
            if is_version_due {
                self.version_at = now + VERSION_EVERY;
            }
            let reads_version = self.failed > 0 || is_version_due;
            self.at = None;
            self.running = Box::pin(probe(connections.clone(), read(), reads_version));
        }
    }

    /// Begins the next probe at once, and the probes after it in short intervals.
    pub(super) fn ask_soon(&mut self) {
        self.succeeded = 0;
        self.at = self.at.map(|_| Instant::now());
    }

    /// Begins a probe at once if a client waits for the cluster.
    pub(super) fn follow_waiting(&mut self) {
        let now = Instant::now();
        if self.waiting.borrow().is_on(now) {
            self.at = self.at.map(|_| now);
        }
    }

    /// Waits for the end of the probe that is running; for ever while none is.
    pub(super) async fn ended(&mut self) -> Probed {
        let probed = (&mut self.running).await;
        self.running = Box::pin(std::future::pending());
        self.at = Some(Instant::now() + self.pause());
        probed
    }

    /// Time until the next probe.
    fn pause(&self) -> Duration {
        if self.succeeded < CALM_AFTER || self.waiting.borrow().is_on(Instant::now()) {
            PROBE_EVERY
        } else {
            IDLE_PROBE_EVERY
        }
    }

    /// Notes a success. Returns whether probes had failed before.
    fn succeeded(&mut self) -> bool {
        self.succeeded = CALM_AFTER.min(self.succeeded + 1);
        self.outage = None;
        std::mem::take(&mut self.failed) > 0
    }

    fn failed(&mut self, error: &ApiError, is_outage: bool) {
        self.failed += 1;
        self.succeeded = 0;
        self.at = self.at.map(|_| Instant::now() + PROBE_EVERY);
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

#[cfg(test)]
mod tests {
    use kindsight_model::ClusterName;

    use super::*;
    use crate::AwaitedClusters;

    fn probe() -> (AwaitedClusters, ClusterName, Probe) {
        let awaited = AwaitedClusters::default();
        let edge = ClusterName::new("lab", "edge").unwrap();
        let probe = Probe::new(awaited.of(&edge));
        (awaited, edge, probe)
    }

    fn succeed(probe: &mut Probe, times: u32) {
        for _ in 0..times {
            assert!(!probe.succeeded());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn probes_are_rare_after_some_successes_until_a_client_waits() {
        let (awaited, edge, mut probe) = probe();
        succeed(&mut probe, CALM_AFTER - 1);
        assert_eq!(probe.pause(), PROBE_EVERY);
        succeed(&mut probe, 1);
        assert_eq!(probe.pause(), IDLE_PROBE_EVERY);
        let waiting = awaited.begin([edge.clone()].into());
        assert_eq!(probe.pause(), PROBE_EVERY);
        // The first client gets a probe at once.
        assert!(probe.at().is_some_and(|at| at > Instant::now()));
        probe.follow_waiting();
        assert_eq!(probe.at(), Some(Instant::now()));
        drop(waiting);
        assert_eq!(probe.pause(), IDLE_PROBE_EVERY);
        awaited.request(&edge);
        assert_eq!(probe.pause(), PROBE_EVERY);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_and_a_broken_watch_make_probes_frequent() {
        let (_awaited, _, mut probe) = probe();
        succeed(&mut probe, CALM_AFTER);
        let error = ApiError::TimedOut("late".to_owned());
        probe.failed(&error, false);
        assert_eq!(probe.pause(), PROBE_EVERY);
        assert_eq!(probe.at(), Some(Instant::now() + PROBE_EVERY));
        assert!(probe.outage().is_none());
        probe.failed(&error, false);
        probe.failed(&error, false);
        assert!(probe.outage().is_some(), "after three failures");
        assert!(probe.succeeded());
        succeed(&mut probe, CALM_AFTER - 1);
        assert_eq!(probe.pause(), IDLE_PROBE_EVERY);
        probe.ask_soon();
        assert_eq!(
            (probe.at(), probe.pause()),
            (Some(Instant::now()), PROBE_EVERY)
        );
    }
}
