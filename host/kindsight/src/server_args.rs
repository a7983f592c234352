//! The options that name a server and a credential.

mod in_cluster;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;

use crate::client::{Connection, Server, ServiceAccountToken, TlsFiles, Token, TokenSource};
use crate::client_config::{ClientConfig, NamedServer};
use crate::kubectl;
use crate::login::Login;
use in_cluster::InClusterArgs;

/// The URL without any setting.
const DEFAULT_URL: &str = "http://127.0.0.1:9015";

/// The variable with a token.
const TOKEN: &str = "KINDSIGHT_TOKEN";

/// The variable with the path of a file with a token.
const TOKEN_FILE: &str = "KINDSIGHT_TOKEN_FILE";

/// The server that a command asks, and the credential for it.
///
/// Precedence: flag, environment, named server of the client configuration, default.
#[derive(Debug, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServerArgs {
    /// URL of the server, or the name of a server in the client configuration
    /// (`~/.config/kindsight/config.toml`, or the file of `KINDSIGHT_CLIENT_CONFIG`) [default: its `default-server`,
    /// else `http://127.0.0.1:9015`].
    #[arg(long, value_name = "URL|NAME", global = true, env = "KINDSIGHT_SERVER")]
    server: Option<String>,
    #[command(flatten)]
    credential: CredentialArgs,
    #[command(flatten)]
    in_cluster: InClusterArgs,
}

/// The credential for a server, and the authorities of its certificate.
#[derive(Debug, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct CredentialArgs {
    /// File with the token to send [env: `KINDSIGHT_TOKEN_FILE`, or the token itself in `KINDSIGHT_TOKEN`].
    #[arg(long, value_name = "FILE", global = true)]
    token_file: Option<PathBuf>,
    /// PEM file with the authorities that may sign the server's certificate, instead of the system's authorities.
    #[arg(long, value_name = "FILE", global = true, env = "KINDSIGHT_CA")]
    ca: Option<PathBuf>,
    /// PEM file with the TLS certificate to show to the server.
    #[arg(
        long,
        value_name = "FILE",
        global = true,
        env = "KINDSIGHT_CLIENT_CERT"
    )]
    client_cert: Option<PathBuf>,
    /// PEM file with the private key of that certificate.
    #[arg(long, value_name = "FILE", global = true, env = "KINDSIGHT_CLIENT_KEY")]
    client_key: Option<PathBuf>,
}

/// The credential that the environment sets.
#[derive(Debug, Default)]
struct Environment {
    token: Option<String>,
    token_file: Option<PathBuf>,
}

impl Environment {
    fn read() -> Self {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        Self {
            // Text that is not UTF-8 is refused as a token later.
            token: set(TOKEN).map(|token| token.to_string_lossy().into_owned()),
            token_file: set(TOKEN_FILE).map(PathBuf::from),
        }
    }
}

impl ServerArgs {
    /// Prepares the connection to the server. Reads the client configuration, and the files for TLS.
    ///
    /// # Errors
    /// The configuration or a file is unusable, no server has the name, or a token would be sent without TLS.
    pub(crate) fn connect(&self) -> anyhow::Result<Server> {
        let config = ClientConfig::read()?;
        if self.in_cluster.are_used() {
            return self.connect_in_cluster(&config, Environment::read());
        }
        let server = self.server.as_deref();
        let credential = &self.credential;
        Server::new(credential.connection(server, &config, Environment::read())?)
    }

    /// Finds the server in a cluster. A named server gives only its credential, and only if it is named for this command:
    /// the credential of the default server may be meant for another cluster.
    fn connect_in_cluster(
        &self,
        config: &ClientConfig,
        environment: Environment,
    ) -> anyhow::Result<Server> {
        let named = match self.server.as_deref() {
            Some(url) if url.contains("://") => anyhow::bail!(
                "--server {url} reaches a server directly, and {command} or its options reach it through the API server of a cluster; `kindsight --server` without these options connects directly",
                command = kubectl::COMMAND
            ),
            Some(name) => Some((name, config.server(name)?)),
            None => None,
        };
        let given = self.credential.given_token(environment)?;
        let route = self.in_cluster.route()?;
        let token = match (&self.in_cluster.as_service_account, given, named) {
            (Some(account), ..) => {
                let token = ServiceAccountToken::new(Arc::clone(&route), account.clone());
                TokenSource::ServiceAccount(Arc::new(token))
            }
            (None, Some(token), _) => token,
            (None, None, Some((name, named))) => of_named(name, named)?,
            (None, None, None) => TokenSource::None,
        };
        Ok(Server::in_cluster(route, token))
    }
}

impl CredentialArgs {
    /// Prepares the connection to the server with this URL or name.
    ///
    /// # Errors
    /// As for [`ServerArgs::connect`].
    pub(crate) fn connect(&self, server: &str) -> anyhow::Result<Server> {
        let config = ClientConfig::read()?;
        Server::new(self.connection(Some(server), &config, Environment::read())?)
    }

    /// The connection to the server with this URL or name, or to the default server.
    fn connection(
        &self,
        server: Option<&str>,
        config: &ClientConfig,
        environment: Environment,
    ) -> anyhow::Result<Connection> {
        let (name, named) = match server.or(config.default_server()) {
            Some(name) if !name.contains("://") => (Some(name), config.server(name)?.clone()),
            url => (None, NamedServer::at(url.unwrap_or(DEFAULT_URL))),
        };
        let given = self.given_token(environment)?;
        let token = match (given, name) {
            (Some(token), _) => token,
            (None, Some(name)) => of_named(name, &named)?,
            (None, None) => TokenSource::None,
        };
        let is_given = self.client_cert.is_some() || self.client_key.is_some();
        let (client_cert, client_key) = if is_given {
            (self.client_cert.clone(), self.client_key.clone())
        } else {
            (named.client_cert, named.client_key)
        };
        Ok(Connection {
            url: named.url,
            tls: TlsFiles {
                ca: self.ca.clone().or(named.ca),
                client_cert,
                client_key,
            },
            token,
            login_name: named.oidc.and(name).map(str::to_owned),
        })
    }

    /// The token that the command line or the environment sets.
    fn given_token(&self, environment: Environment) -> anyhow::Result<Option<TokenSource>> {
        if let Some(file) = &self.token_file {
            return Ok(Some(TokenSource::file(file.clone())));
        }
        match environment {
            Environment {
                token: Some(_),
                token_file: Some(_),
            } => anyhow::bail!("both {TOKEN} and {TOKEN_FILE} are set; set one of them"),
            Environment {
                token: Some(token), ..
            } => {
                let token = Token::parse(&token).with_context(|| format!("read {TOKEN}"))?;
                Ok(Some(TokenSource::Environment(token)))
            }
            Environment { token_file, .. } => Ok(token_file.map(TokenSource::file)),
        }
    }
}

/// The token of a named server: its file, or the login to it.
fn of_named(name: &str, named: &NamedServer) -> anyhow::Result<TokenSource> {
    match (&named.token_file, &named.oidc) {
        (Some(file), _) => Ok(TokenSource::file(file.clone())),
        (None, Some(oidc)) => {
            let login = Login::load(name, oidc)?.map(Arc::new);
            Ok(login.map_or(TokenSource::None, TokenSource::Login))
        }
        (None, None) => Ok(TokenSource::None),
    }
}

#[cfg(test)]
mod tests;
