//! Clients: HTTP/2 with pings over TLS, through a proxy if the kubeconfig names one.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderValue, Request, Uri};
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::{Body, ConfigExt as _};
use kube::{Client, Config};
use tower::{BoxError, ServiceBuilder};

use super::{Dials, Token};

/// Time to connect.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// Time between two pings of a connection.
const PING_EVERY: Duration = Duration::from_secs(5);
/// Time for the answer to a ping. With [`PING_EVERY`] and a second try of a request, an outage is reported within
/// 30 s.
const PING_MAX: Duration = Duration::from_secs(4);

/// A client with a connection of its own. Its network connections are counted in `dials`.
pub(super) fn connect(config: &Config, token: Token, dials: Dials) -> Result<Client, BoxError> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(CONNECT_MAX));
    let http = ServiceBuilder::new()
        .map_request(move |uri: Uri| {
            dials.begin();
            uri
        })
        .service(http);
    let Some(proxy) = config.proxy_url.clone() else {
        return client(config, token, http);
    };
    match proxy.scheme_str() {
        Some("http") => client(config, token, tunnel(proxy, http)),
        Some("https") => {
            let https = config.rustls_https_connector_with_connector(http)?;
            client(config, token, tunnel(proxy, https))
        }
        Some("socks5") => client(config, token, SocksV5::new(proxy, http)),
        _ => Err("the `proxy-url` of the kubeconfig must begin with http, https or socks5".into()),
    }
}

/// A client over these connections.
fn client<C>(config: &Config, token: Token, connector: C) -> Result<Client, BoxError>
where
    HttpsConnector<C>: Connect + Clone + Send + Sync + 'static,
{
    let tls = config.rustls_client_config()?;
    let https = HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http();
    let https = match &config.tls_server_name {
        Some(name) => {
            let name = name.clone().try_into()?;
            https.with_server_name_resolver(FixedServerNameResolver::new(name))
        }
        None => https,
    };
    let https = https.enable_all_versions().wrap_connector(connector);
    let client: legacy::Client<_, Body> = legacy::Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .http2_keep_alive_interval(PING_EVERY)
        .http2_keep_alive_timeout(PING_MAX)
        .http2_keep_alive_while_idle(true)
        .build(https);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_request(move |mut request: Request<Body>| {
            if let Some(header) = token.header() {
                request.headers_mut().insert(AUTHORIZATION, header);
            }
            request
        })
        .map_err(BoxError::from)
        .service(client);
    Ok(Client::new(service, config.default_namespace.clone()))
}

/// Connections through an HTTP proxy, with the name and the password of its URL.
fn tunnel<C>(proxy: Uri, connector: C) -> Tunnel<C> {
    let credentials = proxy.authority().and_then(|authority| {
        let (credentials, _) = authority.as_str().rsplit_once('@')?;
        let basic = format!("Basic {}", STANDARD.encode(decoded(credentials)));
        let mut header = HeaderValue::try_from(basic).ok()?;
        header.set_sensitive(true);
        Some(header)
    });
    let tunnel = Tunnel::new(proxy, connector);
    match credentials {
        Some(header) => tunnel.with_auth(header),
        None => tunnel,
    }
}

/// A part of a URL with its `%` escapes resolved. Any other text does not change.
fn decoded(part: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after
            .get(..2)
            .and_then(|digits| str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let escaped = escaped.filter(|_| byte == b'%');
        bytes.push(escaped.unwrap_or(byte));
        rest = if escaped.is_some() {
            after.get(2..).unwrap_or_default()
        } else {
            after
        };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_a_url_are_resolved() {
        assert_eq!(decoded("me:p%40ss%3a1"), b"me:p@ss:1");
        assert_eq!(decoded("100%:%zz"), b"100%:%zz");
    }
}
