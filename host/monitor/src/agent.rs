//! The agent: it keeps the last report on each app, and writes reports into the ResourceBundleStates of their apps.

mod creation;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use jiff::Timestamp;
use kindsight_clusters::{ApiServer, BundleStateEvent, ClusterEvent, Recorded, RecordedDeployment};
use kindsight_model::{ClusterName, DeploymentId, Report, Subject, encode_bundle};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::budget::{ByteBudget, interval};
use crate::rivals::Rivals;
use crate::target::MONITOR;
use crate::targets::{Rival, Targets};
use crate::write::{Done, WriteError, WriteJob};
use crate::{MonitorOptions, state_name::StateName};
use creation::{Creations, Ended};

/// Number of writes at a time.
const WRITES_MAX: usize = 4;
/// Time before a failed write is repeated. It doubles with each failure.
const RETRY_FIRST: Duration = Duration::from_millis(500);
const RETRY_LONGEST: Duration = Duration::from_secs(30);
/// Time between two log lines with the same reason of a failure.
const LOG_EVERY: Duration = Duration::from_mins(1);
/// Time before a write that another client disturbed is repeated.
const CONFLICT_WAIT: Duration = Duration::from_millis(200);
/// Maximum number of notices about other monitors that are being sent.
const NOTICES_MAX: usize = 4;

/// The writer of reports of one cluster.
pub(crate) struct Agent {
    options: MonitorOptions,
    cluster: ClusterName,
    server: Arc<ApiServer>,
    targets: Targets,
    /// The last report on each recorded deployment, and on each labelled one if this monitor creates objects.
    reports: HashMap<DeploymentId, Report>,
    recorded: watch::Sender<Arc<Recorded>>,
    /// The number of the last record.
    records: u64,
    budget: ByteBudget,
    rivals: Rivals,
    creations: Creations,
    writing: FuturesUnordered<BoxFuture<'static, Done>>,
    creating: FuturesUnordered<BoxFuture<'static, Ended>>,
    notices: FuturesUnordered<BoxFuture<'static, ()>>,
    /// The last logged reason of a failed write, and its time.
    failure: Option<(String, Instant)>,
    /// The last reason for which the objects cannot be listed; none while they can.
    away: Option<String>,
}

impl Agent {
    /// An agent that tells its source by `recorded` which deployments it needs.
    pub(crate) fn new(options: MonitorOptions, recorded: watch::Sender<Arc<Recorded>>) -> Self {
        Self {
            cluster: options.cluster.name().clone(),
            server: Arc::new(ApiServer::new(&options.cluster)),
            targets: Targets::new(options.identity.clone()),
            reports: HashMap::new(),
            recorded,
            records: 0,
            budget: ByteBudget::new(options.limits.bytes_per_second, Instant::now()),
            rivals: Rivals::default(),
            creations: Creations::new(options.may_create),
            writing: FuturesUnordered::new(),
            creating: FuturesUnordered::new(),
            notices: FuturesUnordered::new(),
            failure: None,
            away: None,
            options,
        }
    }

    /// Writes reports until `shutdown` is cancelled. Running writes end first.
    pub(crate) async fn run(
        mut self,
        mut states: mpsc::Receiver<BundleStateEvent>,
        mut events: mpsc::Receiver<ClusterEvent>,
        shutdown: CancellationToken,
    ) {
        loop {
            self.begin_writes();
            let wake_at = self.wake_at();
            tokio::select! {
                Some(event) = states.recv() => self.take_state(event),
                Some(event) = events.recv() => self.take_event(event),
                Some(done) = self.writing.next() => self.end_write(done),
                Some(ended) = self.creating.next() => self.end_creation(ended),
                Some(()) = self.notices.next() => {}
                () = sleep_until(wake_at) => {}
                () = shutdown.cancelled() => break,
            }
        }
        while self.writing.next().await.is_some() {}
    }

    /// The time of the next action without an event.
    fn wake_at(&mut self) -> Instant {
        let now = Instant::now();
        let idle = now + Duration::from_mins(1);
        let write_at = match self.targets.next_at() {
            Some(at) if self.writing.len() < WRITES_MAX => at.max(self.budget.ready_at(now)),
            _ => idle,
        };
        let create_at = self.creations.next_at().unwrap_or(idle);
        write_at.min(create_at).min(idle)
    }

