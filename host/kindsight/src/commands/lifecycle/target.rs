//! The targets of the commands of the lifecycle: an application, or the network intents of a cluster.

use clap::Args;
use kindsight_model::{ClusterName, DigName};

use crate::cli::hint;
use crate::client::Server;
use crate::commands::status::subject::{self, Resolved};

/// An application, or the network intents of a cluster.
pub(super) struct Target {
    /// The full name.
    pub(super) name: String,
    /// The path on the server.
    pub(super) path: String,
}

/// The application or the cluster of a command.
#[derive(Debug, Args)]
pub(super) struct TargetArgs {
    /// Application, short or in full (`project/composite-app/version/deployment-intent-group`).
    #[arg(required_unless_present = "cluster", conflicts_with = "cluster")]
    subject: Option<String>,
    /// Cluster whose network intents are meant.
    #[arg(long, value_name = "PROVIDER+NAME")]
    cluster: Option<ClusterName>,
}

impl Target {
    pub(super) fn application(name: &DigName) -> Self {
        let DigName {
            project,
            composite_app,
            version,
            dig,
        } = name;
        Self {
            name: name.to_string(),
            path: format!(
                "/v2/projects/{project}/composite-apps/{composite_app}/{version}/deployment-intent-groups/{dig}"
            ),
        }
    }

    pub(super) fn network_intents(of: &ClusterName) -> Self {
        let ClusterName { provider, name } = of;
        Self {
            name: of.to_string(),
            path: format!("/v2/cluster-providers/{provider}/clusters/{name}/network-intents"),
        }
    }
}

impl TargetArgs {
    /// The target; `None` after a hint if several applications have the name.
    pub(super) fn find(&self, server: &Server) -> anyhow::Result<Option<Target>> {
        match &self.cluster {
            Some(cluster) => Ok(Some(Target::network_intents(cluster))),
            None => resolved(server, self.subject.as_deref().unwrap_or_default()),
        }
    }
}

/// The application with a name; `None` after a hint if several applications have the name.
pub(super) fn resolved(server: &Server, subject: &str) -> anyhow::Result<Option<Target>> {
    match subject::resolved(server, subject)? {
        Resolved::One(name) => Ok(Some(Target::application(&name.parse()?))),
        Resolved::Ambiguous(names) => {
            hint(&subject::ambiguous(subject, &names));
            Ok(None)
        }
    }
}
