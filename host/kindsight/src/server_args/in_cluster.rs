//! The options that name a server in a cluster.

use std::path::PathBuf;

use clap::Args;
use kindsight_server::clusters::{NamespacedName, ServiceName};

use crate::client::{ClusterRoute, KubeContext};
use crate::kubectl;

/// The server in a cluster, which is reached through the API server of the cluster.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Server in a cluster")]
pub(super) struct InClusterArgs {
    /// Reaches the server through the API server of its cluster: the Service, and the name or the number of its port
    /// [default of `kubectl kindsight`: the Service with the label `app.kubernetes.io/name=kindsight`].
    #[arg(
        long,
        value_name = "NAMESPACE/NAME[:PORT]",
        global = true,
        env = "KINDSIGHT_SERVICE"
    )]
    service: Option<ServiceName>,
    /// Kubeconfig of this cluster [default: the file of `kubectl`].
    #[arg(long, value_name = "FILE", global = true)]
    kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig [default: the current one].
    #[arg(long, value_name = "NAME", global = true)]
    context: Option<String>,
    /// Sends a token of this `ServiceAccount`, which the API server issues for the audience `kindsight`.
    #[arg(
        long,
        value_name = "NAMESPACE/NAME",
        global = true,
        conflicts_with = "token_file"
    )]
    pub(super) as_service_account: Option<NamespacedName>,
}

impl InClusterArgs {
    /// Returns whether the server is reached through the API server of its cluster.
    pub(super) fn are_used(&self) -> bool {
        kubectl::is_plugin()
            || self.service.is_some()
            || self.kubeconfig.is_some()
            || self.context.is_some()
            || self.as_service_account.is_some()
    }

    /// Finds the server.
    ///
    /// # Errors
    /// See [`ClusterRoute::find`].
    pub(super) fn route(&self) -> anyhow::Result<std::sync::Arc<ClusterRoute>> {
        let of = KubeContext {
            kubeconfig: self.kubeconfig.clone(),
            context: self.context.clone(),
        };
        ClusterRoute::find(of, self.service.as_ref())
    }
}