    /// Takes a change of the ResourceBundleStates.
    fn take_state(&mut self, event: BundleStateEvent) {
        let now = Instant::now();
        let rivals = match event {
            BundleStateEvent::Listed(states) => {
                if self.away.take().is_some() || !self.targets.is_listed() {
                    tracing::info!(states = states.len(), "ResourceBundleStates listed");
                }
                self.targets.list(states, now)
            }
            BundleStateEvent::Applied(state) => {
                self.targets.apply(*state, now).into_iter().collect()
            }
            BundleStateEvent::Deleted(state) => {
                self.targets.delete(*state, now);
                Vec::new()
            }
            BundleStateEvent::Away(why) => {
                if self.away.as_ref() != Some(&why) {
                    tracing::warn!(why, "ResourceBundleStates cannot be listed; reports wait");
                    self.away = Some(why);
                }
                Vec::new()
            }
        };
        self.name_rivals(rivals, now);
        self.follow_deployments(now);
    }

    fn name_rivals(&mut self, rivals: Vec<Rival>, now: Instant) {
        for rival in rivals {
            let notice = self.rivals.note(rival, &self.options.identity, now);
            if let Some(notice) = notice
                && self.notices.len() < NOTICES_MAX
            {
                let server = Arc::clone(&self.server);
                let sending = notice.send(server, Timestamp::now());
                self.notices.push(Box::pin(sending));
            }
        }
    }

    /// Tells the source which deployments have ResourceBundleStates, and forgets the reports on others. A report for an
    /// object that is created again remains: the source does not repeat an unchanged report.
    fn follow_deployments(&mut self, now: Instant) {
        let changed = self.targets.take_changed();
        if changed.is_empty() {
            return;
        }
        let before = Arc::clone(&self.recorded.borrow());
        let before = before.of(&self.cluster);
        // A deployment that lost its object and gained another one is recorded already.
        let changed = changed.into_iter();
        let changed = changed.filter(|id| before.contains_key(id) != self.targets.has(id));
        let (added, removed): (Vec<_>, Vec<_>) = changed.partition(|id| self.targets.has(id));
        for id in &removed {
            let report = self.reports.get(id);
            let is_empty = report.is_none_or(Report::is_empty);
            if !self.creations.forget(id, is_empty, now) {
                self.reports.remove(id);
            }
        }
        if added.is_empty() && removed.is_empty() {
            return;
        }
        let (cluster, records) = (&self.cluster, &mut self.records);
        self.recorded.send_modify(|recorded| {
            let recorded = Arc::make_mut(recorded);
            for id in &removed {
                recorded.remove(cluster, id);
            }
            for id in &added {
                *records += 1;
                let record = RecordedDeployment {
                    namespace: Arc::default(),
                    number: *records,
                };
                recorded.insert(cluster, id.clone(), record);
            }
        });
        for id in &added {
            self.creations.settle(id);
            self.targets.note_report(id, now);
        }
    }

    /// Takes an event of the source.
    fn take_event(&mut self, event: ClusterEvent) {
        let now = Instant::now();
        match event {
            ClusterEvent::Reports { reports, .. } => {
                for (subject, report) in reports {
                    if let Subject::Deployment(id) = subject {
                        self.take_report(id, report, now);
                    }
                }
            }
            ClusterEvent::Gone { deployment, .. } => drop(self.reports.remove(&deployment)),
            // The name leads to another cluster now.
            ClusterEvent::Removed { .. } => {
                self.reports.clear();
                self.creations.clear();
                self.targets.doubt_all(now);
            }
            ClusterEvent::Stale { reason, .. } => {
                tracing::warn!(
                    reason,
                    "cluster does not answer; reports remain as they are"
                );
            }
            ClusterEvent::Synced { .. } => tracing::info!("every Kind of the cluster was read"),
            ClusterEvent::Coverage { .. }
            | ClusterEvent::Unreadable { .. }
            | ClusterEvent::Added { .. }
            | ClusterEvent::Owner { .. }
            | ClusterEvent::Facts { .. }
            | ClusterEvent::Faults { .. }
            | ClusterEvent::Heard { .. } => {}
        }
    }

