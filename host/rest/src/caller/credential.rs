//! The credential of a request: a header, a cookie or a client certificate.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use cookie::Cookie;
use kindsight_access::{ClientCertificate, Credential};
use kindsight_api::session::PresentedCredential;

use crate::problem::Problem;

/// The header with a token that passes proxies which remove `Authorization`, such as the service proxy of an API server.
pub(crate) const TOKEN_HEADER: HeaderName = HeaderName::from_static("kindsight-token");
/// The cookie with the token of a signed-in browser. Browsers accept the prefix only from the host itself, over HTTPS
/// or from this machine.
pub(crate) const COOKIE: &str = "__Host-kindsight";
/// The scheme of the `Authorization` header, in lower case.
const BEARER: &[u8] = b"bearer ";

/// The credential, and the part of the request that has it. A header has priority over a cookie, and a cookie over a
/// certificate.
///
/// # Errors
/// A header with another scheme, or several headers or cookies, of which a proxy and this server may take different
/// ones.
pub(super) fn credential(
    request: &Request,
) -> Result<(Credential, Option<PresentedCredential>), Problem> {
    if let Some(token) = header_token(request.headers())? {
        return Ok((bearer(token), Some(PresentedCredential::Header)));
    }
    if let Some(token) = cookie(request.headers(), COOKIE)? {
        return Ok((bearer(&token), Some(PresentedCredential::Cookie)));
    }
    let certificate = request.extensions().get::<Arc<ClientCertificate>>();
    Ok(match certificate {
        Some(certificate) => (
            Credential::Certificate(Arc::clone(certificate)),
            Some(PresentedCredential::Certificate),
        ),
        None => (Credential::Missing, None),
    })
}

fn bearer(token: &str) -> Credential {
    Credential::Bearer(token.to_owned().into())
}

/// The token of `Authorization` or of [`TOKEN_HEADER`].
fn header_token(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let standard = headers.get_all(header::AUTHORIZATION).iter();
    let standard = standard.map(|value| after_scheme(value.as_bytes()));
    let own = headers.get_all(TOKEN_HEADER).iter();
    let mut tokens = standard.chain(own.map(HeaderValue::as_bytes));
    let (token, another) = (tokens.next(), tokens.next());
    let Some(token) = token else {
        return Ok(None);
    };
    let token = std::str::from_utf8(token).unwrap_or_default().trim();
    if another.is_some() || token.is_empty() {
        let detail = "a token must be given once: in the header `Authorization`, as `Bearer TOKEN`, or in `Kindsight-Token`";
        return Err(Problem::unauthorized(detail));
    }
    Ok(Some(token))
}

/// The part of the header after the scheme; empty with another scheme.
fn after_scheme(value: &[u8]) -> &[u8] {
    let (scheme, token) = value.split_at_checked(BEARER.len()).unwrap_or_default();
    if scheme.eq_ignore_ascii_case(BEARER) {
        token
    } else {
        b""
    }
}

/// The value of a cookie.
///
/// # Errors
/// Several cookies of this name: a page of a sibling domain may have set one of them.
pub(crate) fn cookie(headers: &HeaderMap, name: &str) -> Result<Option<String>, Problem> {
    let texts = headers.get_all(header::COOKIE).iter();
    let texts = texts.filter_map(|value| value.to_str().ok());
    let cookies = texts.flat_map(Cookie::split_parse).filter_map(Result::ok);
    let mut values = cookies.filter(|cookie| cookie.name() == name);
    let value = values.next().map(|cookie| cookie.value().to_owned());
    if values.next().is_some() {
        let detail = format!("the cookie `{name}` is sent twice; sign in again");
        return Err(Problem::unauthorized(detail));
    }
    Ok(value.filter(|value| !value.is_empty()))
}
