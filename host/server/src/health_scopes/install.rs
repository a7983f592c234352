//! Installation of the Kind `HealthScope` in a cluster, on request of an operator.

use kindsight_clusters::{
    ApiAnswer, ApiRequest, ApiServer, ApiVerb, KubernetesCluster, ObjectError,
};
use serde_json::Value;

/// The definition of the Kind.
const DEFINITION: &str = include_str!("../../../../deploy/health-scope-crd.yaml");
/// Its path.
const PATH: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/healthscopes.core.oam.dev";
/// Name under which the installation owns the definition.
const FIELD_MANAGER: &str = "kindsight-health-scope-install";

/// The result of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstalledDefinition {
    /// The definition is kindsight's.
    Own,
    /// The cluster has a definition of another origin, such as OAM's runtime. The installation changed nothing.
    Kept,
}

/// The reason why an installation fails.
#[derive(Debug, thiserror::Error)]
pub enum InstallDefinitionError {
    /// The API server does not answer.
    #[error("the API server does not answer: {0}")]
    Unreachable(#[from] ObjectError),
    /// The API server refuses a request.
    #[error(
        "the API server answers {code}: {message}; an administrator of the cluster installs definitions"
    )]
    Refused {
        /// The status code.
        code: u16,
        /// The message of the server.
        message: String,
    },
}

/// Installs the definition of the Kind `HealthScope`, or brings kindsight's definition up to date. Does not change a
/// definition of another origin.
///
/// # Errors
/// [`InstallDefinitionError`].
pub async fn install_health_scopes(
    cluster: &KubernetesCluster,
) -> Result<InstalledDefinition, InstallDefinitionError> {
    let server = ApiServer::new(cluster);
    let present = server
        .send(&ApiRequest {
            verb: ApiVerb::Get,
            path: PATH,
            is_metadata_enough: true,
            body: "",
        })
        .await?;
    match present.code {
        404 => {}
        200..300 if is_own(&present) => {}
        200..300 => return Ok(InstalledDefinition::Kept),
        _ => return Err(refused(present)),
    }
    let applied = server
        .send(&ApiRequest {
            verb: ApiVerb::Apply,
            path: &format!("{PATH}?fieldManager={FIELD_MANAGER}&force=true"),
            is_metadata_enough: true,
            // An application may be YAML.
            body: DEFINITION,
        })
        .await?;
    if applied.is_success() {
        Ok(InstalledDefinition::Own)
    } else {
        Err(refused(applied))
    }
}

/// Returns whether an earlier installation made a definition.
fn is_own(definition: &ApiAnswer) -> bool {
    let definition: Value = serde_json::from_slice(&definition.body).unwrap_or_default();
    let managers = definition.pointer("/metadata/managedFields");
    let mut managers = managers.and_then(Value::as_array).into_iter().flatten();
    managers.any(|entry| entry.get("manager").and_then(Value::as_str) == Some(FIELD_MANAGER))
}

fn refused(answer: ApiAnswer) -> InstallDefinitionError {
    InstallDefinitionError::Refused {
        code: answer.code,
        message: answer.message,
    }
}
