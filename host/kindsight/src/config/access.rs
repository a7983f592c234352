//! Flags of access control.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use kindsight_server::Insecure;
use kindsight_server::access::{AccessSettings, VerifyToken};

use super::oidc::OidcArgs;

/// Access control of the server.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Access control")]
pub(crate) struct AccessArgs {
    /// File that binds roles to users and groups; enables access control. Read again when it changes.
    #[arg(long, env = "KINDSIGHT_ROLES", value_name = "FILE")]
    roles: Option<PathBuf>,
    /// File of tokens that `kindsight token new` creates; read again when it changes.
    #[arg(
        long,
        env = "KINDSIGHT_TOKENS",
        value_name = "FILE",
        requires = "roles"
    )]
    tokens: Option<PathBuf>,
    #[command(flatten)]
    pub(super) oidc: OidcArgs,
    /// Serves an address that other machines reach without TLS, behind a proxy that ends TLS. Prints a warning.
    #[arg(long, env = "KINDSIGHT_INSECURE_NO_TLS")]
    insecure_no_tls: bool,
    /// Serves an address that other machines reach without access control, behind a proxy that authenticates every
    /// client. Prints a warning.
    #[arg(long, env = "KINDSIGHT_INSECURE_NO_AUTH")]
    insecure_no_auth: bool,
}

impl AccessArgs {
    /// Access control; `None` if it is not enabled.
    ///
    /// # Errors
    /// A method cannot be used.
    pub(crate) fn settings(&self) -> anyhow::Result<Option<AccessSettings>> {
        let Some(roles) = self.roles.clone() else {
            return Ok(None);
        };
        let oidc = self.oidc.verifier()?;
        let oidc = oidc.map(|oidc| Arc::new(oidc) as Arc<dyn VerifyToken>);
        Ok(Some(AccessSettings {
            roles,
            tokens: self.tokens.clone(),
            verifiers: oidc.into_iter().collect(),
        }))
    }

    /// The permitted ways to serve an address that other machines reach.
    pub(crate) fn insecure(&self) -> Insecure {
        Insecure {
            no_tls: self.insecure_no_tls,
            no_auth: self.insecure_no_auth,
        }
    }
}
