//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::SignedDuration;
use kindsight_clusters::{KubeconfigError, KubernetesCluster, kubeconfig_clusters};
use kindsight_model::{BundleDialect, BundleFormat, ClusterName, NameError};
use kindsight_monitor::install::InstallOptions;
use kindsight_monitor::{
    BYTES_PER_SECOND, Credentials, MonitorIdentity, MonitorOptions, PushOptions, SPOOL_BYTES_MAX,
    WriteLimits,
};

use crate::logging::LogFormat;

/// Watches a cluster, and writes the report on each app into the ResourceBundleState of the app.
#[derive(Debug, Parser)]
#[command(
    name = "kindsight-monitor",
    version,
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Filter of the log, such as `warn` or `kindsight_monitor=debug`.
    #[arg(long, value_name = "FILTER", default_value = "info", global = true)]
    pub(crate) log: String,
    /// Format of log lines.
    #[arg(long, value_name = "FORMAT", default_value = "text", global = true)]
    pub(crate) log_format: LogFormat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Watches the cluster and writes reports. The default.
    Run(Box<RunArgs>),
    /// Shows the objects that the monitor needs in the cluster, and applies them.
    Install(InstallArgs),
}

/// The way to the API server.
#[derive(Debug, Clone, Args)]
pub(crate) struct ClusterArgs {
    /// Kubeconfig of the cluster [default: the service account of the Pod].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig [default: the current one].
    #[arg(long, value_name = "NAME", requires = "kubeconfig")]
    context: Option<String>,
}

/// The reason why the arguments cannot be followed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArgsError {
    #[error(transparent)]
    Kubeconfig(#[from] KubeconfigError),
    #[error(transparent)]
    Name(#[from] NameError),
}

impl ClusterArgs {
    /// The cluster, by the name that a server has for it.
    ///
    /// # Errors
    /// The kubeconfig cannot be read, or does not have the context.
    pub(crate) fn cluster(
        &self,
        name: Option<ClusterName>,
    ) -> Result<KubernetesCluster, ArgsError> {
        let name = match name {
            Some(name) => name,
            None => ClusterName::new("monitor", "cluster")?,
        };
        let Some(path) = &self.kubeconfig else {
            return Ok(KubernetesCluster::in_cluster(name));
        };
        // An unreadable file is reported now and not by retries.
        kubeconfig_clusters(path, self.context.as_deref())?;
        let context = self.context.clone();
        Ok(KubernetesCluster::from_kubeconfig(name, path, context))
    }
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    cluster: ClusterArgs,
    #[command(flatten)]
    push: PushArgs,
    /// Creates a ResourceBundleState for each app that only labels of objects name, and deletes it two minutes after the
    /// app. Without this flag, only senders create and delete ResourceBundleStates.
    #[arg(long)]
    create: bool,
    /// The form of the reports.
    #[arg(long, value_name = "DIALECT", default_value = "v22")]
    dialect: Dialect,
    /// Shortest time between two writes of one report, such as `1s`. The time grows with the size of the report.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = time)]
    write_interval_min: Duration,
    /// Bytes of reports that are written per second, on average.
    #[arg(long, value_name = "BYTES", default_value_t = BYTES_PER_SECOND)]
    bytes_per_second: u32,
    /// Time until a watch is renewed, such as `5m`. A renewal shows withdrawn permissions.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = time)]
    watch_lifetime: Duration,
    /// The name of this monitor in the logs of other monitors [default: the name of the host with a random part].
    #[arg(long, value_name = "NAME")]
    identity: Option<MonitorIdentity>,
}

/// The push to a server.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Push")]
struct PushArgs {
    /// Pushes the reports to this server: `https://host:port`.
    #[arg(long, value_name = "URL", requires = "cluster")]
    to: Option<String>,
    /// The name of the cluster on the server.
    #[arg(long, value_name = "PROVIDER+NAME")]
    cluster: Option<ClusterName>,
    /// File with the token of the agent.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tls_cert", "tls_key"])]
    token_file: Option<PathBuf>,
    /// PEM file with the client certificate of the agent.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// PEM file with the private key of this certificate.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// PEM file with the authorities of the server [default: the authorities of the system].
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Folder of the reports that the server has not taken yet.
    #[arg(long, value_name = "DIR", default_value = "/var/lib/kindsight-monitor")]
    spool: PathBuf,
    /// Limit of this folder in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = SPOOL_BYTES_MAX)]
    spool_bytes_max: u64,
}

impl PushArgs {
    /// The options of the push; none without a server.
    fn options(self, cluster: &ClusterName) -> Option<PushOptions> {
        let credentials = match (self.token_file, self.tls_cert, self.tls_key) {
            (Some(file), _, _) => Credentials::TokenFile(file),
            (None, Some(certificate), Some(key)) => Credentials::Certificate { certificate, key },
            _ => Credentials::None,
        };
        Some(PushOptions {
            to: self.to?,
            credentials,
            ca: self.ca,
            cluster: cluster.clone(),
            spool_dir: self.spool,
            spool_bytes_max: self.spool_bytes_max,
        })
    }
}

/// The generation of monitors whose form the reports have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Dialect {
    /// emco-base v22.
    V22,
    /// ONAP, with the lists of Ingresses and Secrets.
    Onap,
}

