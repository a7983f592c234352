//! Threads for the sources of clusters, apart from the threads that answer requests.
//!
//! If many clusters reconnect at once, TLS and the lists keep processors busy for seconds. Requests do not wait for this
//! work, because its threads have a lower priority (decision
//! [0168](../../../docs/decisions/0168-sources-have-threads-of-their-own.md)). A source runs with its connection, watches
//! and session on one thread, so the news of a change wake no other thread of the executor.

use std::collections::VecDeque;
use std::sync::Arc;
use std::{io, mem, thread};

use kindsight_interpreter::lower_priority;
use tokio::runtime::{Builder, Handle};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Maximum number of threads. Further processors serve requests and evaluate objects.
const THREADS_MAX: usize = 16;
/// Threads for blocking steps of one executor: reads of credentials and decoding of bundles.
const BLOCKING_THREADS_MAX: usize = 16;

/// Threads with an executor each, one for each processor. A thread ends after this value and the last source on it.
pub(crate) struct SourceThreads {
    last: Executor,
    others: VecDeque<Executor>,
}

/// The executor of a thread. It runs until all clones are dropped.
#[derive(Clone)]
pub(crate) struct Executor {
    handle: Handle,
    _running: Arc<DropGuard>,
}

impl SourceThreads {
    /// Starts the threads.
    ///
    /// # Errors
    /// If the system starts no further thread.
    pub(crate) fn start() -> io::Result<Self> {
        let number = thread::available_parallelism().map_or(1, usize::from);
        let others = (1..number.min(THREADS_MAX)).map(|_| Executor::start());
        Ok(Self {
            last: Executor::start()?,
            others: others.collect::<io::Result<_>>()?,
        })
    }

    /// The executor for the next source. Sources take turns over the threads.
    pub(crate) fn next(&mut self) -> Executor {
        if let Some(next) = self.others.pop_front() {
            let last = mem::replace(&mut self.last, next);
            self.others.push_back(last);
        }
        self.last.clone()
    }
}

impl Executor {
    /// Spawns tasks on the thread.
    pub(crate) fn handle(&self) -> Handle {
        self.handle.clone()
    }

    fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(BLOCKING_THREADS_MAX)
            .build()?;
        let ended = CancellationToken::new();
        let executor = Self {
            handle: runtime.handle().clone(),
            _running: Arc::new(ended.clone().drop_guard()),
        };
        let thread = thread::Builder::new().name("clusters".to_owned());
        thread.spawn(move || {
            lower_priority();
            runtime.block_on(ended.cancelled());
            // A blocking step, for example a read of a file on a network, must not hold up the stop.
            runtime.shutdown_background();
        })?;
        Ok(executor)
    }
}

#[cfg(test)]
mod tests {
    use std::thread::ThreadId;

    use super::*;

    fn thread_of(executor: &Executor) -> ThreadId {
        let (found_tx, found_rx) = std::sync::mpsc::channel();
        executor.handle().spawn(async move {
            let _ = found_tx.send(thread::current().id());
        });
        found_rx.recv().expect("the task ran")
    }

    #[test]
    fn sources_take_turns_and_a_thread_lives_as_long_as_its_last_source() {
        let mut threads = SourceThreads::start().expect("threads");
        let number = threads.others.len() + 1;
        let sources: Vec<Executor> = (0..number * 2).map(|_| threads.next()).collect();
        drop(threads);
        let found: Vec<ThreadId> = sources.iter().map(thread_of).collect();
        let (first, second) = found.split_at(number);
        assert_eq!(first, second);
        let distinct: std::collections::HashSet<&ThreadId> = first.iter().collect();
        assert_eq!(distinct.len(), number);
        let handles: Vec<Handle> = sources.iter().map(Executor::handle).collect();
        drop(sources);
        // A task of an executor that has ended is dropped.
        for handle in handles {
            let (held, dropped) = std::sync::mpsc::channel::<()>();
            drop(handle.spawn(async move {
                let _held = held;
                std::future::pending::<()>().await;
            }));
            assert!(dropped.recv().is_err());
        }
    }
}
