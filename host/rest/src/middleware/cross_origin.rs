//! Cross-origin check of commands.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;

/// Refuses requests that a page of another origin makes a browser send.
///
/// A browser sends some requests to any address without asking first, also to one that only its own
/// machine reaches; it names the page's origin in `Origin`. Programs send no `Origin`.
pub(crate) async fn refuse_cross_origin(request: Request, next: Next) -> Response {
    if is_cross_origin(request.headers()) {
        let detail = "a page of another origin asks for this; `Origin` has to be left out, or name the host that is asked";
        return Problem::new(StatusCode::FORBIDDEN, detail).into_response();
    }
    next.run(request).await
}

/// True if an `Origin` is anything but `scheme://` and the `Host`. That of a page without an origin
/// is the word `null`.
fn is_cross_origin(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).map(HeaderValue::as_bytes);
    let origins = headers.get_all(header::ORIGIN).iter();
    let mut authorities = origins.map(|origin| {
        let (_scheme, authority) = origin.to_str().ok()?.split_once("://")?;
        Some(authority.as_bytes())
    });
    authorities.any(|authority| match (authority, host) {
        (Some(authority), Some(host)) => !authority.eq_ignore_ascii_case(host),
        _ => true,
    })
}
