//! The task that does the work of groups.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kindsight_appcontext::{AppContexts, Error as ContextError, Records};
use kindsight_lifecycle::{Groups, Job, Outcome, Result, Sequence};
use kindsight_store::{Leased, Store, chain};
use tokio::sync::Notify;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The shortest time until a group is tried again after a failure, and the time between two looks at resources that wait
/// for others.
const RETRY_MIN: Duration = Duration::from_secs(1);
/// The longest time until a group is tried again. Doubled from [`RETRY_MIN`] with each failure.
const RETRY_MAX: Duration = Duration::from_secs(30);
/// Maximum number of groups that are worked on at the same time. Each has its manifests in memory and a thread, which
/// mostly waits for clusters.
const JOBS_MAX: usize = 4;

/// Jobs with new actions. Each job is in it once, so the number of groups is its limit.
#[derive(Clone, Default)]
pub(super) struct Pending(Arc<(Mutex<BTreeSet<Job>>, Notify)>);

impl Pending {
    /// Has the worker look at a job.
    pub(super) fn add(&self, job: Job) {
        let (jobs, added) = &*self.0;
        let mut jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.insert(job);
        added.notify_one();
    }

    fn take(&self) -> BTreeSet<Job> {
        let mut jobs = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut jobs)
    }
}

/// A job that is tried again.
struct Waiting {
    due: Instant,
    wait: Duration,
}

/// The result of working on a job.
enum End {
    Complete,
    /// A resource waits for another one.
    Soon,
    /// A cluster or the store does not answer.
    Later,
}

/// The task.
pub(super) struct Worker {
    pub(super) groups: Groups,
    pub(super) sequence: Sequence,
    pub(super) pending: Pending,
    /// The store of the contexts and records. Other servers may share it.
    pub(super) store: Arc<dyn Store>,
}

/// The jobs of a worker.
#[derive(Default)]
struct Jobs {
    /// Jobs that begin as soon as there is room. A job that is being worked on begins again afterwards.
    due: BTreeSet<Job>,
    waiting: BTreeMap<Job, Waiting>,
    running: BTreeSet<Job>,
    tasks: JoinSet<(Job, End)>,
}

impl Worker {
    /// Continues the unfinished work of the previous process, then works on each group with a new action, until
    /// `shutdown`. Several groups are worked on at the same time, each by one sequence.
    pub(super) async fn run(self, shutdown: CancellationToken) -> Result<(), Infallible> {
        let mut jobs = Jobs::default();
        let mut is_recovered = false;
        loop {
            if !is_recovered {
                is_recovered = self.recover().await;
            }
            jobs.due.append(&mut self.pending.take());
            jobs.add_waiting();
            while let Some(job) = jobs.next() {
                let (store, sequence) = (Arc::clone(&self.store), self.sequence.clone());
                jobs.tasks.spawn(work(store, sequence, job));
            }
            let recovery = (!is_recovered).then(|| Instant::now() + RETRY_MIN);
            let next = jobs.next_due().into_iter().chain(recovery).min();
            let wait = async {
                match next {
                    Some(due) => tokio::time::sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = shutdown.cancelled() => break,
                () = self.pending.0.1.notified() => {}
                Some(Ok((job, end))) = jobs.tasks.join_next() => jobs.ended(job, &end),
                () = wait => {}
            }
        }
        // The steps that were begun are completed.
        self.sequence.cancel();
        while jobs.tasks.join_next().await.is_some() {}
        Ok(())
    }

    /// Finds unfinished work after the start. Returns whether the store answered.
    async fn recover(&self) -> bool {
        let groups = self.groups.clone();
        match spawn_blocking(move || groups.unfinished()).await {
            Ok(Ok(jobs)) => {
                for job in jobs {
                    tracing::info!(group = %job, "unfinished work continues after the start");
                    self.pending.add(job);
                }
                true
            }
            Ok(Err(error)) => {
                let error = chain(&error);
                tracing::warn!(error, "unfinished groups could not be listed; trying again");
                false
            }
            // A panic would happen again.
            Err(_) => true,
        }
    }
}

impl Jobs {
    /// Moves the jobs whose time has come.
    fn add_waiting(&mut self) {
        let now = Instant::now();
        let due = self.waiting.iter().filter(|(_, it)| it.due <= now);
        let due = due.map(|(job, _)| job.clone());
        self.due.extend(due);
    }

