//! `kindsight serve`: runs a server with the operator's settings.

use anyhow::Context as _;
use kindsight_server::{DataDir, Server, Settings, start_logging};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::config::ServeArgs;

/// Runs the server until it is asked to stop, or stops by itself.
///
/// # Errors
/// When the server cannot be started, or stops by itself.
pub(crate) fn run(args: Box<ServeArgs>) -> anyhow::Result<()> {
    start_logging(&args.log, args.log_format)?;
    let settings = settings(*args)?;
    if let Some(cache) = &settings.cache {
        tracing::info!(
            "loading interpreters; those without compiled code in {} are compiled first",
            cache.display()
        );
    }
    run_server(settings, async |server, mut signals| {
        let address = server.address();
        tracing::info!(%address, "serving on http://{address}");
        signals.wait(server).await;
        tracing::info!("stopping");
        Ok(())
    })
}

/// Starts a server, runs `serving`, and stops the server. A signal to stop ends the start too.
pub(crate) fn run_server(
    settings: Settings,
    serving: impl AsyncFnOnce(&Server, StopSignals) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let runtime = kindsight_server::runtime()?;
    let outcome = runtime.block_on(async {
        let mut signals = StopSignals::listen()?;
        let server = tokio::select! {
            started = Server::start(settings) => started?,
            () = signals.received() => return Ok(()),
        };
        serving(&server, signals).await?;
        Ok(server.stop().await?)
    });
    // A start that was interrupted may still be compiling.
    runtime.shutdown_background();
    outcome
}

fn settings(args: ServeArgs) -> anyhow::Result<Settings> {
    let DataDir { store, cache } = DataDir::open(&args.data_dir)?;
    let limits = args.interpreter_limits.limits();
    Ok(Settings {
        store,
        cache: Some(cache),
        interpreters: args.interpreters,
        clusters: args.clusters,
        listen: args.listen,
        catalog_limits: args.interpreter_limits.catalog_limits(),
        rest_limits: args.rest_limits.limits(&limits),
        interpreter_limits: limits,
    })
}

/// Signals that ask the process to stop: SIGTERM and Ctrl-C. Listened for before the server starts, so
/// that one that comes early is not lost.
pub(crate) struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    fn listen() -> anyhow::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate()).context("listen for SIGTERM")?,
            interrupt: signal(SignalKind::interrupt()).context("listen for Ctrl-C")?,
        })
    }

    async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    /// Waits until a signal comes, or a task of the server fails.
    pub(crate) async fn wait(&mut self, server: &Server) {
        tokio::select! {
            () = self.received() => {}
            () = server.failed() => {}
        }
    }
}
