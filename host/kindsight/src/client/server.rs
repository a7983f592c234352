//! The connection of a command to a server: URL, TLS and token.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use ureq::config::ConfigBuilder;
use ureq::http::{self, HeaderName, Uri, header};
use ureq::typestate::AgentScope;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector as _, DefaultConnector};
use ureq::{AsSendBody, RequestExt as _};

use super::cluster_route::ClusterRoute;
use super::early_answers::EarlyAnswers;
use super::tls::{self, TlsFiles};
use super::token::TokenSource;

/// The header for a token behind an API server, which removes `Authorization`.
const TOKEN_HEADER: HeaderName = HeaderName::from_static("kindsight-token");

/// A server that a command asks. Clones share connections.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    url: String,
    route: Route,
    token: TokenSource,
    has_certificate: bool,
    /// The name with which `kindsight login` works.
    login_name: Option<String>,
}

/// The way to a server.
#[derive(Debug, Clone)]
enum Route {
    Direct(ureq::Agent),
    Cluster(Arc<ClusterRoute>),
}

/// Settings of a connection to a server.
#[derive(Debug, Default)]
pub(crate) struct Connection {
    pub(crate) url: String,
    pub(crate) tls: TlsFiles,
    pub(crate) token: TokenSource,
    /// The name of the server, if the server has an issuer for `kindsight login`.
    pub(crate) login_name: Option<String>,
}

/// Time limits of a request.
#[derive(Debug, Clone, Copy)]
pub(super) enum Deadline {
    /// Until the last byte of the answer.
    Answer(Duration),
    /// Until the head of the answer.
    Head(Duration),
}

impl Server {
    /// Prepares the connection. Reads the files for TLS.
    ///
    /// # Errors
    /// The URL is invalid, a file is unusable, or a token would be sent without TLS.
    pub(crate) fn new(connection: Connection) -> anyhow::Result<Self> {
        let Connection {
            url,
            tls,
            token,
            login_name,
        } = connection;
        let uri = parsed(&url)?;
        let is_plain = uri.scheme_str() == Some("http");
        let host = uri.host().unwrap_or_default();
        anyhow::ensure!(
            !is_plain || !token.is_some() || is_loopback(host),
            "{token} is not sent to {url}: plain HTTP would show it to the network; use an `https://` URL, or no token"
        );
        Ok(Self {
            url: url.trim_end_matches('/').to_owned(),
            route: Route::Direct(ureq::Agent::with_parts(
                agent(host, &tls)?.build(),
                DefaultConnector::default().chain(EarlyAnswers),
                DefaultResolver::default(),
            )),
            token,
            has_certificate: tls.client_cert.is_some(),
            login_name,
        })
    }

    /// A server without TLS and without a token.
    ///
    /// # Errors
    /// The URL is invalid.
    pub(crate) fn open(url: &str) -> anyhow::Result<Self> {
        Self::new(Connection {
            url: url.to_owned(),
            ..Connection::default()
        })
    }

    /// A server in a cluster. The API server of the cluster can read the token.
    pub(crate) fn in_cluster(route: Arc<ClusterRoute>, token: TokenSource) -> Self {
        Self {
            url: route.path().to_owned(),
            route: Route::Cluster(route),
            token,
            has_certificate: false,
            login_name: None,
        }
    }

    /// The URL, or the path on the API server of a cluster, without a slash at its end.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Sends a request with the token.
    ///
    /// # Errors
    /// There is no token where one was set, or the server cannot be reached.
    pub(super) fn send(
        &self,
        mut request: http::Request<Option<&[u8]>>,
        deadline: Deadline,
    ) -> anyhow::Result<http::Response<ureq::Body>> {
        if let Some(token) = self.token.token()? {
            let (name, value) = match &self.route {
                Route::Direct(_) => (header::AUTHORIZATION, token.authorization()?),
                Route::Cluster(_) => (TOKEN_HEADER, token.header()?),
            };
            request.headers_mut().insert(name, value);
        }
        let agent = match &self.route {
            Route::Direct(agent) => agent,
            Route::Cluster(route) => return route.send(request, deadline),
        };
        let (head, body) = request.into_parts();
        match body {
            Some(body) => direct(agent, http::Request::from_parts(head, body), deadline),
            None => direct(agent, http::Request::from_parts(head, ()), deadline),
        }
    }

    /// The explanation of a refusal that another credential, or another URL, may avoid.
    pub(super) fn explanation(&self, status: u16) -> Option<String> {
        match status {
            300..=399 => Some(
                "redirects are not followed, because they could lead a token to another server; --server needs the final URL"
                    .to_owned(),
            ),
            401 => Some(format!(
                "the request had {}; {}",
                self.credential(),
                self.remedy()
            )),
            _ => None,
        }
    }

    fn credential(&self) -> String {
        if self.has_certificate {
            return format!("{} and a client certificate", self.token);
        }
        self.token.to_string()
    }

    /// The way to a credential.
    fn remedy(&self) -> String {
        if let Route::Cluster(_) = self.route {
            return "--as-service-account NAMESPACE/NAME requests a token from the API server, --server NAME takes the login or the token file of a named server, --token-file FILE a token of a file".to_owned();
        }
        match (&self.token, &self.login_name) {
            (TokenSource::None | TokenSource::Login(_), Some(name)) => {
                format!("`kindsight login --server {name}` logs in")
            }
            _ => "--token-file FILE, KINDSIGHT_TOKEN_FILE or KINDSIGHT_TOKEN sets a token (`kindsight token new` makes one on the server), --client-cert and --client-key a client certificate".to_owned(),
        }
    }
}

/// Sends a request to the server itself.
fn direct(
    agent: &ureq::Agent,
    request: http::Request<impl AsSendBody>,
    deadline: Deadline,
) -> anyhow::Result<http::Response<ureq::Body>> {
    let url = request.uri().to_string();
    let request = request.with_agent(agent).configure();
    let request = match deadline {
        Deadline::Answer(time) => request.timeout_global(Some(time)),
        Deadline::Head(time) => request
            .timeout_connect(Some(time))
            .timeout_recv_response(Some(time)),
    };
    request.run().map_err(|error| {
        let advice = tls::advice(&error)
            .unwrap_or("is `kindsight serve` running there? --server sets its URL");
        anyhow::Error::new(error).context(format!("request {url}; {advice}"))
    })
}

/// Settings of a client that sends tokens to a host.
///
/// # Errors
/// A file of the TLS settings is unusable.
pub(crate) fn agent(host: &str, tls: &TlsFiles) -> anyhow::Result<ConfigBuilder<AgentScope>> {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        // A redirect could lead a token to another server.
        .max_redirects(0)
        .tls_config(tls.load()?);
    if is_loopback(host) {
        // Without TLS, a proxy would read the token.
        return Ok(config.proxy(None));
    }
    Ok(config)
}

/// Returns whether a host is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let address: Result<IpAddr, _> = address.parse();
    address.map_or(host.eq_ignore_ascii_case("localhost"), |address| {
        address.is_loopback()
    })
}

/// Parses the URL of a server: `http` or `https`, a host, and possibly a port and a path.
fn parsed(url: &str) -> anyhow::Result<Uri> {
    let expected = || {
        format!(
            "`{url}` is not the URL of a server; expected `https://HOST:PORT` or `http://HOST:PORT`"
        )
    };
    anyhow::ensure!(
        !url.contains('@'),
        "the URL of a server has no user name or password; --token-file sets a token"
    );
    let uri: Uri = url.parse().with_context(expected)?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    anyhow::ensure!(is_http && uri.query().is_none(), expected());
    Ok(uri)
}
