//! `kindsight login` and `kindsight logout`: the login at the OIDC issuer of a named server.

use anyhow::Context as _;
use clap::Args;

use crate::cli::hint;
use crate::client_config::{ClientConfig, OidcClient};
use crate::login::{self, DeviceCode};

/// `kindsight login`, `kindsight logout`.
#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    /// Name of a server in the client configuration [default: its `default-server`].
    #[arg(long, value_name = "NAME", env = "KINDSIGHT_SERVER")]
    server: Option<String>,
}

impl LoginArgs {
    /// The name of the server.
    fn server<'a>(&'a self, config: &'a ClientConfig) -> anyhow::Result<&'a str> {
        let name = self.server.as_deref().or(config.default_server());
        name.context("--server needs the name of a server in the client configuration, which has no `default-server`")
    }
}

/// Logs in: shows a code, and waits until the user has approved the code in a browser.
///
/// # Errors
/// The server has no issuer, the issuer cannot be reached, or the user refuses or is too late.
pub(crate) fn log_in(args: &LoginArgs) -> anyhow::Result<()> {
    let config = ClientConfig::read()?;
    let name = args.server(&config)?;
    let tokens = login::log_in(name, issuer(&config, name)?, show)?;
    let (user, expires) = (&tokens.user, tokens.expires);
    hint(&format!(
        "logged in to `{name}` as {user}; the ID token is valid until {expires}"
    ));
    Ok(())
}

/// Removes the tokens of the login, and revokes the refresh token at the issuer. If the issuer does not revoke it, prints
/// a warning.
///
/// # Errors
/// No server has the name, or the file cannot be removed.
pub(crate) fn log_out(args: &LoginArgs) -> anyhow::Result<()> {
    let config = ClientConfig::read()?;
    let name = args.server(&config)?;
    let client = config.server(name)?.oidc.as_ref();
    let result = login::log_out(name, client)?;
    if let Some(error) = result.not_revoked {
        hint(&format!(
            "warning: the refresh token was removed from this machine, but not revoked at the issuer: {error:#}"
        ));
    }
    let outcome = if result.was_logged_in {
        "logged out of"
    } else {
        "there is no login to"
    };
    hint(&format!("{outcome} `{name}`"));
    Ok(())
}

fn issuer<'a>(config: &'a ClientConfig, name: &str) -> anyhow::Result<&'a OidcClient> {
    config.server(name)?.oidc.as_ref().with_context(|| {
        format!(
            "the server `{name}` has no issuer in the client configuration; expected a table `[servers.{name}.oidc]` with `issuer` and `client-id`"
        )
    })
}

fn show(code: &DeviceCode) {
    let DeviceCode {
        user_code,
        verification_uri,
        ..
    } = code;
    hint(&format!(
        "open {verification_uri} in a browser and enter the code {user_code}"
    ));
    if let Some(complete) = &code.verification_uri_complete {
        hint(&format!("or open {complete}"));
    }
}
