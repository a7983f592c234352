//! Installation of the Kind `HealthScope` in a cluster, on request of an operator.

use kindsight_clusters::KubernetesCluster;
use kindsight_lifecycle::{InstalledDefinition, SendError, Sender as _, SentDefinition};
use tokio::task::spawn_blocking;

use crate::lifecycle::ConfiguredClusters;

/// The definition of the Kind.
const DEFINITION: &str = include_str!("../../../../deploy/health-scope-crd.yaml");
/// Its name.
const NAME: &str = "healthscopes.core.oam.dev";
/// Name under which the installation owns the definition.
const FIELD_MANAGER: &str = "kindsight-health-scope-install";

/// The reason why an installation fails.
#[derive(Debug, thiserror::Error)]
pub enum InstallDefinitionError {
    /// The API server does not answer.
    #[error("the API server does not answer: {0}")]
    Unreachable(String),
    /// The API server refuses a request.
    #[error("{0}; an administrator of the cluster installs definitions")]
    Refused(String),
    /// The installation panicked. The log contains the place.
    #[error("the installation panicked; see the log")]
    Panicked,
}

impl From<SendError> for InstallDefinitionError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Unreachable(why) => Self::Unreachable(why),
            SendError::Refused(why) => Self::Refused(why),
        }
    }
}

/// Installs the definition of the Kind `HealthScope`, or brings kindsight's definition up to date. Does not change a
/// definition of another origin.
///
/// # Errors
/// [`InstallDefinitionError`].
pub async fn install_health_scopes(
    cluster: &KubernetesCluster,
) -> Result<InstalledDefinition, InstallDefinitionError> {
    let name = cluster.name().clone();
    let sender = ConfiguredClusters::only(cluster.clone());
    let installing = spawn_blocking(move || {
        sender.install(&SentDefinition {
            cluster: &name,
            name: NAME,
            manifest: DEFINITION,
            manager: FIELD_MANAGER,
        })
    });
    let installed = installing.await;
    Ok(installed.map_err(|_| InstallDefinitionError::Panicked)??)
}
