//! Tasks of a server: each runs until the stop, and one that ends early stops the others.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::error::{Error, TaskError};

/// The tasks of one server.
#[derive(Clone, Default)]
pub(crate) struct Tasks {
    tracker: TaskTracker,
    shutdown: CancellationToken,
    /// The first that ended early.
    failure: Arc<OnceLock<(&'static str, TaskError)>>,
}

impl Tasks {
    /// The token that a task has to end at.
    pub(crate) fn shutdown(&self) -> CancellationToken {
        self.shutdown.clone()
    }

    /// Runs a task. Where it ends before the stop, whatever the reason, all are stopped.
    pub(crate) fn spawn<E>(
        &self,
        name: &'static str,
        task: impl Future<Output = Result<(), E>> + Send + 'static,
    ) where
        E: std::error::Error + Send + Sync + 'static,
    {
        let (shutdown, failure) = (self.shutdown.clone(), Arc::clone(&self.failure));
        let running = self.tracker.spawn(task);
        self.tracker.spawn(async move {
            let error = match running.await {
                Ok(Ok(())) if shutdown.is_cancelled() => return,
                Ok(Ok(())) => TaskError::Done,
                Ok(Err(error)) => TaskError::Failed(Box::new(error)),
                Err(_) => TaskError::Panicked,
            };
            // The first says why; those after it may have ended because of it.
            let _ = failure.set((name, error));
            shutdown.cancel();
        });
    }

    /// Stops all, and waits until they have ended.
    ///
    /// # Errors
    /// [`Error::Task`] where one ended early.
    pub(crate) async fn stop(self) -> Result<(), Error> {
        self.shutdown.cancel();
        self.tracker.close();
        self.tracker.wait().await;
        let failure = Arc::into_inner(self.failure).and_then(OnceLock::into_inner);
        match failure {
            None => Ok(()),
            Some((task, source)) => Err(Error::Task { task, source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::io;

    use super::*;

    async fn until_stopped(shutdown: CancellationToken) -> Result<(), Infallible> {
        shutdown.cancelled().await;
        Ok(())
    }

    #[tokio::test]
    async fn a_task_that_ends_early_stops_the_others_and_says_why() {
        for (early, expected) in [
            (0, "disk full"),
            (1, "it panicked"),
            (2, "nothing left to do"),
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
            let error = tasks.stop().await.expect_err("it ended early");
            let error = kindsight_store::chain(&error);
            assert!(error.contains("its pipeline ended"), "{error}");
            assert!(error.contains(expected), "{error}");
        }
    }

    #[tokio::test]
    async fn tasks_that_end_at_the_stop_are_no_failure() {
        let tasks = Tasks::default();
        tasks.spawn("neighbour", until_stopped(tasks.shutdown()));
        tasks.stop().await.expect("nothing failed");
    }
}
