//! Threads at a lower priority for work that blocks.

use std::{io, thread};

use kindsight_interpreter::lower_priority;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

type Step = Box<dyn FnOnce() + Send>;

/// Maximum number of steps that wait for the current one. Further callers wait until there is room.
const STEPS_WAITING_MAX: usize = 1;

/// Runs steps one after the other at a lower priority. The thread ends when this handle is dropped, after the
/// steps that it was sent.
///
/// The executor's threads for steps that block cannot serve here: they take turns, and a thread whose
/// priority was lowered keeps it.
pub(crate) struct BackgroundThread(mpsc::Sender<Step>);

impl BackgroundThread {
    /// Starts the thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn start(name: &'static str) -> io::Result<Self> {
        let (step_tx, mut step_rx) = mpsc::channel::<Step>(STEPS_WAITING_MAX);
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                lower_priority();
                while let Some(step) = step_rx.blocking_recv() {
                    step();
                }
            })?;
        Ok(Self(step_tx))
    }

    /// Runs a step after all earlier ones and waits for its result. Returns none if this step or an earlier one
    /// panicked, and for no other reason.
    ///
    /// If the caller is cancelled, a step that the thread was sent runs nevertheless.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        step: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (result_tx, result_rx) = oneshot::channel();
        let step = move || {
            // Fails if the caller was cancelled.
            let _ = result_tx.send(step());
        };
        // Only a panic closes the channel. If it is full, this waits.
        self.0.send(Box::new(step)).await.ok()?;
        result_rx.await.ok()
    }
}

/// Runs work that blocks between its awaits on a thread of its own at a lower priority, and waits for the result.
/// Returns none if the work panicked.
///
/// The thread itself waits for the next event of the work. With a [`BackgroundThread`], an executor's thread would
/// wait for each event, pass it on, and wait for the end of the step: three changes of thread for each event.
///
/// The thread has timers of its own, so it may outlive the executor of the caller. The work must not use sockets.
///
/// If the caller is cancelled, the work ends at its next await.
///
/// # Errors
/// The thread or its timers cannot be started.
pub(crate) async fn on_background_thread<T, F>(
    name: &'static str,
    work: impl FnOnce() -> F + Send + 'static,
) -> io::Result<Option<T>>
where
    T: Send + 'static,
    F: Future<Output = T>,
{
    let (result_tx, result_rx) = oneshot::channel();
    let cancelled = CancellationToken::new();
    let _cancels = cancelled.clone().drop_guard();
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || {
            lower_priority();
            let executor = Builder::new_current_thread().enable_time().build();
            let work = || cancelled.run_until_cancelled(work());
            let result = executor.map(|executor| executor.block_on(work()));
            // Fails if the caller was cancelled.
            let _ = result_tx.send(result);
        })?;
    result_rx.await.unwrap_or(Ok(None))
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::{Pin, pin};
    use std::sync::mpsc::channel;
    use std::task::Poll;
    use std::time::Duration;

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

    #[tokio::test]
    async fn work_runs_on_its_own_thread_until_it_ends_or_panics() {
        let here = thread::current().id();
        let work = || async { thread::current().id() };
        let there = on_background_thread("test", work).await.unwrap();
        assert_ne!(there, Some(here));
        let broken = on_background_thread("test", move || async move {
            assert_eq!(thread::current().id(), here);
        });
        assert_eq!(broken.await.unwrap(), None);
    }

    #[test]
    fn work_may_use_its_timers_after_the_end_of_the_executor() {
        let (waits_tx, waits_rx) = channel();
        let (over_tx, over_rx) = channel();
        let (used_tx, used_rx) = channel();
        let executor = Builder::new_multi_thread().enable_time().build().unwrap();
        executor.spawn(on_background_thread("test", move || async move {
            let mut long = pin!(tokio::time::sleep(Duration::from_hours(1)));
            assert!(is_pending(long.as_mut()).await);
            waits_tx.send(()).unwrap();
            over_rx.recv().unwrap();
            used_tx.send(is_pending(long).await).unwrap();
        }));
        waits_rx.recv().unwrap();
        drop(executor);
        over_tx.send(()).unwrap();
        assert_eq!(used_rx.recv(), Ok(true));
    }

    #[tokio::test]
    async fn work_whose_caller_was_cancelled_ends() {
        let (held_tx, held_rx) = oneshot::channel::<()>();
        {
            let endless = || async move {
                let _held_tx = held_tx;
                std::future::pending::<()>().await;
            };
            let mut cancelled = pin!(on_background_thread("test", endless));
            assert!(is_pending(cancelled.as_mut()).await);
        }
        assert!(held_rx.await.is_err(), "the work is dropped");
    }

    async fn is_pending<F: Future>(mut future: Pin<&mut F>) -> bool {
        poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_pending())).await
    }

    #[tokio::test]
    async fn a_step_whose_caller_was_cancelled_runs_and_the_next_one_waits_for_it() {
        let background = BackgroundThread::start("test").unwrap();
        let (ran_tx, ran_rx) = channel();
        let (release_tx, release_rx) = channel::<()>();
        let blocking_tx = ran_tx.clone();
        let mut blocking = pin!(background.run(move || {
            blocking_tx.send("blocking").unwrap();
            release_rx.recv().unwrap();
        }));
        assert!(is_pending(blocking.as_mut()).await);
        assert_eq!(ran_rx.recv(), Ok("blocking"));
        {
            let cancelled_tx = ran_tx.clone();
            let cancelled = pin!(background.run(move || cancelled_tx.send("cancelled")));
            assert!(is_pending(cancelled).await, "it waits for the thread");
        }
        let mut next = pin!(background.run(move || ran_tx.send("next")));
        assert!(
            is_pending(next.as_mut()).await,
            "a full channel is no panic"
        );
        release_tx.send(()).unwrap();
        assert_eq!(next.await, Some(Ok(())));
        let ran: Vec<&str> = ran_rx.try_iter().collect();
        assert_eq!(ran, ["cancelled", "next"]);
    }
}
