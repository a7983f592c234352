//! Configuration of `kindsight serve`: its flags, which are the only list of settings.

mod aai_table;
pub(crate) mod access;
mod application_table;
pub(crate) mod catalogue;
mod cluster_table;
mod controller_table;
pub(crate) mod etcd;
pub(crate) mod follow;
mod interpreter_table;
mod k8splugin;
pub(crate) mod kubeconfig;
mod limits;
pub(crate) mod mongodb;
mod notify_table;
mod oidc;
mod other_systems;
mod outgoing_table;
mod password;
mod project_table;
pub(crate) mod registry;
mod replica;
mod sharing;
pub(crate) mod store;
mod tls;
mod watch;

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, Args};
use kindsight_api::status::Dialect;
use kindsight_server::clusters::{ClusterSource, ConfigMapRef, Projects};
use kindsight_server::grpc::Controllers;
use kindsight_server::rest::{AllowedHost, AllowedOrigin};
use kindsight_server::{LogFormat, MetricsSettings, RegistrySettings, SettingsByName, Timeouts};

use crate::config::access::AccessArgs;
use crate::config::application_table::{ApplicationTable, applications};
use crate::config::catalogue::CatalogueArgs;
use crate::config::cluster_table::ClusterTable;
use crate::config::controller_table::{ControllerTable, controllers};
use crate::config::interpreter_table::{InterpreterTable, interpreter_settings};
use crate::config::k8splugin::K8spluginArgs;
use crate::config::kubeconfig::KubeconfigArg;
use crate::config::limits::{InterpreterArgs, RestArgs};
use crate::config::mongodb::MongodbArgs;
use crate::config::other_systems::OtherSystemsArgs;
use crate::config::project_table::{ProjectTable, projects};
use crate::config::registry::{ArtifactArgs, InterpreterSource, interpreter_source};
use crate::config::replica::ReplicaArgs;
use crate::config::sharing::SharingArgs;
use crate::config::store::StoreArgs;
use crate::config::tls::TlsArgs;
use crate::config::watch::WatchArgs;

/// Flags that `serve --help` shows: the flags that a new user needs first, on one screen of 80 columns and 40 lines.
/// `serve --help-limits` shows all flags.
const FIRST: [&str; 10] = [
    "config",
    "data-dir",
    "kubeconfig",
    "listen",
    "roles",
    "tokens",
    "tls-cert",
    "tls-key",
    "help",
    "help-limits",
];

/// Data folder of a server without `--data-dir`.
pub(crate) const DATA_DIR: &str = "kindsight-data";

/// `kindsight serve`.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    mut_args = in_help,
    after_help = "\
Every setting can be a flag (--data-dir), an environment variable
(KINDSIGHT_DATA_DIR), or a key of the --config file (data-dir; a flag that can
be repeated is a list). Precedence: flag, environment variable, file, default.

