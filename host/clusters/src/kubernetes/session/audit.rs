//! The audit: samples of the server are compared with the index, and a Kind with a drift is listed again.
//!
//! ```text
//! turn ─▶ page of a consistent list ─▶ comparison, repeated until the watch has seen the version
//!      ─▶ the objects that differ, read once more ─▶ drift: the Kind is listed again
//! ```
//!
//! Requests run beside the session. A request that fails affects only the sample: the probes and the watches decide
//! whether the cluster is stale.

mod sample;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use kindsight_cluster_index::{Difference, ScopeId};
use tokio::time::{Instant, sleep};

use super::{Session, SessionEnd};
use crate::audits::AuditTurns;
use crate::kubernetes::bundle_states;
use crate::kubernetes::connection::ApiError;
use crate::kubernetes::known::Known;
use crate::kubernetes::watches::WatchState;
use sample::{Confirmation, Position, SAMPLE_OBJECTS_MAX, Sample, SampleRequest};

/// Time for the watch to see the version of a sample. API servers send bookmarks about once a minute.
const CATCH_UP_MAX: Duration = Duration::from_secs(90);
/// Time between two comparisons of one sample.
#[cfg(not(test))]
const COMPARE_EVERY: Duration = Duration::from_secs(1);
#[cfg(test)]
const COMPARE_EVERY: Duration = Duration::from_millis(50);
/// Longest wait after a failure: the wait for the next turn doubles with each failure, up to this factor.
const FAILURES_FACTOR_MAX: u32 = 16;
/// Longest wait that a server can ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_mins(5);
/// Time between two lines of the log about drifts of one Kind.
const LOG_EVERY: Duration = Duration::from_mins(10);

/// The audit of one session: one sample at a time.
pub(super) struct Audit {
    turns: AuditTurns,
    /// The time of the next sample; none while one is running, or without audits.
    at: Option<Instant>,
    running: BoxFuture<'static, Step>,
    /// Number of samples in a row whose requests failed.
    failed: u32,
    /// The place at which the next sample of a Kind begins; none for the first page.
    positions: BTreeMap<ScopeId, Position>,
    /// The time of the last line of the log about each Kind.
    logged: BTreeMap<ScopeId, Instant>,
}

/// The end of one step of a sample.
pub(super) enum Step {
    /// The page was read, or a comparison is repeated.
    Compare(Sample),
    /// The objects that differ were read once more.
    Confirmed(Sample, Confirmation),
    /// A request failed.
    Failed(ApiError),
}

impl Audit {
    /// The audit of a session that begins.
    pub(super) fn new(turns: AuditTurns) -> Self {
        Self {
            at: turns.wait().map(|wait| Instant::now() + wait),
            turns,
            running: Box::pin(std::future::pending()),
            failed: 0,
            positions: BTreeMap::new(),
            logged: BTreeMap::new(),
        }
    }

    /// The time of the next sample; none while one is running, or without audits.
    pub(super) fn at(&self) -> Option<Instant> {
        self.at
    }

    /// Waits for the end of the step that is running; for ever while none is.
    pub(super) async fn ended(&mut self) -> Step {
        let step = (&mut self.running).await;
        self.running = Box::pin(std::future::pending());
        step
    }

    fn run(&mut self, step: impl Future<Output = Step> + Send + 'static) {
        self.at = None;
        self.running = Box::pin(step);
    }

    /// Waits for the next turn. After failures, the wait is longer.
    fn wait(&mut self, at_least: Duration) {
        let factor = 1_u32
            .checked_shl(self.failed)
            .unwrap_or(FAILURES_FACTOR_MAX);
        let factor = factor.min(FAILURES_FACTOR_MAX);
        let wait = self.turns.wait();
        let wait = wait.map(|wait| wait.saturating_mul(factor).max(at_least));
        self.at = wait.map(|wait| Instant::now() + wait);
    }

    /// Notes a sample whose requests succeeded.
    fn succeeded(&mut self) {
        self.failed = 0;
        self.wait(Duration::ZERO);
    }

    /// Notes a failed request. The server may ask for a longer wait.
    fn failed(&mut self, error: &ApiError) {
        self.failed = self.failed.saturating_add(1);
        let asked = error.retry_after().unwrap_or_default();
        self.wait(asked.min(RETRY_AFTER_MAX));
    }

    /// Returns whether a drift of a Kind is logged now.
    fn is_logged(&mut self, scope: ScopeId) -> bool {
        let now = Instant::now();
        let last = self.logged.get(&scope);
        let is_due = last.is_none_or(|last| now.duration_since(*last) >= LOG_EVERY);
        if is_due {
            self.logged.insert(scope, now);
        }
        is_due
    }
}

