//! `kindsight serve`: runs a server with the operator's settings.

use kindsight_server::rest::AllowedNames;
use kindsight_server::{ClusterChanges, DataDir, MetricsSettings, Settings, start_logging};
use tokio::sync::watch;

use crate::config::ServeArgs;
use crate::config::follow::follow;

/// Runs the server until a stop signal, or until one of its tasks fails.
///
/// # Errors
/// When the server cannot be started, or one of its tasks fails.
pub(crate) fn run(args: Box<ServeArgs>) -> anyhow::Result<()> {
    start_logging(&args.log, args.log_format)?;
    let (changed, changes) = watch::channel(args.sources()?);
    let settings = settings(*args, changes)?;
    let scheme = if settings.tls.is_some() {
        "https"
    } else {
        "http"
    };
    if let Some(cache) = &settings.cache {
        tracing::info!(
            "loading interpreters; those without compiled code in {} are compiled first",
            cache.display()
        );
    }
    kindsight_server::run(settings, async |server, mut signals| {
        let address = server.address();
        tracing::info!(%address, "serving on {scheme}://{address}");
        if let Some(address) = server.metrics_address() {
            tracing::info!(%address, "metrics on http://{address}/metrics");
        }
        tokio::select! {
            () = signals.wait(server) => {}
            () = follow(changed) => {}
        }
        tracing::info!("stopping");
        Ok(())
    })
}

fn settings(args: ServeArgs, cluster_changes: ClusterChanges) -> anyhow::Result<Settings> {
    let mongodb = args.mongodb.settings(args.store.observe)?;
    let DataDir {
        store,
        contexts,
        cache,
        remembered,
    } = DataDir::open_with(&args.data_dir, &args.store.settings()?)?;
    let limits = args.interpreter_limits.limits();
    let clusters = cluster_changes.borrow().clone();
    Ok(Settings {
        store,
        contexts,
        mongodb,
        remembered,
        cache: Some(cache),
        interpreters: args.interpreters,
        replace_built_in: args.replace_built_in,
        clusters,
        cluster_changes: Some(cluster_changes),
        gone_for: args.gone_for,
        parsed_bytes_max: args.interpreter_limits.parsed_bytes_max,
        kind_grace: args.kind_grace,
        listen: args.listen,
        access: args.access.settings()?,
        insecure: args.access.insecure(),
        tls: args.tls.settings(),
        allowed_names: AllowedNames {
            hosts: args.allowed_hosts,
            origins: args.allowed_origins,
        },
        dialect: args.dialect,
        catalog_limits: args.interpreter_limits.catalog_limits(),
        rest_limits: args.rest_limits.limits(&limits),
        metrics: MetricsSettings {
            listen: args.metrics_listen,
            names_applications: args.metrics_applications,
        },
        interpreter_limits: limits,
    })
}