Examples:
  kindsight serve --kubeconfig ~/.kube/config
  kindsight serve --config /etc/kindsight/kindsight.toml"
)]
pub(crate) struct ServeArgs {
    /// Prints the settings that a new user needs first.
    #[arg(short, long, action = ArgAction::HelpShort)]
    help: Option<bool>,
    /// Prints all settings, with all limits.
    #[arg(long, action = ArgAction::HelpLong)]
    help_limits: Option<bool>,
    /// Configuration file (TOML).
    #[arg(long, env = "KINDSIGHT_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Directory of the store, the compiled interpreters and the last-known state.
    ///
    /// It is created if it does not exist. --store sets another place for the store.
    #[arg(
        long,
        env = "KINDSIGHT_DATA_DIR",
        value_name = "DIR",
        default_value = DATA_DIR
    )]
    pub(crate) data_dir: PathBuf,
    /// Cluster whose reports are the files of a directory; can be repeated.
    ///
    /// The files (`*.json`) are ResourceBundleState resources.
    #[arg(
        long = "cluster",
        env = "KINDSIGHT_CLUSTER",
        value_name = "PROVIDER+NAME=DIR",
        value_delimiter = ','
    )]
    pub(crate) clusters: Vec<ClusterSource>,
    /// A `[[cluster]]` of the configuration file, as JSON.
    #[arg(long = "cluster-table", hide = true, value_name = "JSON")]
    pub(crate) cluster_tables: Vec<ClusterTable>,
    /// An `[[application]]` of the configuration file, as JSON.
    #[arg(long = "application-table", hide = true, value_name = "JSON")]
    pub(crate) application_tables: Vec<ApplicationTable>,
    /// A `[[project]]` of the configuration file, as JSON.
    #[arg(long = "project-table", hide = true, value_name = "JSON")]
    pub(crate) project_tables: Vec<ProjectTable>,
    /// A `[[controller]]` of the configuration file, as JSON.
    #[arg(long = "controller-table", hide = true, value_name = "JSON")]
    pub(crate) controller_tables: Vec<ControllerTable>,
    #[command(flatten)]
    pub(crate) other_systems: OtherSystemsArgs,
    /// An `[[interpreter]]` of the configuration file, as JSON.
    #[arg(long = "interpreter-table", hide = true, value_name = "JSON")]
    pub(crate) interpreter_tables: Vec<InterpreterTable>,
    /// Kubeconfig of clusters to watch; can be repeated.
    ///
    /// Without a context, kindsight watches the clusters of all its contexts. A context is the cluster `kubeconfig+<context>`.
    #[arg(
        long = "kubeconfig",
        env = "KINDSIGHT_KUBECONFIG",
        value_name = "FILE[:CONTEXT]",
        value_delimiter = ','
    )]
    pub(crate) kubeconfigs: Vec<KubeconfigArg>,
    /// Time for which a deleted object of an application that was found by its labels is listed as gone, such as
    /// `10m`.
    #[arg(long, env = "KINDSIGHT_GONE_FOR", value_name = "TIME", value_parser = duration, default_value = "10m")]
    pub(crate) gone_for: Duration,
    /// Time after which a changed manifest counts as confirmed although the status stays the same, such as `10m`.
    ///
    /// An object that is reported without its spec is Pending (`NotConfirmed`) until its status changes. By default this
    /// has no end. A status with `observedGeneration` is never confirmed by time.
    #[arg(long, env = "KINDSIGHT_CONFIRMATION_TIMEOUT", value_name = "TIME", value_parser = duration)]
    pub(crate) confirmation_timeout: Option<Duration>,
    /// Time after the start of a cluster for which each Kind that it has not answered for makes its applications
    /// stale, such as `60s`. Afterwards such a Kind is listed as not answered. `GET /readyz` waits as long.
    #[arg(long, env = "KINDSIGHT_KIND_GRACE", value_name = "TIME", value_parser = duration, default_value = "60s")]
    pub(crate) kind_grace: Duration,
    /// Average time between two samples of the audit of watched clusters, such as `60s`; with `0s`, there is no audit.
    /// A sample compares at most 500 objects of one cluster with its API server. A Kind that differs is listed again.
    #[arg(long, env = "KINDSIGHT_AUDIT_INTERVAL", value_name = "TIME", value_parser = duration, default_value = "60s")]
    pub(crate) audit_interval: Duration,
    /// Directory of interpreters (`*.wasm`) to watch, or an artifact: `oci://HOST/REPOSITORY:TAG`, optionally with
    /// `@sha256:…`, or `oci-layout:PATH[:TAG]`. Can be repeated, with at most one directory.
    ///
    /// A file that is added goes live, a file that is deleted is unloaded. An artifact is pulled at the start, and
    /// with --interpreters-follow again when its tag moves. An interpreter in an artifact overrides a built-in one of
    /// the same name; one in the directory overrides both, and an uploaded one overrides all.
    #[arg(
        long,
        env = "KINDSIGHT_INTERPRETERS",
        value_name = "DIR|REFERENCE",
        value_parser = interpreter_source,
        value_delimiter = ','
    )]
    pub(crate) interpreters: Vec<InterpreterSource>,
    /// ConfigMap of a running Argo CD in a watched cluster, whose health scripts are used and followed, such as
    /// `kubeconfig+edge01/argocd/argocd-cm`.
    ///
    /// Its rules come before the built-in ones, also those with wildcards. The last good version of a script that is
    /// broken is kept. An interpreter of --interpreters or an uploaded one overrides the rules for the same Kind.
    #[arg(long, env = "KINDSIGHT_ARGO_CM", value_name = "CLUSTER/NAMESPACE/NAME")]
    pub(crate) argo_cm: Option<ConfigMapRef>,
    /// Lets a file or an artifact of --interpreters take the name of a built-in interpreter although it does not judge all of
    /// its Kinds; they fall back to a more general interpreter.
    #[arg(long, env = "KINDSIGHT_REPLACE_BUILT_IN")]
    pub(crate) replace_built_in: bool,
    /// Address to listen on.
    ///
    /// Port 0 picks a free port.
    #[arg(long, env = "KINDSIGHT_LISTEN", value_name = "ADDRESS", value_parser = address, default_value = "127.0.0.1:9015")]
    pub(crate) listen: SocketAddr,
    /// Additional address that answers only `/metrics` and `/healthz`, for Prometheus; without access control. Port 0
    /// picks a free port.
    #[arg(long, env = "KINDSIGHT_METRICS_LISTEN", value_name = "ADDRESS", value_parser = address)]
    pub(crate) metrics_listen: Option<SocketAddr>,
    /// Adds a metric with the name and the phase of each application. Every reader of the metrics sees the names.
    #[arg(long, env = "KINDSIGHT_METRICS_APPLICATIONS")]
    pub(crate) metrics_applications: bool,
    /// Host name of the server, in addition to localhost and its own addresses; can be repeated.
    ///
    /// Requests under any other name are refused. With a port for that port alone; `*` for any name, behind a proxy
    /// that checks.
    #[arg(
        long = "allowed-host",
        env = "KINDSIGHT_ALLOWED_HOST",
        value_name = "HOST",
        value_delimiter = ','
    )]
    pub(crate) allowed_hosts: Vec<AllowedHost>,
    /// Origin (`https://name`) of pages that may send changes, in addition to the server's own pages; can be
    /// repeated.
    #[arg(
        long = "allowed-origin",
        env = "KINDSIGHT_ALLOWED_ORIGIN",
        value_name = "ORIGIN",
        value_delimiter = ','
    )]
    pub(crate) allowed_origins: Vec<AllowedOrigin>,
    /// Lets clients create, approve, instantiate, update and terminate applications. Without access control, every listener must
    /// be a loopback address.
    #[arg(long, env = "KINDSIGHT_LIFECYCLE")]
    pub(crate) lifecycle: bool,
    /// Number of instances of an application that --lifecycle keeps. A rollback can return to a kept instance.
    #[arg(
        long,
        env = "KINDSIGHT_LIFECYCLE_INSTANCES_KEPT",
        value_name = "NUMBER",
        default_value = "10"
    )]
    pub(crate) lifecycle_instances_kept: NonZeroUsize,
    /// Number of retries in succession after which --lifecycle gives up on an app in an unreachable cluster. Its resources
    /// are then Failed. By default, there is no limit.
    #[arg(long, env = "KINDSIGHT_LIFECYCLE_RETRIES_MAX", value_name = "NUMBER")]
    pub(crate) lifecycle_retries_max: Option<u32>,
    /// Additional address that serves the gRPC of EMCO's rsync (`installapp`), for an orchestrator that writes its
    /// `AppContext`s into --store. Needs --lifecycle.
    ///
    /// It must be a loopback address, where every local client may install applications, unless --tls-client-ca and
    /// --roles are set: then each client needs a certificate with the role `deployer`. Port 0 picks a free port.
    #[arg(long, env = "KINDSIGHT_RSYNC_LISTEN", value_name = "ADDRESS", value_parser = address)]
    pub(crate) rsync_listen: Option<SocketAddr>,
    /// Additional address that serves EMCO's `StatusNotify` over gRPC, which notifies clients of statuses.
    ///
    /// It must be a loopback address, where every local client sees every status, unless --tls-client-ca and --roles
    /// are set: then each client needs a certificate with the role `viewer`. Port 0 picks a free port.
    #[arg(long, env = "KINDSIGHT_STATUS_NOTIFY_LISTEN", value_name = "ADDRESS", value_parser = address)]
    pub(crate) status_notify_listen: Option<SocketAddr>,
    /// Wire dialect of answers to status queries: the dialect of the specification, or the dialect of EMCO up to
    /// v22.09 for its own clients. A request can select the other dialect.
    #[arg(long, env = "KINDSIGHT_DIALECT", value_parser = dialect(), default_value = Dialect::default().as_str())]
    pub(crate) dialect: Dialect,
    /// Log level (`error`, `warn`, `info`, `debug`), or a filter by module.
    #[arg(long, env = "KINDSIGHT_LOG", default_value = "info")]
    pub(crate) log: String,
    /// Format of log lines.
    #[arg(long, env = "KINDSIGHT_LOG_FORMAT", value_parser = log_format(), default_value = "text")]
    pub(crate) log_format: LogFormat,
    // The headings of these groups apply to all flags after them.
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    #[command(flatten)]
    pub(crate) sharing: SharingArgs,
    #[command(flatten)]
    pub(crate) mongodb: MongodbArgs,
    #[command(flatten)]
    pub(crate) replica: ReplicaArgs,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    #[command(flatten)]
    pub(crate) tls: TlsArgs,
    #[command(flatten)]
    pub(crate) watch: WatchArgs,
    #[command(flatten)]
    pub(crate) k8splugin: K8spluginArgs,
    #[command(flatten)]
    pub(crate) artifacts: ArtifactArgs,
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArgs,
    #[command(flatten)]
    pub(crate) interpreter_limits: InterpreterArgs,
    #[command(flatten)]
    pub(crate) rest_limits: RestArgs,
}

