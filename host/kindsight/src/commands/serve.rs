//! `kindsight serve`: a server, from what the operator set.

use std::pin::pin;

use anyhow::Context as _;
use kindsight_server::{DataDir, Server, Settings};

use crate::config::ServeArgs;
use crate::telemetry;

/// Runs the command until it is told to stop, or the server stops by itself.
///
/// # Errors
/// The reason why it did not start, or stopped by itself.
pub(crate) fn run(args: Box<ServeArgs>) -> anyhow::Result<()> {
    telemetry::start(&args.log, args.log_format)?;
    let settings = settings(*args)?;
    if let Some(cache) = &settings.cache {
        tracing::info!(
            "loading interpreters; those not in {} are compiled first",
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

/// Waits until the process is asked to stop, by SIGTERM or Ctrl-C, or the server has to.
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
