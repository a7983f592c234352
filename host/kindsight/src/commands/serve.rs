//! `kindsight serve`: runs a server with the operator's settings.

use kindsight_server::rest::Access;
use kindsight_server::{DataDir, Settings, start_logging};

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
    kindsight_server::run(settings, async |server, mut signals| {
        let address = server.address();
        tracing::info!(%address, "serving on http://{address}");
        signals.wait(server).await;
        tracing::info!("stopping");
        Ok(())
    })
}

fn settings(args: ServeArgs) -> anyhow::Result<Settings> {
    let DataDir {
        store,
        cache,
        remembered,
    } = DataDir::open(&args.data_dir)?;
    let limits = args.interpreter_limits.limits();
    let mut clusters = args.clusters;
    for table in &args.cluster_tables {
        let source = table.source(args.watch_lifetime);
        clusters.push(source.map_err(anyhow::Error::msg)?);
    }
    for kubeconfig in &args.kubeconfigs {
        clusters.extend(kubeconfig.clusters(args.watch_lifetime)?);
    }
    Ok(Settings {
        store,
        remembered,
        cache: Some(cache),
        interpreters: args.interpreters,
        replace_built_in: args.replace_built_in,
        clusters,
        gone_for: args.gone_for,
        listen: args.listen,
        access: Access {
            hosts: args.allowed_hosts,
            origins: args.allowed_origins,
        },
        catalog_limits: args.interpreter_limits.catalog_limits(),
        rest_limits: args.rest_limits.limits(&limits),
        interpreter_limits: limits,
    })
}