impl Session {
    /// Begins a sample if it is time. A cluster that is stale, or a Kind that is not followed, has no samples.
    pub(super) fn begin_sample(&mut self, known: &Known, now: Instant) {
        if self.audit.at().is_none_or(|at| at > now) {
            return;
        }
        let is_known = self.is_synced && !self.is_stale && known.index.left_out().is_none();
        let request = is_known.then(|| self.sample_request(known)).flatten();
        match request {
            Some(request) => self.audit.run(request.read(self.connections.clone())),
            None => self.audit.wait(Duration::ZERO),
        }
    }

    /// A request for a page of a random Kind. Kinds with many objects have more pages, and are chosen more often.
    fn sample_request(&mut self, known: &Known) -> Option<SampleRequest> {
        let watches = self.watches.iter();
        let watches =
            watches.filter(|watch| watch.is_followed() && !bundle_states::are(&watch.kind));
        let pages = watches.map(|watch| {
            let pages = known.index.count_of(watch.scope) / SAMPLE_OBJECTS_MAX + 1;
            (watch, pages)
        });
        let pages: Vec<(&WatchState, usize)> = pages.collect();
        let all: usize = pages.iter().map(|(_, pages)| pages).sum();
        let mut page = fastrand::usize(..all.max(1));
        let (watch, _) = pages.into_iter().find(|(_, pages)| {
            let is_chosen = page < *pages;
            page = page.saturating_sub(*pages);
            is_chosen
        })?;
        let filter = watch.filter();
        let position = self.audit.positions.remove(&watch.scope);
        Some(SampleRequest {
            kind: Arc::clone(&watch.kind),
            namespace: watch.namespace().cloned(),
            scope: watch.scope,
            rules: self.cluster.options.rules(),
            position: position.filter(|position| position.filter == filter),
            filter,
        })
    }

    /// Follows a step of a sample.
    pub(super) fn follow_audit(&mut self, step: Step, known: &mut Known) -> Result<(), SessionEnd> {
        match step {
            Step::Compare(sample) => self.compare(sample, known)?,
            Step::Confirmed(sample, confirmation) => self.conclude(&sample, &confirmation, known),
            Step::Failed(error) => {
                tracing::debug!(cluster = %self.cluster.name, %error, "sample of the audit not read");
                known.audit.inconclusive += 1;
                self.audit.failed(&error);
            }
        }
        Ok(())
    }

    /// Compares a sample with the index. Differences are explained by events in flight until the watch has seen the
    /// version of the sample.
    fn compare(&mut self, mut sample: Sample, known: &mut Known) -> Result<(), SessionEnd> {
        if let Some((scope, position)) = sample.take_next() {
            self.audit.positions.insert(scope, position);
        }
        let Some(watch) = self.watch_of(&sample) else {
            known.audit.inconclusive += 1;
            self.audit.succeeded();
            return Ok(());
        };
        // First, because the events before this version are in the channel of news then.
        let is_seen = watch.has_seen(sample.page.version());
        while let Ok(news) = self.news_rx.try_recv() {
            self.take(news, known)?;
        }
        let differences = known.index.differences(&sample.page);
        if differences.is_empty() {
            known.audit.same += 1;
            known.audit.objects += sample.objects();
            self.audit.succeeded();
        } else if is_seen {
            let connections = self.connections.clone();
            self.audit.run(sample.confirm(differences, connections));
        } else if sample.began.elapsed() < CATCH_UP_MAX {
            self.audit.run(async {
                sleep(COMPARE_EVERY).await;
                Step::Compare(sample)
            });
        } else {
            known.audit.inconclusive += 1;
            self.audit.succeeded();
        }
        Ok(())
    }

    /// Counts the result of a sample with differences. A Kind with a drift is listed again.
    fn conclude(&mut self, sample: &Sample, confirmation: &Confirmation, known: &mut Known) {
        self.audit.succeeded();
        if self.watch_of(sample).is_none() {
            known.audit.inconclusive += 1;
            return;
        }
        known.audit.objects += sample.objects();
        let Some(first) = confirmation.drifts.first() else {
            known.audit.same += 1;
            return;
        };
        known.audit.drifted += 1;
        known.audit.drifts += confirmation.drifts.len() as u64;
        let scope = sample.page.scope();
        if self.audit.is_logged(scope) {
            self.log_drift(sample, first, confirmation.drifts.len());
        }
        if let Some(watch) = self.watches.of_scope(scope) {
            watch.list_again();
        }
    }

    /// The watch of a sample, if it still requests the same objects and no request of it failed.
    fn watch_of(&self, sample: &Sample) -> Option<&WatchState> {
        let mut watches = self.watches.iter();
        let watch = watches.find(|watch| watch.scope == sample.page.scope())?;
        let is_same = watch.kind == sample.request.kind && watch.filter() == sample.request.filter;
        (is_same && watch.failure().is_none()).then_some(watch)
    }

    fn log_drift(&self, sample: &Sample, first: &Difference, drifts: usize) {
        let (cluster, kind) = (&self.cluster.name, &sample.request.kind.gvk);
        tracing::warn!(
            %cluster, %kind, drifts, first = %first,
            "the index differs from the API server; the Kind is listed again"
        );
    }
}
