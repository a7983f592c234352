//! The way to an issuer: direct, or through an HTTP proxy.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower::Service;

use super::issuer_url::IssuerUrl;

/// The HTTP proxies for requests to an issuer. The default is no proxy.
///
/// kindsight connects to an issuer only with TLS, except on loopback. A proxy therefore sees the host of the issuer and
/// encrypted data. A URL with plain HTTP never uses a proxy.
#[derive(Clone, Default)]
pub struct Proxies(Option<Arc<Matcher>>);

/// A proxy that this program cannot use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the proxy for `{issuer}` has the scheme `{scheme}`: use http://HOST:PORT in HTTPS_PROXY or ALL_PROXY, or exclude the host with NO_PROXY"
)]
pub struct ProxyError {
    issuer: IssuerUrl,
    scheme: String,
}

impl Proxies {
    /// The proxies in the environment variables `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, in upper or lower case, with
    /// the meaning that curl gives them.
    pub fn of_environment() -> Self {
        Self(Some(Arc::new(Matcher::from_env())))
    }

    /// One proxy for all issuers.
    #[cfg(test)]
    pub(super) fn all(url: &str) -> Self {
        Self(Some(Arc::new(Matcher::builder().all(url).build())))
    }

    /// Checks the proxy of an issuer.
    pub(super) fn check(&self, issuer: &IssuerUrl) -> Result<(), ProxyError> {
        let uri: Option<Uri> = issuer.as_str().parse().ok();
        let proxy = uri.and_then(|uri| self.of(&uri));
        let scheme = proxy.and_then(|proxy| proxy.uri().scheme_str().map(str::to_owned));
        match scheme {
            Some(scheme) if scheme != "http" => Err(ProxyError {
                issuer: issuer.clone(),
                scheme,
            }),
            _ => Ok(()),
        }
    }

    fn of(&self, target: &Uri) -> Option<Intercept> {
        let is_secure = target.scheme_str() == Some("https");
        let matcher = self.0.as_ref().filter(|_| is_secure)?;
        matcher.intercept(target)
    }
}

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL of a proxy may contain a password.
        f.write_str("Proxies")
    }
}

/// Connects to a URL of an issuer.
#[derive(Debug, Clone)]
pub(super) struct IssuerConnector {
    proxies: Proxies,
    direct: HttpConnector,
}

/// A failed connection.
type ConnectError = Box<dyn std::error::Error + Send + Sync>;
/// A connection that is being opened.
type Connecting = Pin<Box<dyn Future<Output = Result<TokioIo<TcpStream>, ConnectError>> + Send>>;

impl IssuerConnector {
    pub(super) fn new(proxies: Proxies) -> Self {
        let mut direct = HttpConnector::new();
        direct.enforce_http(false);
        Self { proxies, direct }
    }
}

impl Service<Uri> for IssuerConnector {
    type Response = TokioIo<TcpStream>;
    type Error = ConnectError;
    type Future = Connecting;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.direct.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        let Some(proxy) = self.proxies.of(&target) else {
            let connecting = self.direct.call(target);
            return Box::pin(async move { Ok(connecting.await?) });
        };
        let mut tunnel = Tunnel::new(proxy.uri().clone(), self.direct.clone());
        if let Some(credentials) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(credentials.clone());
        }
        let connecting = tunnel.call(target);
        Box::pin(async move {
            let connected = connecting.await;
            connected.map_err(|error| format!("the proxy {}: {error}", proxy.uri()).into())
        })
    }
}
