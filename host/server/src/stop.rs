//! Handling of stop signals, and the forced end of a process that does not stop.
//!
//! A separate thread does both, so that the process ends even if all threads of the executor hang.

use std::io;
use std::process::exit;
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::server::Server;
use crate::tasks::Running;

/// Maximum time between a signal during the start and the end of the process.
const START_ENDS_MAX: Duration = Duration::from_secs(10);
/// Time after the limit of [`Server::stop`] at which the process is ended. If the stop exceeds its own limit, the
/// executor hangs.
const HANGS_AFTER: Duration = Duration::from_secs(1);
/// Exit code of a process that ended before the stop was complete.
const EXIT_CODE: i32 = 1;

/// Signals that ask the process to stop: SIGTERM and Ctrl-C. The process listens for them before the server starts, so
/// that an early signal is not lost. A second signal ends the process at once.
#[derive(Clone)]
pub struct StopSignals {
    received: CancellationToken,
    limit: Arc<RwLock<Limit>>,
}

/// The maximum duration of a stop, and the tasks that it waits for.
struct Limit {
    max: Duration,
    running: Running,
}

impl StopSignals {
    /// Starts to listen.
    ///
    /// # Errors
    /// If the thread or the signal handlers cannot be created.
    pub(crate) fn listen() -> io::Result<Self> {
        let signals = Self {
            received: CancellationToken::new(),
            limit: Arc::new(RwLock::new(Limit {
                max: START_ENDS_MAX,
                running: Running::default(),
            })),
        };
        let executor = Builder::new_current_thread().enable_all().build()?;
        let (terminate, interrupt) = {
            let _entered = executor.enter();
            let terminate = signal(SignalKind::terminate())?;
            (terminate, signal(SignalKind::interrupt())?)
        };
        let watch = Watch {
            signals: signals.clone(),
            terminate,
            interrupt,
        };
        let thread = thread::Builder::new().name("signals".to_owned());
        thread.spawn(move || executor.block_on(watch.run()))?;
        Ok(signals)
    }

    /// Waits for a stop signal.
    pub(crate) async fn received(&self) {
        self.received.cancelled().await;
    }

    /// Limits the time from a signal to the end of the process by the stop limit of this server.
    pub(crate) fn limit_stop_of(&self, server: &Server) {
        let mut limit = self.limit.write().unwrap_or_else(PoisonError::into_inner);
        *limit = Limit {
            max: server.stop_max().saturating_add(HANGS_AFTER),
            running: server.running(),
        };
    }

    /// Waits for a stop signal, or until a task of the server ends early.
    pub async fn wait(&mut self, server: &Server) {
        tokio::select! {
            () = self.received() => {}
            () = server.failed() => {}
        }
    }
}

/// State of the thread that waits for signals.
struct Watch {
    signals: StopSignals,
    terminate: Signal,
    interrupt: Signal,
}

impl Watch {
    async fn run(mut self) {
        self.signal().await;
        self.signals.received.cancel();
        // Before the server has started, the limit is the limit of a start.
        let max = self.read(|limit| limit.max);
        if timeout(max, self.signal()).await.is_ok() {
            tracing::warn!("ending at once: a second signal arrived before the stop was complete");
            exit(EXIT_CODE);
        }
        let tasks = self.read(|limit| limit.running.names());
        tracing::error!(waited = ?max, tasks, "ending at once: the stop hangs");
        exit(EXIT_CODE);
    }

    async fn signal(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    fn read<T>(&self, read: impl FnOnce(&Limit) -> T) -> T {
        let limit = self.signals.limit.read();
        read(&limit.unwrap_or_else(PoisonError::into_inner))
    }
}