    /// The next job to begin, if there is room.
    fn next(&mut self) -> Option<Job> {
        if self.running.len() >= JOBS_MAX {
            return None;
        }
        let mut due = self.due.iter();
        let job = due.find(|job| !self.running.contains(*job))?.clone();
        self.due.remove(&job);
        self.running.insert(job.clone());
        Some(job)
    }

    /// The time at which the next waiting job is due.
    fn next_due(&self) -> Option<Instant> {
        let waiting = self.waiting.iter();
        let open = waiting.filter(|(job, _)| !self.due.contains(*job));
        open.filter(|(job, _)| !self.running.contains(*job))
            .map(|(_, it)| it.due)
            .min()
    }

    fn ended(&mut self, job: Job, end: &End) {
        self.running.remove(&job);
        let before = self.waiting.remove(&job).map(|it| it.wait);
        let wait = match end {
            End::Complete => return,
            End::Soon => RETRY_MIN,
            End::Later => before.map_or(RETRY_MIN, |wait| RETRY_MAX.min(wait * 2)),
        };
        let due = Instant::now() + wait;
        self.waiting.insert(job, Waiting { due, wait });
    }
}

/// Works on a job.
async fn work(store: Arc<dyn Store>, sequence: Sequence, job: Job) -> (Job, End) {
    let owned = job.clone();
    let end = match spawn_blocking(move || run_owned(&store, &sequence, &owned)).await {
        Ok(Ok(Some(Outcome::Complete))) => End::Complete,
        Ok(Ok(Some(Outcome::Waiting))) => End::Soon,
        Ok(Ok(Some(Outcome::Retry) | None)) => End::Later,
        Ok(Err(error)) => {
            let error = chain(&error);
            tracing::warn!(group = %job, error, "work on a group failed; trying again");
            End::Later
        }
        Err(_) => {
            tracing::error!(group = %job, "work on a group panicked; the log says where");
            End::Complete
        }
    };
    (job, end)
}

/// Runs the sequence of a job while this server has the lease of the job. Returns `None` if another server has the lease:
/// it does the work, unless it ends before.
fn run_owned(store: &Arc<dyn Store>, sequence: &Sequence, job: &Job) -> Result<Option<Outcome>> {
    let leased = store.lease(&format!("work/{job}"));
    let Leased::Granted(lease) = leased.map_err(ContextError::from)? else {
        return Ok(None);
    };
    let fenced = lease.fenced(store);
    let contexts = AppContexts::new(Arc::clone(&fenced));
    let sequence = sequence.clone().over(contexts, Records::new(fenced));
    sequence.run(job).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str) -> Job {
        Job::Context(name.parse().unwrap())
    }

    #[tokio::test]
    async fn as_many_jobs_as_are_permitted_run_and_each_one_once() {
        let mut jobs = Jobs::default();
        jobs.due.extend([job("1"), job("2")]);
        assert_eq!(jobs.next(), Some(job("1")));
        jobs.due.insert(job("1"));
        assert_eq!(jobs.next(), Some(job("2")));
        assert_eq!(jobs.next(), None, "the first is still running");
        jobs.ended(job("1"), &End::Complete);
        assert_eq!(jobs.next(), Some(job("1")));
        jobs.due
            .extend((3..10).map(|number| job(&number.to_string())));
        let begun = std::iter::from_fn(|| jobs.next()).count();
        assert_eq!(begun + 2, JOBS_MAX);
    }

    #[tokio::test]
    async fn a_job_that_fails_waits_longer_each_time_and_a_waiting_job_does_not() {
        let mut jobs = Jobs::default();
        let mut wait = |end| {
            jobs.ended(job("1"), &end);
            jobs.waiting.get(&job("1")).map(|it| it.wait)
        };
        assert_eq!(wait(End::Later), Some(RETRY_MIN));
        assert_eq!(wait(End::Later), Some(RETRY_MIN * 2));
        assert_eq!(wait(End::Soon), Some(RETRY_MIN));
        for _ in 0..10 {
            wait(End::Later);
        }
        assert_eq!(wait(End::Later), Some(RETRY_MAX));
        assert_eq!(wait(End::Complete), None);
    }
}