impl ServeArgs {
    /// The controllers. Reads their files of TLS.
    ///
    /// # Errors
    /// A table is invalid, or another setting that controllers need is missing.
    pub(crate) fn controllers(&self) -> anyhow::Result<Controllers> {
        controllers(
            &self.controller_tables,
            self.store.is_own_etcd(),
            self.lifecycle,
        )
    }

    /// The settings of interpreters that the configuration declares.
    ///
    /// # Errors
    /// A name has two tables, or there are too many tables.
    pub(crate) fn interpreter_settings(&self) -> anyhow::Result<SettingsByName> {
        interpreter_settings(&self.interpreter_tables)
    }

    /// The settings of clusters that operators register.
    ///
    /// # Errors
    /// A table is invalid, or this process does not run in a Pod.
    pub(crate) fn registry(&self) -> anyhow::Result<RegistrySettings> {
        let applications = applications(&self.application_tables).map_err(anyhow::Error::msg)?;
        let has_k8splugin = self.k8splugin.is_enabled();
        let settings = self.watch.registry(applications, has_k8splugin);
        settings.context("cluster-secrets")
    }

    /// The configured clusters. Reads kubeconfigs.
    ///
    /// # Errors
    /// A kubeconfig cannot be read, or a table is invalid.
    pub(crate) fn sources(&self) -> anyhow::Result<Vec<ClusterSource>> {
        let options = self.watch.options(self.k8splugin.is_enabled());
        let mut clusters = self.clusters.clone();
        for table in &self.cluster_tables {
            let source = table.source(&options);
            clusters.push(source.map_err(anyhow::Error::msg)?);
        }
        for kubeconfig in &self.kubeconfigs {
            clusters.extend(kubeconfig.clusters(&options)?);
        }
        let applications = applications(&self.application_tables).map_err(anyhow::Error::msg)?;
        let clusters = clusters.into_iter();
        let clusters = clusters.map(|cluster| cluster.with_applications(&applications));
        Ok(clusters.collect())
    }

