//! Requests to an issuer: its discovery document, and its key set.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;
use tokio::time::timeout;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::issuer_route::{IssuerConnector, Proxies, ProxyError};
use super::issuer_url::{IssuerUrl, IssuerUrlError};
use super::key_set::{KeySet, KeySetError};

/// Maximum size of a document of an issuer, in bytes.
const DOCUMENT_BYTES_MAX: usize = 256 * 1024;
/// Maximum time to fetch the discovery document and the key set.
const FETCH_MAX: Duration = Duration::from_secs(5);
/// Maximum length of a text of the issuer about a refused code, in characters.
const REFUSAL_CHARS_MAX: usize = 200;

/// A client of one issuer. It follows no redirects and keeps no connections.
pub(super) struct IssuerClient {
    issuer: IssuerUrl,
    discovery: IssuerUrl,
    client: Client<HttpsConnector<IssuerConnector>, String>,
}

/// The reason why an issuer cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum IssuerClientError {
    /// The URL is too long for a path below it.
    #[error(transparent)]
    Url(#[from] IssuerUrlError),
    /// The proxy cannot be used.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    /// The file cannot be read, or has no certificate.
    #[error("{}: use a file with certificates as PEM: {reason}", path.display())]
    Ca {
        /// The file.
        path: PathBuf,
        /// The problem.
        reason: String,
    },
    /// The system has no trusted certificates.
    #[error("the system has no trusted certificates: name a file with the CA of the issuer")]
    SystemCa(#[source] std::io::Error),
}

/// The reason why the keys were not fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum FetchError {
    #[error("no answer within {} s", FETCH_MAX.as_secs())]
    Timeout,
    #[error("{url}: {problem}")]
    Document { url: IssuerUrl, problem: Problem },
}

/// The problem of a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Problem {
    #[error("{0}")]
    Request(String),
    #[error("the answer is {0}; redirects are not followed")]
    Status(StatusCode),
    #[error("the answer is larger than {DOCUMENT_BYTES_MAX} bytes, or is interrupted: {0}")]
    Body(String),
    #[error("the answer has no `issuer` and `jwks_uri`")]
    Discovery,
    #[error(transparent)]
    Url(#[from] IssuerUrlError),
    #[error("this is the issuer `{0}`: set exactly this URL")]
    Issuer(IssuerUrl),
    #[error("this URL of the issuer has another scheme: {0}")]
    Scheme(IssuerUrl),
    #[error("the answer has no `authorization_endpoint` and `token_endpoint`")]
    Endpoints,
    #[error("{0}")]
    Refused(String),
    #[error("the answer has no `id_token`: the client must be allowed the scope `openid`")]
    Tokens,
    #[error(transparent)]
    Keys(#[from] KeySetError),
}

/// The members of a discovery document that are read.
#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
}

/// The URLs of an issuer for sign-ins.
pub(super) struct Endpoints {
    /// The page to which the browser goes.
    pub(super) authorization: IssuerUrl,
    /// The URL that exchanges a code.
    pub(super) token: IssuerUrl,
}

/// The part of an answer with tokens that a sign-in needs.
#[derive(Deserialize)]
pub(super) struct TokenAnswer {
    pub(super) id_token: String,
}

/// The refusal of a code (RFC 6749, 5.2).
#[derive(Deserialize)]
struct TokenRefusal {
    error: String,
    #[serde(default)]
    error_description: String,
}

impl fmt::Display for TokenRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |text: &str| text.chars().take(REFUSAL_CHARS_MAX).collect::<String>();
        let (error, description) = (short(&self.error), short(&self.error_description));
        write!(f, "the issuer refused the code: {error:?} {description:?}")
    }
}

impl FetchError {
    /// The reason why the issuer refused a code; `None` for any other failure.
    pub(super) fn refusal(&self) -> Option<String> {
        match self {
            Self::Document {
                problem: Problem::Refused(reason),
                ..
            } => Some(reason.clone()),
            _ => None,
        }
    }
}

impl IssuerClient {
    /// A client that trusts the certificates of a file, or of the system. Blocks while it reads certificates.
    pub(super) fn new(
        issuer: IssuerUrl,
        ca: Option<&Path>,
        proxies: Proxies,
    ) -> Result<Self, IssuerClientError> {
        proxies.check(&issuer)?;
        let tls = match ca {
            Some(path) => ClientConfig::builder().with_root_certificates(roots(path)?),
            None => ClientConfig::builder()
                .with_native_roots()
                .map_err(IssuerClientError::SystemCa)?,
        };
        let https = HttpsConnectorBuilder::new()
            .with_tls_config(tls.with_no_client_auth())
            // An `IssuerUrl` with http is on loopback.
            .https_or_http()
            .enable_http1()
            .wrap_connector(IssuerConnector::new(proxies));
        Ok(Self {
            discovery: issuer.discovery()?,
            issuer,
            client: Client::builder(TokioExecutor::new())
                .pool_max_idle_per_host(0)
                .build(https),
        })
    }

    /// Fetches the keys that the issuer publishes now.
    pub(super) async fn fetch(&self) -> Result<KeySet, FetchError> {
        let keys = timeout(FETCH_MAX, self.fetch_both()).await;
        keys.unwrap_or(Err(FetchError::Timeout))
    }

