//! A thread of its own, at a lower priority, for steps that block.

use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use kindsight_interpreter::lower_priority;
use tokio::sync::oneshot;

type Step = Box<dyn FnOnce() + Send>;

/// Runs steps one after the other at a lower priority. The thread ends when this is dropped, after the
/// current step.
///
/// The executor's threads for steps that block cannot serve here: they take turns, and a thread whose
/// priority was lowered keeps it.
pub(crate) struct BackgroundThread(SyncSender<Step>);

impl BackgroundThread {
    /// Starts the thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn start(name: &'static str) -> io::Result<Self> {
        let (sender, steps) = sync_channel::<Step>(1);
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                lower_priority();
                for step in steps {
                    step();
                }
            })?;
        Ok(Self(sender))
    }

    /// Runs a step and waits for its result; none where it panicked, or one before it did.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        step: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (result_tx, result_rx) = oneshot::channel();
        let step = move || {
            // The waiter may have been dropped.
            let _ = result_tx.send(step());
        };
        // Callers wait for one step at a time, so the channel has capacity for it.
        self.0.try_send(Box::new(step)).ok()?;
        result_rx.await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn steps_run_on_one_thread_until_one_breaks() {
        let background = BackgroundThread::start("test").unwrap();
        let here = thread::current().id();
        let first = background.run(|| thread::current().id()).await.unwrap();
        let second = background.run(|| thread::current().id()).await.unwrap();
        assert_eq!(first, second);
        assert_ne!(first, here);
        let broken = background.run(move || assert_eq!(here, first)).await;
        assert_eq!(broken, None);
        assert_eq!(background.run(|| 1).await, None);
    }
}
