//! The task that does the work of groups.

mod takeover;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kindsight_appcontext::{AppContexts, Error as ContextError, Records};
use kindsight_lifecycle::{Groups, Job, Outcome, Result, Sequence};
use kindsight_store::{EndedLeases, Lease, Leased, Store, chain};
use tokio::sync::Notify;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The names of the leases of jobs begin with this text.
const LEASES: &str = "work/";
/// The shortest time until a group is tried again after a failure, the time between two looks at resources that wait for
/// others, and the time until the work of another server is continued.
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
    /// True if another server has the lease.
    is_elsewhere: bool,
}

/// The result of working on a job.
enum End {
    Complete,
    /// A resource waits for another one.
    Soon,
    /// A cluster or the store does not answer.
    Later,
    /// Another server has the lease.
    Elsewhere,
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
    /// The leases of jobs that wait for a short time. Other leases end with the work on the job.
    leases: BTreeMap<Job, Lease>,
    tasks: JoinSet<Worked>,
}

/// The result of working on a job, with its lease.
type Worked = (Job, End, Option<Lease>);

impl Worker {
    /// Continues the unfinished work of the previous process, then works on each group with a new action, or whose work
    /// another server left, until `shutdown`. Several groups are worked on at the same time, each by one sequence.
    pub(super) async fn run(self, shutdown: CancellationToken) -> Result<(), Infallible> {
        let mut jobs = Jobs::default();
        let mut is_recovered = false;
        let mut ended = None;
        loop {
            if !is_recovered {
                (is_recovered, ended) = self.recover().await;
            }
            jobs.due.append(&mut self.pending.take());
            jobs.add_waiting();
            while let Some(job) = jobs.next() {
                let (store, sequence) = (Arc::clone(&self.store), self.sequence.clone());
                let lease = jobs.leases.remove(&job);
                jobs.tasks.spawn(work(store, sequence, job, lease));
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
                Some(Ok((job, end, lease))) = jobs.tasks.join_next() => {
                    // Nothing is written while a resource waits: the next look needs no other lease.
                    let kept = lease.filter(|_| matches!(end, End::Soon));
                    jobs.leases.extend(kept.map(|lease| (job.clone(), lease)));
                    jobs.ended(job, &end);
                }
                left = takeover::left_jobs(&mut ended) => match left {
                    Some(left) => left.into_iter().for_each(|job| jobs.add_left(job)),
                    // Ends may have been missed.
                    None => is_recovered = false,
                },
                () = wait => {}
            }
        }
        // The steps that were begun are completed.
        self.sequence.cancel();
        while jobs.tasks.join_next().await.is_some() {}
        Ok(())
    }

    /// Finds unfinished work after the start, and begins to watch the leases of other servers. Returns whether the store
    /// answered.
    async fn recover(&self) -> (bool, Option<EndedLeases>) {
        let (groups, store) = (self.groups.clone(), Arc::clone(&self.store));
        // The watch first, so that no end is missed.
        let found = spawn_blocking(move || -> Result<_> {
            let ended = EndedLeases::watch(&*store, LEASES).map_err(ContextError::from)?;
            Ok((ended, groups.unfinished()?))
        });
        match found.await {
            Ok(Ok((ended, jobs))) => {
                for job in jobs {
                    tracing::info!(group = %job, "unfinished work continues");
                    self.pending.add(job);
                }
                (true, Some(ended))
            }
            Ok(Err(error)) => {
                let error = chain(&error);
                tracing::warn!(error, "unfinished groups could not be listed; trying again");
                (false, None)
            }
            // A panic would happen again.
            Err(_) => (true, None),
        }
    }
}

impl Jobs {
    /// Moves the jobs whose time has come.
    fn add_waiting(&mut self) {
        let now = Instant::now();
        let due = self.waiting.iter().filter(|(_, job)| job.due <= now);
        let due = due.map(|(job, _)| job.clone());
        self.due.extend(due);
    }

