//! Tasks of a server: each runs until the stop, and one that ends early stops the others.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::error::{Error, TaskError};

/// The tasks of one server.
#[derive(Clone, Default)]
pub(crate) struct Tasks {
    tracker: TaskTracker,
    shutdown: CancellationToken,
    /// The first task that ended early, with the reason.
    failure: Arc<OnceLock<(&'static str, TaskError)>>,
    /// The tasks that have not ended.
    running: Running,
}

/// Names of tasks that have not ended, with the number of tasks of each name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Running(Arc<Mutex<BTreeMap<&'static str, usize>>>);

impl Running {
    fn count(&self, name: &'static str, is_begin: bool) {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = running.entry(name).or_default();
        *count = if is_begin {
            count.saturating_add(1)
        } else {
            count.saturating_sub(1)
        };
    }

    /// The names in words.
    pub(crate) fn names(&self) -> String {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let names = running.iter().filter(|(_, count)| **count > 0);
        let names: Vec<String> = names
            .map(|(name, count)| match count {
                1 => (*name).to_owned(),
                count => format!("{count} times {name}"),
            })
            .collect();
        names.join(", ")
    }
}

impl Tasks {
    /// The token whose cancellation must end every task.
    pub(crate) fn shutdown(&self) -> CancellationToken {
        self.shutdown.clone()
    }

    /// Runs a task. If it ends before the stop for any reason, all tasks are stopped.
    pub(crate) fn spawn<E>(
        &self,
        name: &'static str,
        task: impl Future<Output = Result<(), E>> + Send + 'static,
    ) where
        E: std::error::Error + Send + Sync + 'static,
    {
        self.spawn_until(&self.shutdown, name, task);
    }

    /// Runs a task that may end once `stop`, a child of [`Self::shutdown`], is cancelled.
    pub(crate) fn spawn_until<E>(
        &self,
        stop: &CancellationToken,
        name: &'static str,
        task: impl Future<Output = Result<(), E>> + Send + 'static,
    ) where
        E: std::error::Error + Send + Sync + 'static,
    {
        self.spawn_on(&Handle::current(), stop, name, task);
    }

    /// The same as [`Self::spawn_until`], on another executor.
    pub(crate) fn spawn_on<E>(
        &self,
        executor: &Handle,
        stop: &CancellationToken,
        name: &'static str,
        task: impl Future<Output = Result<(), E>> + Send + 'static,
    ) where
        E: std::error::Error + Send + Sync + 'static,
    {
        let (stop, shutdown) = (stop.clone(), self.shutdown.clone());
        let failure = Arc::clone(&self.failure);
        let names = self.running.clone();
        names.count(name, true);
        let running = self.tracker.spawn_on(task, executor);
        self.tracker.spawn(async move {
            let ended = running.await;
            names.count(name, false);
            let error = match ended {
                Ok(Ok(())) if stop.is_cancelled() => return,
                Ok(Ok(())) => TaskError::Done,
                Ok(Err(error)) => TaskError::Failed(Box::new(error)),
                Err(_) => TaskError::Panicked,
            };
            // Only the first failure is kept; later tasks may have ended because of it.
            let _ = failure.set((name, error));
            shutdown.cancel();
        });
    }

    /// The names of the running tasks, for a thread that cannot wait for the tasks.
    pub(crate) fn running(&self) -> Running {
        self.running.clone()
    }

    /// Stops all tasks and waits for their end, at most for `max`.
    ///
    /// # Errors
    /// [`Error::Unfinished`] if a task has not ended, [`Error::Task`] if a task ended early.
    pub(crate) async fn stop(self, max: Duration) -> Result<(), Error> {
        self.shutdown.cancel();
        self.tracker.close();
        if timeout(max, self.tracker.wait()).await.is_err() {
            return Err(Error::Unfinished {
                tasks: self.running.names(),
                waited: max,
            });
        }
        let failure = Arc::into_inner(self.failure).and_then(OnceLock::into_inner);
        match failure {
            None => Ok(()),
            Some((task, source)) => Err(Error::Task { task, source }),
        }
    }
}

/// A task that does not fail.
pub(crate) async fn infallible(task: impl Future<Output = ()>) -> Result<(), Infallible> {
    task.await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    const LONG: Duration = Duration::from_mins(1);

    async fn until_stopped(shutdown: CancellationToken) -> Result<(), Infallible> {
        shutdown.cancelled().await;
        Ok(())
    }

    #[tokio::test]
    async fn a_task_that_ends_early_stops_the_others_and_says_why() {
        for (early, expected) in [
            (0, "disk full"),
            (1, "it panicked"),
            (2, "it must run until the stop"),
        ] {
            let tasks = Tasks::default();
            tasks.spawn("neighbour", until_stopped(tasks.shutdown()));
            tasks.spawn("pipeline", async move {
                match early {
                    0 => Err(io::Error::other("disk full")),
                    1 => panic!("a defect"),
                    _ => Ok(()),
                }
            });
            tasks.shutdown().cancelled().await;
            let error = tasks.stop(LONG).await.expect_err("it ended early");
            let error = kindsight_store::chain(&error);
            assert!(error.contains("its pipeline ended"), "{error}");
            assert!(error.contains(expected), "{error}");
        }
    }

    #[tokio::test]
    async fn tasks_that_end_at_the_stop_are_no_failure() {
        let tasks = Tasks::default();
        tasks.spawn("neighbour", until_stopped(tasks.shutdown()));
        tasks.stop(LONG).await.expect("nothing failed");
    }

    #[tokio::test]
    async fn a_task_that_does_not_end_is_named_and_not_waited_for() {
        let tasks = Tasks::default();
        tasks.spawn("neighbour", until_stopped(tasks.shutdown()));
        for _ in 0..2 {
            tasks.spawn("sleeper", std::future::pending::<Result<(), Infallible>>());
        }
        let error = tasks.stop(Duration::from_millis(50)).await;
        let error = error.expect_err("it sleeps").to_string();
        assert!(error.contains("after 50ms"), "{error}");
        assert!(error.ends_with(": 2 times sleeper"), "{error}");
    }
}
