//! `kindsight serve`: runs a server with the operator's settings.

use std::pin::pin;

use anyhow::Context as _;
use kindsight_server::{DataDir, Server, Settings};

use crate::config::ServeArgs;
use kindsight_server::start_logging;

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
    kindsight_server::runtime()?.block_on(async {
        let server = Server::start(settings).await?;
        let address = server.address();
        tracing::info!(%address, "serving on http://{address}");
        wait_for_end(&server).await?;
        tracing::info!("stopping");
        Ok(server.stop().await?)
    })
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

/// Waits until SIGTERM, Ctrl-C, or the failure of a task of the server.
pub(crate) async fn wait_for_end(server: &Server) -> anyhow::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).context("listen for SIGTERM")?;
    let failed = pin!(server.failed());
    tokio::select! {
        _ = terminate.recv() => {}
        interrupted = tokio::signal::ctrl_c() => interrupted.context("listen for Ctrl-C")?,
        () = failed => {}
    }
    Ok(())
}