    /// Adds a job whose lease ended, perhaps because another server ended. A job that failed here keeps its time, so that
    /// servers that fail in turns do not hurry each other.
    fn add_left(&mut self, job: Job) {
        let known = self.waiting.get(&job);
        if !self.running.contains(&job) && known.is_none_or(|it| it.is_elsewhere) {
            let waiting = Waiting {
                due: Instant::now() + RETRY_MIN,
                wait: RETRY_MIN,
                is_elsewhere: true,
            };
            self.waiting.insert(job, waiting);
        }
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
            .map(|(_, waiting)| waiting.due)
            .min()
    }

    fn ended(&mut self, job: Job, end: &End) {
        self.running.remove(&job);
        let before = self.waiting.remove(&job);
        let before = before.filter(|it| !it.is_elsewhere).map(|it| it.wait);
        let wait = match end {
            End::Complete => return,
            End::Soon => RETRY_MIN,
            End::Later => before.map_or(RETRY_MIN, |wait| RETRY_MAX.min(wait * 2)),
            // The end of the lease is reported before.
            End::Elsewhere => RETRY_MAX,
        };
        let waiting = Waiting {
            due: Instant::now() + wait,
            wait,
            is_elsewhere: matches!(end, End::Elsewhere),
        };
        self.waiting.insert(job, waiting);
    }
}

/// Works on a job. Takes a lease, unless the lease of the last time was kept.
async fn work(store: Arc<dyn Store>, sequence: Sequence, job: Job, kept: Option<Lease>) -> Worked {
    let owned = job.clone();
    let done = spawn_blocking(move || run_owned(&store, &sequence, &owned, kept));
    let Ok((end, lease)) = done.await else {
        tracing::error!(group = %job, "work on a group panicked; the log says where");
        return (job, End::Complete, None);
    };
    let end = end.unwrap_or_else(|error| {
        let error = chain(&error);
        tracing::warn!(group = %job, error, "work on a group failed; trying again");
        End::Later
    });
    (job, end, lease)
}

/// Runs the sequence of a job while this server has the lease of the job. If another server has the lease, it does the
/// work, unless it ends before.
fn run_owned(
    store: &Arc<dyn Store>,
    sequence: &Sequence,
    job: &Job,
    kept: Option<Lease>,
) -> (Result<End>, Option<Lease>) {
    match sequence.has_work(job) {
        Ok(true) => {}
        Ok(false) => return (Ok(End::Complete), None),
        Err(error) => return (Err(error), None),
    }
    let leased = kept.map_or_else(
        || store.lease(&format!("{LEASES}{job}")),
        |kept| Ok(Leased::Granted(kept)),
    );
    let lease = match leased {
        Ok(Leased::Granted(lease)) => lease,
        Ok(Leased::Held) => return (Ok(End::Elsewhere), None),
        Err(error) => return (Err(ContextError::from(error).into()), None),
    };
    let fenced = lease.fenced(store);
    let contexts = AppContexts::new(Arc::clone(&fenced));
    let sequence = sequence.clone().over(contexts, Records::new(fenced));
    let end = sequence.run(job).map(|outcome| match outcome {
        Outcome::Complete => End::Complete,
        Outcome::Waiting => End::Soon,
        Outcome::Retry => End::Later,
    });
    (end, Some(lease))
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
    async fn the_end_of_a_lease_hurries_only_the_jobs_of_other_servers() {
        let mut jobs = Jobs::default();
        jobs.ended(job("1"), &End::Later);
        jobs.ended(job("1"), &End::Later);
        jobs.ended(job("2"), &End::Elsewhere);
        jobs.due.insert(job("3"));
        assert_eq!(jobs.next(), Some(job("3")));
        for name in ["1", "2", "3", "4"] {
            jobs.add_left(job(name));
        }
        let waits = jobs
            .waiting
            .iter()
            .map(|(job, waiting)| (job.clone(), waiting.wait));
        let expected = [
            (job("1"), RETRY_MIN * 2),
            (job("2"), RETRY_MIN),
            (job("4"), RETRY_MIN),
        ];
        assert_eq!(waits.collect::<Vec<_>>(), expected);
        jobs.ended(job("2"), &End::Later);
        assert_eq!(
            jobs.waiting.get(&job("2")).map(|it| it.wait),
            Some(RETRY_MIN)
        );
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
