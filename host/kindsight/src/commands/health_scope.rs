//! `kindsight health-scope`: the Kind HealthScope in clusters.

use std::io::Write as _;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use kindsight_server::clusters::{ClusterSource, WatchOptions};
use kindsight_server::{InstalledDefinition, install_health_scopes};

use crate::config::kubeconfig::KubeconfigArg;

/// `kindsight health-scope`.
#[derive(Debug, Clone, Args)]
pub(crate) struct HealthScopeArgs {
    #[command(subcommand)]
    command: HealthScopeCommand,
}

#[derive(Debug, Clone, Subcommand)]
enum HealthScopeCommand {
    /// Installs the definition of the Kind HealthScope in clusters. A definition of OAM's runtime is not changed.
    ///
    /// Needs the rights of an administrator of the cluster. `kindsight serve --health-scopes` then follows the scopes.
    Install(InstallArgs),
}

#[derive(Debug, Clone, Args)]
struct InstallArgs {
    /// Kubeconfig of the clusters; a context selects one of them.
    #[arg(
        long = "kubeconfig",
        env = "KINDSIGHT_KUBECONFIG",
        value_name = "FILE[:CONTEXT]",
        required = true
    )]
    kubeconfig: KubeconfigArg,
}

/// Runs the command.
pub(crate) fn run(args: &HealthScopeArgs) -> anyhow::Result<()> {
    let HealthScopeCommand::Install(args) = &args.command;
    let clusters = args.kubeconfig.clusters(&WatchOptions::default())?;
    if clusters.is_empty() {
        bail!("the kubeconfig has no context");
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    for source in clusters {
        let ClusterSource::Kubernetes(cluster) = source else {
            continue;
        };
        let installed = runtime.block_on(install_health_scopes(&cluster));
        let installed = installed.with_context(|| format!("cluster {}", cluster.name()))?;
        let text = match installed {
            InstalledDefinition::Own => "the Kind HealthScope is installed",
            InstalledDefinition::Kept => {
                "the cluster has a definition of the Kind HealthScope of another origin, which was not changed; kindsight fills its `status.scopeHealthCondition` and `status.healthConditions`"
            }
        };
        writeln!(std::io::stdout().lock(), "{}: {text}", cluster.name())?;
    }
    Ok(())
}