    /// Times after which waits of applications end.
    pub(crate) fn timeouts(&self) -> Timeouts {
        Timeouts {
            gone_for: self.gone_for,
            confirmation: self.confirmation_timeout,
        }
    }

    /// The settings of the metrics.
    pub(crate) fn metrics(&self) -> MetricsSettings {
        MetricsSettings {
            listen: self.metrics_listen,
            names_applications: self.metrics_applications,
        }
    }

    /// The rights of projects.
    pub(crate) fn projects(&self) -> Projects {
        projects(&self.project_tables)
    }
}

/// Shows a flag in `serve --help` if it is one of [`FIRST`]. One sentence of the help states the environment variables
/// of all flags.
fn in_help(flag: Arg) -> Arg {
    let is_first = flag.get_long().is_some_and(|long| FIRST.contains(&long));
    flag.hide_short_help(!is_first).hide_env(true)
}

/// Parser of an address to listen on.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    let right = "expected IP:PORT, such as `127.0.0.1:9015`, or `0.0.0.0:9015` for all addresses";
    text.parse().map_err(|_| right.to_owned())
}

/// Parser of a time span with its unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let span = text.parse::<jiff::SignedDuration>().ok();
    span.and_then(|span| Duration::try_from(span).ok())
        .ok_or_else(|| "expected a time with its unit, such as `90s`, `10m` or `1h`".to_owned())
}

fn dialect() -> impl TypedValueParser<Value = Dialect> {
    let words = Dialect::ALL.iter().map(|dialect| dialect.as_str());
    PossibleValuesParser::new(words).map(|word| {
        let mut known = Dialect::ALL.iter().copied();
        known
            .find(|dialect| dialect.as_str() == word)
            .unwrap_or_default()
    })
}

fn log_format() -> impl TypedValueParser<Value = LogFormat> {
    PossibleValuesParser::new(LogFormat::NAMES).try_map(|name| name.parse::<LogFormat>())
}

#[cfg(test)]
mod tests;
