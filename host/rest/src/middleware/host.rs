//! Check of the host name of a request.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::uri;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use kindsight_status::clipped;

use crate::allowed::{AllowedNames, Authority};
use crate::caller::TOKEN_HEADER;
use crate::problem::Problem;
use crate::serve::LocalAddress;

/// Path of the route that says whether queries can be answered.
const READINESS: &str = "/readyz";
/// Paths that are answered under any host name, because a supervisor uses an address that the pod does not know. Under
/// an unknown name, the answers contain no details.
const HEALTH: [&str; 2] = ["/healthz", READINESS];

/// The host names under which requests are answered.
pub(crate) struct HostNames {
    pub(crate) allowed: Arc<AllowedNames>,
    /// True if each request needs a credential.
    pub(crate) has_access_control: bool,
}

/// Refuses requests under a name that does not belong to this server.
///
/// The owner of a domain name can direct it to this machine. A page under that name then has the same origin as the
/// server, and a browser lets the page read and change everything (DNS rebinding). The name is in the header `Host`,
/// which pages cannot set. A client without this header is not a browser.
///
/// The service proxy of an API server passes requests on under its own name, which this server does not know. Its
/// clients send their token in a header of its own. With access control, such a request is not refused: a page of another
/// site has no token, and the token in this header is the only credential of the request.
pub(crate) async fn refuse_foreign_host(
    State(names): State<Arc<HostNames>>,
    request: Request,
    next: Next,
) -> Response {
    let has_token = request.headers().contains_key(TOKEN_HEADER);
    if names.has_access_control && has_token {
        return next.run(request).await;
    }
    let Some(foreign) = foreign_host(&names.allowed, &request) else {
        return next.run(request).await;
    };
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if is_read && HEALTH.contains(&request.uri().path()) {
        let is_readiness = request.uri().path() == READINESS;
        let response = next.run(request).await;
        // The list of missing parts contains names, so it is omitted under an unknown host name.
        return match response.status() {
            StatusCode::SERVICE_UNAVAILABLE if is_readiness => Problem::not_ready().into_response(),
            _ => response,
        };
    }
    let detail = format!(
        "`{}` is not a name of this server; the setting `allowed-host` lists its names beside localhost and its addresses",
        clipped(&foreign)
    );
    Problem::new(StatusCode::MISDIRECTED_REQUEST, detail).into_response()
}

/// A host of the request that is not allowed, as it was sent.
fn foreign_host(allowed: &AllowedNames, request: &Request) -> Option<String> {
    let local = request.extensions().get::<LocalAddress>().map(|it| it.0);
    hosts(
        request.uri().authority().map(uri::Authority::as_str),
        request.headers(),
    )
    .find(|host| Authority::read(host).is_none_or(|host| !allowed.allows_host(&host, local)))
}

/// Every host that a request names: in its target, and in its headers.
fn hosts<'a>(
    target: Option<&'a str>,
    headers: &'a HeaderMap,
) -> impl Iterator<Item = String> + use<'a> {
    let named = headers.get_all(header::HOST).iter();
    let named = named.map(|host| String::from_utf8_lossy(host.as_bytes()).into_owned());
    target.map(str::to_owned).into_iter().chain(named)
}