impl RunArgs {
    /// The options of the monitor.
    ///
    /// # Errors
    /// [`ArgsError`].
    pub(crate) fn options(self) -> Result<MonitorOptions, ArgsError> {
        let host = || std::env::var("HOSTNAME").unwrap_or_default();
        let cluster = self.cluster.cluster(self.push.cluster.clone())?;
        Ok(MonitorOptions {
            push: self.push.options(cluster.name()),
            cluster,
            identity: self
                .identity
                .unwrap_or_else(|| MonitorIdentity::of_process(&host())),
            may_create: self.create,
            watch_lifetime: self.watch_lifetime,
            format: BundleFormat {
                dialect: match self.dialect {
                    Dialect::V22 => BundleDialect::V22,
                    Dialect::Onap => BundleDialect::Onap,
                },
                ..BundleFormat::default()
            },
            limits: WriteLimits {
                interval_min: self.write_interval_min,
                bytes_per_second: self.bytes_per_second,
            },
        })
    }
}

#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct InstallArgs {
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
    /// Only shows the changes.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Makes the changes without a question.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    /// Grants read access to every Kind that the cluster serves now and that the built-in role does not name.
    #[arg(long)]
    grant_discovered: bool,
    /// Grants read access to Secrets. The monitor requests only their metadata.
    #[arg(long)]
    grant_secrets: bool,
    /// Takes over fields that another manager owns.
    #[arg(long)]
    force: bool,
    /// The image of the Deployment.
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    /// A further argument of the monitor in the Deployment, such as `--create`. Can be repeated.
    #[arg(long, value_name = "ARGUMENT", allow_hyphen_values = true)]
    argument: Vec<String>,
}

impl InstallArgs {
    /// The options of the installation.
    pub(crate) fn options(&self) -> InstallOptions {
        InstallOptions {
            grant_discovered: self.grant_discovered,
            grant_secrets: self.grant_secrets,
            force: self.force,
            image: self.image.clone(),
            arguments: self.argument.clone(),
        }
    }
}

/// Parses a time such as `1s` or `500ms`.
fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no time: write for example `1s` or `500ms`");
    let time: SignedDuration = text.parse().map_err(|_| wrong())?;
    Duration::try_from(time).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_command_is_run() {
        let cli = Cli::try_parse_from(["kindsight-monitor", "--create"]).unwrap();
        assert!(cli.command.is_none() && cli.run.create);
        let cli = Cli::try_parse_from(["kindsight-monitor", "run", "--dialect", "onap"]).unwrap();
        let Some(Command::Run(args)) = cli.command else {
            unreachable!("the command `run`");
        };
        assert_eq!(args.dialect, Dialect::Onap);
        assert_eq!(args.write_interval_min, Duration::from_secs(1));
        assert!(Cli::try_parse_from(["kindsight-monitor", "run", "--context", "a"]).is_err());
    }

    #[test]
    fn a_wrong_time_names_the_correct_form() {
        assert_eq!(time("250ms"), Ok(Duration::from_millis(250)));
        for text in ["", "1", "-1s", "soon"] {
            assert!(time(text).is_err_and(|why| why.contains("`1s`")), "{text}");
        }
    }
}
