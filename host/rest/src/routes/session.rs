//! Sign-in of browsers with a token, or at an issuer.
//!
//! The cookie has the token itself. So a session needs no state on the server, works with every server that accepts the
//! token, and ends when the token expires or is revoked.

pub(crate) mod oidc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cookie::time::Duration;
use cookie::{Cookie, SameSite};
use jiff::Timestamp;
use kindsight_access::{AccessControl, Caller, Credential, Refusal};
use kindsight_api::problem::ProblemDocument;
use kindsight_api::session::{PresentedCredential, Session, SignIn, SignInMethod};

use crate::answer::internal;
use crate::app::App;
use crate::caller::{COOKIE, Sender};
use crate::problem::Problem;
use crate::routes::errors::CommonErrors;

/// The longest cookie that every browser keeps, in bytes: its name, its value and its attributes.
const COOKIE_BYTES_MAX: usize = 4096;

/// The user of this request
///
/// Names the user, the roles and the credential of the request, and the methods with which a browser can sign in.
#[utoipa::path(
    get,
    path = "/v2/session",
    operation_id = "session",
    tag = "service",
    responses((status = 200, description = "The user, if the request has a valid credential.", body = Session), CommonErrors),
)]
pub(crate) async fn show(State(app): State<App>, sender: Sender) -> Json<Session> {
    Json(session(
        app.access.as_deref(),
        &sender.caller,
        sender.presented(),
    ))
}

/// Sign in
///
/// Verifies a token, and stores it in a cookie of the browser that scripts cannot read.
#[utoipa::path(
    post,
    path = "/v2/session",
    operation_id = "sign_in",
    tag = "service",
    request_body = SignIn,
    responses(
        (status = 200, description = "The user. The header `Set-Cookie` has the cookie.", body = Session),
        (status = 404, description = "The server has no access control.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn sign_in(
    State(app): State<App>,
    sender: Sender,
    body: Bytes,
) -> Result<Response, Problem> {
    let control = app.access.as_deref().ok_or_else(|| {
        let detail = "this server has no access control: no sign-in is needed";
        Problem::new(StatusCode::NOT_FOUND, detail)
    })?;
    let SignIn { token } = serde_json::from_slice(&body).map_err(|_| {
        let detail = "the body has to be `{\"token\": \"…\"}`";
        Problem::new(StatusCode::BAD_REQUEST, detail)
    })?;
    let caller = authenticate(control, &sender, &token).await?;
    let cookie = signed_in(COOKIE, &token, &caller, (app.clock)())?;
    let answer = session(Some(control), &caller, Some(PresentedCredential::Cookie));
    with_cookie(Json(answer).into_response(), &cookie)
}

/// Sign out
///
/// Removes the cookie of the browser. The token stays valid.
#[utoipa::path(
    delete,
    path = "/v2/session",
    operation_id = "sign_out",
    tag = "service",
    responses((status = 204, description = "The browser has no cookie any more."), CommonErrors),
)]
pub(crate) async fn sign_out() -> Result<Response, Problem> {
    let cookie = host_cookie(COOKIE, String::new()).max_age(Duration::ZERO);
    with_cookie(StatusCode::NO_CONTENT.into_response(), &cookie.build())
}

/// Verifies the token of a sign-in. A failure counts as a failed attempt of the client's address.
async fn authenticate(
    control: &AccessControl,
    sender: &Sender,
    token: &str,
) -> Result<Caller, Refusal> {
    let credential = Credential::Bearer(token.to_owned().into());
    control.authenticate(&credential, sender.from()).await
}

/// The cookie with a verified token, which expires with the token.
///
/// # Errors
/// A token that is too long for a cookie, or that has characters which a cookie cannot have.
fn signed_in(
    name: &'static str,
    token: &str,
    caller: &Caller,
    now_ms: i64,
) -> Result<Cookie<'static>, Problem> {
    let is_plain =
        |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b',' | b';' | b'\\');
    if !token.bytes().all(is_plain) {
        return Err(Problem::unauthorized(
            "the token has characters that no token has",
        ));
    }
    let mut cookie = host_cookie(name, token.to_owned());
    if let Some(expires_ms) = caller.expires_ms() {
        let left = expires_ms.saturating_sub(now_ms).max(0);
        cookie = cookie.max_age(Duration::milliseconds(left));
    }
    let cookie = cookie.build();
    let bytes = cookie.to_string().len();
    if bytes > COOKIE_BYTES_MAX {
        let detail = format!(
            "the token is too long for a cookie: {bytes} of {COOKIE_BYTES_MAX} bytes with its attributes; use a token with fewer groups, or a token of kindsight"
        );
        return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
    }
    Ok(cookie)
}

/// A cookie that the browser sends only to this host, and shows to no script.
fn host_cookie(name: &'static str, value: String) -> cookie::CookieBuilder<'static> {
    Cookie::build((name, value))
        .path("/")
        .secure(true)
        .http_only(true)
        .same_site(SameSite::Strict)
}

fn with_cookie(mut answer: Response, cookie: &Cookie<'_>) -> Result<Response, Problem> {
    let value = HeaderValue::try_from(cookie.to_string()).map_err(|_| internal())?;
    answer.headers_mut().append(header::SET_COOKIE, value);
    Ok(answer)
}

/// The user of a request; `control` is `None` without access control.
fn session(
    control: Option<&AccessControl>,
    caller: &Caller,
    presented: Option<PresentedCredential>,
) -> Session {
    let expires = caller.expires_ms().map(Timestamp::from_millisecond);
    let roles = caller.rights().roles();
    let token = control.map(|_| SignInMethod::Token);
    let oidc = control.and_then(AccessControl::code_flow);
    let oidc = oidc.map(|_| SignInMethod::Oidc);
    Session {
        access_control: control.is_some(),
        user: caller.user().map(|user| user.name().to_owned()),
        credential: caller.user().and(presented),
        expires: expires.and_then(Result::ok),
        sign_in: token.into_iter().chain(oidc).collect(),
        roles: roles.map(|role| role.as_str().to_owned()).collect(),
    }
}
