//! Check of the host name of a request.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::uri;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use kindsight_status::clipped;

use crate::allowed::{AllowedNames, Authority};
use crate::caller::TOKEN_HEADER;
use crate::problem::Problem;
use crate::serve::RequestConnection;

/// The paths of the liveness and of the readiness. They are answered under any host name, because a supervisor uses an
/// address that the pod does not know. Under an unknown name, the answers contain no details.
const LIVENESS: &str = "/healthz";
const READINESS: &str = "/readyz";

/// The host names under which requests are answered.
pub(crate) struct HostNames {
    pub(crate) allowed: Arc<AllowedNames>,
    /// True if each request needs a credential.
    pub(crate) has_access_control: bool,
}

/// The relation of an admitted request to the names of this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedHost {
    /// A name of this server, or a request with a token of its own.
    Known,
    /// An unknown name, with a request for the liveness.
    UnknownLiveness,
    /// An unknown name, with a request for the readiness.
    UnknownReadiness,
}

impl NamedHost {
    /// The answer to the request. The list of missing parts contains names, so it is omitted under an unknown host name.
    pub(crate) fn answer(self, response: Response) -> Response {
        let is_readiness = self == Self::UnknownReadiness;
        if is_readiness && response.status() == StatusCode::SERVICE_UNAVAILABLE {
            return Problem::not_ready().into_response();
        }
        response
    }
}

impl HostNames {
    /// Checks the host names of a request.
    ///
    /// The owner of a domain name can direct it to this machine. A page under that name then has the same origin as the
    /// server, and a browser lets the page read and change everything (DNS rebinding). The name is in the header `Host`,
    /// which pages cannot set. A client without this header is not a browser.
    ///
    /// The service proxy of an API server passes requests on under its own name, which this server does not know. Its
    /// clients send their token in a header of its own. With access control, such a request is not refused: a page of
    /// another site has no token, and the token in this header is the only credential of the request.
    ///
    /// # Errors
    /// A request under a name that does not belong to this server.
    pub(crate) fn check(&self, request: &Request) -> Result<NamedHost, Problem> {
        if self.has_access_control && request.headers().contains_key(TOKEN_HEADER) {
            return Ok(NamedHost::Known);
        }
        let Some(foreign) = foreign_host(&self.allowed, request) else {
            return Ok(NamedHost::Known);
        };
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        match request.uri().path() {
            LIVENESS if is_read => Ok(NamedHost::UnknownLiveness),
            READINESS if is_read => Ok(NamedHost::UnknownReadiness),
            _ => {
                let detail = format!(
                    "`{}` is not a name of this server; the setting `allowed-host` lists its names beside localhost and its addresses",
                    clipped(&foreign)
                );
                Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, detail))
            }
        }
    }
}

/// A host of the request that is not allowed, as it was sent.
fn foreign_host<'r>(allowed: &AllowedNames, request: &'r Request) -> Option<Cow<'r, str>> {
    let connection = request.extensions().get::<Arc<RequestConnection>>();
    let local = connection.and_then(|it| it.local);
    let target = request.uri().authority().map(uri::Authority::as_str);
    let mut hosts = hosts(target, request.headers());
    hosts.find(|host| Authority::read(host).is_none_or(|host| !allowed.allows_host(&host, local)))
}

/// Every host that a request names: in its target, and in its headers.
fn hosts<'a>(
    target: Option<&'a str>,
    headers: &'a HeaderMap,
) -> impl Iterator<Item = Cow<'a, str>> + use<'a> {
    let named = headers.get_all(header::HOST).iter();
    let named = named.map(|host| String::from_utf8_lossy(host.as_bytes()));
    target.map(Cow::Borrowed).into_iter().chain(named)
}
