//! `kindsight serve`: runs a server with the operator's settings.

use std::convert::Infallible;
use std::future;

use kindsight_server::clusters::Projects;
use kindsight_server::rest::AllowedNames;
use kindsight_server::{ArgoCm, ClusterChanges, DataDir, Server, Settings, start_logging};
use tokio::sync::watch;

use crate::config::ServeArgs;
use crate::config::follow::{FollowedFiles, follow};
use crate::config::registry::ArtifactArgs;
use crate::progress::{self, LogLines, Progress};

/// Maximum number of names of one sort in the line about the start.
const STARTED_NAMES_MAX: usize = 50;

/// Runs the server until a stop signal, or until one of its tasks fails.
///
/// # Errors
/// When the server cannot be started, or one of its tasks fails.
pub(crate) fn run(args: Box<ServeArgs>) -> anyhow::Result<()> {
    start_logging(&args.log, args.log_format, || LogLines)?;
    let (changed, changes) = watch::channel(args.sources()?);
    let (projects_changed, projects) = watch::channel(args.projects());
    let files = FollowedFiles::at_start(&args);
    let started = Started::of(&args, &changes);
    let settings = settings(*args, changes, projects)?;
    // A replica has no interpreters.
    if let (Some(cache), None) = (&settings.cache, &settings.replica_of) {
        tracing::info!(
            "loading interpreters; those without compiled code in {} are compiled first",
            cache.display()
        );
    }
    kindsight_server::run(settings, async |server, mut signals| {
        started.log(server);
        tokio::select! {
            () = signals.wait(server) => {}
            () = follow(files, changed, projects_changed) => {}
            never = show_missing(server) => match never {},
        }
        tracing::info!("stopping");
        Ok(())
    })
}

/// Shows how many clusters have not reported yet, until every cluster has reported or cannot be reached. Does not end.
async fn show_missing(server: &Server) -> Infallible {
    let mut shown = None;
    let mut all = None;
    let missing = |missing: usize| {
        let all = all.get_or_insert(missing);
        if missing > 0 {
            let text = format!("waiting for {missing} of {all} clusters");
            let shown = shown.get_or_insert_with(|| Progress::waiting(&text));
            shown.text(&text);
        }
    };
    server.synced_by(missing).await;
    drop(shown);
    future::pending().await
}

/// The content of the line about the start, as far as the settings determine it.
struct Started {
    /// `http` or `https`.
    scheme: &'static str,
    access_control: String,
    store: String,
    clusters: String,
}

impl Started {
    fn of(args: &ServeArgs, clusters: &ClusterChanges) -> Self {
        let clusters = clusters.borrow();
        Self {
            scheme: if args.tls.settings().is_some() {
                "https"
            } else {
                "http"
            },
            access_control: names(
                args.access
                    .methods(&args.tls)
                    .into_iter()
                    .map(str::to_owned),
            ),
            store: args.store.place(&args.data_dir),
            clusters: names(clusters.iter().map(|cluster| cluster.name().to_string())),
        }
    }

    /// Logs in one line what the server serves, and on which addresses.
    fn log(&self, server: &Server) {
        let address = server.address();
        let metrics = server.metrics_address();
        let metrics = metrics.map(|address| format!("http://{address}/metrics"));
        let rest = format!("{}://{address}", self.scheme);
        let rsync = server.rsync_address();
        let rsync = rsync.map(|address| format!("grpc://{address}"));
        let notify = server.status_notify_address();
        let notify = notify.map(|address| format!("grpc://{address}"));
        let listeners = [Some(rest.clone()), metrics, rsync, notify];
        tracing::info!(
            listeners = names(listeners.into_iter().flatten()),
            access_control = self.access_control,
            store = self.store,
            clusters = self.clusters,
            interpreters = names(server.interpreters().iter().cloned()),
            "serving on {rest}"
        );
    }
}

/// Names as text: `none`, or the first [`STARTED_NAMES_MAX`] with the number of the others.
fn names(mut all: impl Iterator<Item = String>) -> String {
    let shown: Vec<String> = all.by_ref().take(STARTED_NAMES_MAX).collect();
    match (shown.is_empty(), all.count()) {
        (true, _) => "none".to_owned(),
        (false, 0) => shown.join(", "),
        (false, more) => format!("{} and {more} more", shown.join(", ")),
    }
}

fn settings(
    args: ServeArgs,
    cluster_changes: ClusterChanges,
    projects: watch::Receiver<Projects>,
) -> anyhow::Result<Settings> {
    let mongodb = args.mongodb.settings(args.store.observe)?;
    let DataDir {
        store,
        contexts,
        cache,
        artifacts,
        argo_cm,
        remembered,
    } = DataDir::open_with(&args.data_dir, &args.store.settings()?)?;
    let limits = args.interpreter_limits.limits();
    let (interpreters, artifacts) = args.artifacts.sources(
        &args.interpreters,
        limits.component_bytes_max,
        args.replace_built_in,
        artifacts,
    )?;
    // Without the flag, it is empty: versions of an earlier start are removed.
    let catalogue = ArtifactArgs::catalogue(args.catalogue.references()?, &artifacts);
    let clusters = cluster_changes.borrow().clone();
    let registry = args.registry()?;
    let sharing = args.sharing.settings(args.store.is_own_etcd())?;
    let controllers = args.controllers()?;
    let interpreter_settings = args.interpreter_settings()?;
    let access = args.access.settings(&args.tls, &cluster_changes)?;
    Ok(Settings {
        store,
        contexts,
        mongodb,
        timeouts: args.timeouts(),
        metrics: args.metrics(),
        allowed_names: allowed_names(&args),
        notify: args.other_systems.receivers()?,
        outgoing: args.other_systems.destinations(),
        aai: args.other_systems.aai()?,
        remembered,
        cache: Some(cache),
        interpreters,
        artifacts: Some(artifacts),
        catalogue: Some(catalogue),
        argo_cm: args.argo_cm.map(|config_map| ArgoCm {
            config_map,
            kept: Some(argo_cm),
        }),
        replace_built_in: args.replace_built_in,
        interpreter_settings,
        clusters,
        cluster_changes: Some(cluster_changes),
        sharing,
        registry,
        replica_of: args.replica.settings(),
        parsed_bytes_max: args.interpreter_limits.parsed_bytes_max,
        kind_grace: args.kind_grace,
        audit_interval: args.audit_interval,
        listen: args.listen,
        access,
        insecure: args.access.insecure(),
        tls: args.tls.settings(),
        lifecycle: args.lifecycle,
        lifecycle_instances_kept: args.lifecycle_instances_kept.get(),
        lifecycle_retries_max: args.lifecycle_retries_max,
        projects,
        rsync_listen: args.rsync_listen,
        status_notify_listen: args.status_notify_listen,
        k8splugin: args.k8splugin.settings(),
        controllers,
        dialect: args.dialect,
        catalog_limits: args.interpreter_limits.catalog_limits(),
        rest_limits: args.rest_limits.limits(&limits),
        interpreter_limits: limits,
        on_loaded: progress::of_interpreters(),
    })
}

/// The names under which clients reach the server.
fn allowed_names(args: &ServeArgs) -> AllowedNames {
    AllowedNames {
        hosts: args.allowed_hosts.clone(),
        origins: args.allowed_origins.clone(),
    }
}
