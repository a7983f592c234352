//! The life of a program that serves: start, signals, stop.

use tokio::runtime::{Builder, Runtime};

use crate::error::Error;
use crate::server::Server;
use crate::settings::Settings;
use crate::stop::StopSignals;

/// Threads for blocking steps: requests that judge objects, commands to interpreters, and reads of files. Further steps
/// wait for a free thread.
const BLOCKING_THREADS_MAX: usize = 64;

/// Starts a server on its own executor, runs `serving`, and stops the server. A program calls it once.
///
/// A stop signal also ends the start. A second signal, or a stop that hangs, ends the process.
///
/// # Errors
/// [`Error`] if the server cannot start or ends early; or the error of `serving`.
pub fn run<E: From<Error>>(
    settings: Settings,
    serving: impl AsyncFnOnce(&Server, StopSignals) -> Result<(), E>,
) -> Result<(), E> {
    let signals = StopSignals::listen().map_err(Error::Signals)?;
    let runtime = runtime().map_err(Error::Runtime)?;
    let outcome = runtime.block_on(async {
        let server = tokio::select! {
            started = Server::start(settings) => started?,
            () = signals.received() => return Ok(()),
        };
        signals.limit_stop_of(&server);
        serving(&server, signals.clone()).await?;
        Ok(server.stop().await?)
    });
    // A start that was interrupted may still be compiling.
    runtime.shutdown_background();
    outcome
}

/// The executor of all tasks except the interpreters.
fn runtime() -> std::io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    let builder = builder
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS_MAX);
    builder.build()
}