    /// Fetches the URLs of the issuer for sign-ins.
    pub(super) async fn endpoints(&self) -> Result<Endpoints, FetchError> {
        let discovery = timeout(FETCH_MAX, self.discover()).await;
        let endpoints = discovery.map_err(|_| FetchError::Timeout)?;
        let endpoints = endpoints.and_then(|discovery| self.checked(discovery));
        endpoints.map_err(|problem| FetchError::Document {
            url: self.discovery.clone(),
            problem,
        })
    }

    /// Exchanges a code, in a form, for tokens.
    pub(super) async fn token(
        &self,
        endpoint: &IssuerUrl,
        form: String,
        authorization: Option<&str>,
    ) -> Result<TokenAnswer, FetchError> {
        let answer = timeout(FETCH_MAX, self.post(endpoint, form, authorization)).await;
        let answer = answer.map_err(|_| FetchError::Timeout)?;
        answer.map_err(|problem| FetchError::Document {
            url: endpoint.clone(),
            problem,
        })
    }

    async fn fetch_both(&self) -> Result<KeySet, FetchError> {
        let of = |url: &IssuerUrl| {
            let url = url.clone();
            |problem| FetchError::Document { url, problem }
        };
        let keys_url = self.keys_url().await.map_err(of(&self.discovery))?;
        self.keys(&keys_url).await.map_err(of(&keys_url))
    }

    /// The discovery document of this issuer.
    async fn discover(&self) -> Result<Discovery, Problem> {
        let document = self.get(&self.discovery).await?;
        let document: Discovery =
            serde_json::from_slice(&document).map_err(|_| Problem::Discovery)?;
        let issuer: IssuerUrl = document.issuer.parse()?;
        if issuer != self.issuer {
            return Err(Problem::Issuer(issuer));
        }
        Ok(document)
    }

    /// The URL of the key set, from the discovery document.
    async fn keys_url(&self) -> Result<IssuerUrl, Problem> {
        self.url(&self.discover().await?.jwks_uri)
    }

    fn checked(&self, discovery: Discovery) -> Result<Endpoints, Problem> {
        let both = discovery
            .authorization_endpoint
            .zip(discovery.token_endpoint);
        let (authorization, token) = both.ok_or(Problem::Endpoints)?;
        Ok(Endpoints {
            authorization: self.url(&authorization)?,
            token: self.url(&token)?,
        })
    }

    /// A URL of the discovery document, which must have the scheme of the issuer.
    fn url(&self, text: &str) -> Result<IssuerUrl, Problem> {
        let url: IssuerUrl = text.parse()?;
        if !url.has_scheme_of(&self.issuer) {
            return Err(Problem::Scheme(url));
        }
        Ok(url)
    }

    async fn keys(&self, url: &IssuerUrl) -> Result<KeySet, Problem> {
        Ok(KeySet::read(&self.get(url).await?)?)
    }

    async fn get(&self, url: &IssuerUrl) -> Result<Vec<u8>, Problem> {
        let (status, body) = self.send(Request::get(url.as_str()), String::new()).await?;
        if status != StatusCode::OK {
            return Err(Problem::Status(status));
        }
        Ok(body)
    }

    async fn post(
        &self,
        url: &IssuerUrl,
        form: String,
        authorization: Option<&str>,
    ) -> Result<TokenAnswer, Problem> {
        let mut request = Request::post(url.as_str());
        request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        if let Some(authorization) = authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let (status, body) = self.send(request, form).await?;
        if status == StatusCode::OK {
            return serde_json::from_slice(&body).map_err(|_| Problem::Tokens);
        }
        let refusal = serde_json::from_slice::<TokenRefusal>(&body);
        Err(match refusal {
            Ok(refusal) if status.is_client_error() => Problem::Refused(refusal.to_string()),
            _ => Problem::Status(status),
        })
    }

    async fn send(
        &self,
        request: http::request::Builder,
        body: String,
    ) -> Result<(StatusCode, Vec<u8>), Problem> {
        let request = request.header(ACCEPT, "application/json").body(body);
        let request = request.map_err(|error| Problem::Request(error.to_string()))?;
        let answer = self.client.request(request).await;
        let answer = answer.map_err(|error| Problem::Request(causes(&error)))?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), DOCUMENT_BYTES_MAX);
        let body = body.collect().await;
        let body = body.map_err(|error| Problem::Body(error.to_string()))?;
        Ok((status, body.to_bytes().into()))
    }
}

/// The certificates of a file.
fn roots(path: &Path) -> Result<RootCertStore, IssuerClientError> {
    let failed = |reason: String| IssuerClientError::Ca {
        path: path.to_owned(),
        reason,
    };
    let certificates = CertificateDer::pem_file_iter(path);
    let certificates = certificates.map_err(|error| failed(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let certificate = certificate.map_err(|error| failed(error.to_string()))?;
        let added = roots.add(certificate);
        added.map_err(|error| failed(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(failed("it has no certificate".to_owned()));
    }
    Ok(roots)
}

/// An error with its causes: a client reports only `client error (Connect)` itself.
fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