    fn take_report(&mut self, id: DeploymentId, report: Report, now: Instant) {
        let is_recorded = self.targets.has(&id);
        if !is_recorded && !self.options.may_create {
            return;
        }
        let names = self.targets.of(&id);
        let created = names.first().filter(|name| self.is_created(name));
        self.creations
            .note(&id, is_recorded, created, report.is_empty(), now);
        if !is_recorded && report.is_empty() {
            self.reports.remove(&id);
            return;
        }
        self.targets.note_report(&id, now);
        self.reports.insert(id, report);
    }

    /// Begins the writes, creations and deletions that are due.
    fn begin_writes(&mut self) {
        let now = Instant::now();
        while self.writing.len() < WRITES_MAX && self.budget.ready_at(now) <= now {
            let Some(state) = self.targets.take_due(now) else {
                break;
            };
            self.begin_write(&state, now);
        }
        self.begin_creations(now);
    }

    /// Begins a write, which sends nothing if the object has this report already.
    fn begin_write(&mut self, state: &StateName, now: Instant) {
        let parts = self.targets.parts_of(state);
        let Some(target) = self.targets.get_mut(state) else {
            return;
        };
        let Some(report) = self.reports.get(&target.deployment) else {
            target.end(Vec::new());
            return;
        };
        let bundle = encode_bundle(&target.deployment, report, &self.options.format);
        let bundle = bundle.in_object(&state.name);
        let claimed_by = match target.annotations.get(MONITOR) {
            Some(other) if !target.may_claim(now) => other.clone(),
            _ => self.options.identity.to_string(),
        };
        let job = WriteJob {
            state: state.clone(),
            uid: Arc::clone(&target.uid),
            known: target.known.clone(),
            present: target.annotations.clone(),
            claimed_by,
            parts,
            bundle,
        };
        self.writing
            .push(Box::pin(job.run(Arc::clone(&self.server))));
    }

    /// Takes the result of a write.
    fn end_write(&mut self, done: Done) {
        let now = Instant::now();
        self.budget.spend(done.bytes);
        let Some(target) = self.targets.get_mut(&done.state) else {
            return;
        };
        if target.uid != done.uid {
            // Another object has the name now.
            return;
        }
        let meanwhile = target.end(done.versions);
        let is_changed = meanwhile.is_report_changed;
        if done.bytes > 0 {
            target.write_after = now + interval(self.options.limits.interval_min, done.bytes);
        }
        target.set_annotations(done.annotations, &self.options.identity);
        let again_at = match done.result {
            Ok(known) => {
                target.known = Some(known);
                target.failures = 0;
                target.claims_at().or(is_changed.then_some(now))
            }
            Err(error) => {
                target.known = None;
                log_failure(&mut self.failure, &error, &done.state, now);
                let wait = wait_after(target.failures, &error);
                target.failures = target.failures.saturating_add(1);
                target.write_after = target.write_after.max(now + wait);
                Some(now)
            }
        };
        if is_changed {
            self.targets.queue(&done.state, now);
        }
        if let Some(at) = again_at {
            self.targets.queue(&done.state, at);
        }
        self.targets.take_parts(done.parts, meanwhile.parts, now);
        if let Some(state) = meanwhile.state {
            let rivals = self.targets.apply(state, now);
            self.name_rivals(rivals.into_iter().collect(), now);
        }
    }
}

/// Logs a failed write, once a minute for each reason: all objects may fail for one reason.
fn log_failure(
    last: &mut Option<(String, Instant)>,
    error: &WriteError,
    state: &StateName,
    now: Instant,
) {
    let text = error.to_string();
    let is_known = last.as_ref().is_some_and(|(reason, at)| {
        *reason == text && now.saturating_duration_since(*at) < LOG_EVERY
    });
    // The watch reports the change of the other client, or the deletion.
    let is_usual = matches!(error, WriteError::Conflict | WriteError::Missing);
    if is_known || is_usual {
        tracing::debug!(%state, %error, "report not written; it is written again");
    } else {
        tracing::warn!(%state, %error, "report not written; it is written again");
        *last = Some((text, now));
    }
}

/// The time between a failed write and the next attempt.
fn wait_after(failures: u32, error: &WriteError) -> Duration {
    let wait = RETRY_FIRST.saturating_mul(1 << failures.min(10));
    let wait = match error {
        WriteError::Conflict | WriteError::Missing => CONFLICT_WAIT.max(wait / 4),
        WriteError::Refused(_) | WriteError::Unreachable(_) => wait,
    };
    wait.min(RETRY_LONGEST)
}

#[cfg(test)]
mod tests;
