//! Flags of access control.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use clap::Args;
use kindsight_model::ClusterName;
use kindsight_server::access::{AccessSettings, VerifyToken};
use kindsight_server::{ClusterChanges, Insecure, TokenReviews};

use super::oidc::OidcArgs;
use super::tls::TlsArgs;

/// Access control of the server.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Access control")]
pub(crate) struct AccessArgs {
    /// File that binds roles to users and groups; enables access control.
    ///
    /// The file is read again when it changes.
    #[arg(long, env = "KINDSIGHT_ROLES", value_name = "FILE")]
    roles: Option<PathBuf>,
    /// File of tokens that `kindsight token new` creates.
    ///
    /// The file is read again when it changes.
    #[arg(
        long,
        env = "KINDSIGHT_TOKENS",
        value_name = "FILE",
        requires = "roles"
    )]
    tokens: Option<PathBuf>,
    /// Watched cluster whose API server reviews tokens of Kubernetes.
    ///
    /// A token must have the audience `kindsight`.
    #[arg(
        long,
        env = "KINDSIGHT_TOKEN_REVIEW_CLUSTER",
        value_name = "PROVIDER+NAME",
        requires = "roles"
    )]
    token_review_cluster: Option<ClusterName>,
    /// Serves an address that other machines reach without TLS, behind a proxy that ends TLS. Prints a warning.
    #[arg(long, env = "KINDSIGHT_INSECURE_NO_TLS")]
    insecure_no_tls: bool,
    /// Serves an address that other machines reach without access control, behind a proxy that authenticates every
    /// client. Prints a warning.
    #[arg(long, env = "KINDSIGHT_INSECURE_NO_AUTH")]
    insecure_no_auth: bool,
    #[command(flatten)]
    pub(super) oidc: OidcArgs,
}

impl AccessArgs {
    /// Access control; `None` if it is not enabled. `clusters` are the configured clusters, as they change.
    ///
    /// # Errors
    /// A method cannot be used, or no method is configured.
    pub(crate) fn settings(
        &self,
        tls: &TlsArgs,
        clusters: &ClusterChanges,
    ) -> anyhow::Result<Option<AccessSettings>> {
        let Some(roles) = self.roles.clone() else {
            return Ok(None);
        };
        if self.methods(tls).is_empty() {
            bail!(
                "`roles` is set, but no method of authentication: set `tokens`, `oidc-issuer`, `token-review-cluster` or `tls-client-ca`"
            );
        }
        let mut verifiers: Vec<Arc<dyn VerifyToken>> = Vec::new();
        let mut code_flow = None;
        if let Some(oidc) = self.oidc.verifier()? {
            code_flow = self.oidc.code_flow(&oidc)?;
            verifiers.push(Arc::new(oidc));
        }
        // The last one, because it refuses every token that it does not know.
        if let Some(cluster) = &self.token_review_cluster {
            verifiers.push(Arc::new(TokenReviews::new(cluster, clusters)?));
        }
        Ok(Some(AccessSettings {
            roles,
            tokens: self.tokens.clone(),
            verifiers,
            code_flow,
        }))
    }

    /// The names of the enabled methods of authentication; none without access control.
    pub(crate) fn methods(&self, tls: &TlsArgs) -> Vec<&'static str> {
        let methods = [
            (self.tokens.is_some(), "tokens"),
            (self.oidc.is_enabled(), "OIDC"),
            (self.token_review_cluster.is_some(), "TokenReview"),
            (tls.has_client_ca(), "client certificates"),
        ];
        let enabled = methods.into_iter().filter(|(is_enabled, _)| *is_enabled);
        enabled.map(|(_, name)| name).collect()
    }

    /// The permitted ways to serve an address that other machines reach.
    pub(crate) fn insecure(&self) -> Insecure {
        Insecure {
            no_tls: self.insecure_no_tls,
            no_auth: self.insecure_no_auth,
        }
    }
}
