//! Cross-origin check of requests that change or compute something.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};

use crate::allowed::{AllowedNames, Authority, Origin};
use crate::problem::Problem;

/// The header with the relation between the site of the page and the site of the request, set by browsers.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses requests of pages of another origin, except requests that only read.
///
/// A page can make a browser send some requests to any address without a preflight, including addresses that only the
/// browser's machine can reach. The header `Origin` contains the page's origin. Programs send no `Origin`. Requests that
/// only read are not refused, because a browser does not show the answer to the page.
///
/// # Errors
/// Such a request.
pub(crate) fn refuse_cross_origin(
    allowed: &AllowedNames,
    request: &Request,
) -> Result<(), Problem> {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if !is_read && is_cross_origin(allowed, request.headers()) {
        let detail = "a page of another origin asks for this; `Origin` has to be left out, or name the host that is asked or one that the setting `allowed-origin` lists";
        return Err(Problem::new(StatusCode::FORBIDDEN, detail));
    }
    Ok(())
}

/// Returns whether an `Origin` is not allowed, or the request has no `Origin` and the page is of another site. A page
/// without an origin sends the word `null`.
fn is_cross_origin(allowed: &AllowedNames, headers: &HeaderMap) -> bool {
    let host = headers
        .get(header::HOST)
        .and_then(|value| value.to_str().ok());
    let host = host.and_then(Authority::read);
    let origins = headers.get_all(header::ORIGIN).iter();
    let origins: Vec<_> = origins
        .map(|origin| origin.to_str().ok().and_then(Origin::read))
        .collect();
    let is_listed = |origin: &Option<Origin>| {
        let origin = origin.as_ref();
        origin.is_some_and(|origin| allowed.lists_origin(origin))
    };
    let is_allowed = |origin: &Option<Origin>| {
        let origin = origin.as_ref();
        origin.is_some_and(|origin| allowed.allows_origin(origin, host.as_ref()))
    };
    let mut sites = headers.get_all(SEC_FETCH_SITE).iter();
    let is_other_site = sites.any(|site| site.as_bytes() == b"cross-site");
    let is_excused = !origins.is_empty() && origins.iter().all(is_listed);
    !origins.iter().all(is_allowed) || (is_other_site && !is_excused)
}

/// Returns whether a browser states that a page of this server sent the request: `Sec-Fetch-Site`, or an `Origin` that
/// equals the host. Programs and old browsers state nothing.
pub(crate) fn is_of_own_page(headers: &HeaderMap) -> bool {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST).and_then(Authority::read);
    let origin = text(header::ORIGIN).and_then(Origin::read);
    let listed = AllowedNames::default();
    text(SEC_FETCH_SITE) == Some("same-origin")
        || origin.is_some_and(|origin| listed.allows_origin(&origin, host.as_ref()))
}
