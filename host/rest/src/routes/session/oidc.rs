//! Sign-in of browsers at an OpenID Connect issuer.
//!
//! Both routes are navigations of a browser. The secrets of a sign-in are in a cookie of ten minutes, which the browser
//! also sends when the issuer leads it back (`SameSite=Lax`).

use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cookie::SameSite;
use cookie::time::Duration;
use kindsight_access::{CodeFlow, CodeFlowError, Refusal, SignInAttempt};
use kindsight_api::problem::ProblemDocument;
use serde::Deserialize;

use super::{authenticate, host_cookie, signed_in, with_cookie};
use crate::AppState;
use crate::answer::internal;
use crate::app::App;
use crate::caller::{COOKIE, Sender, cookie};
use crate::problem::Problem;
use crate::routes::errors::CommonErrors;

/// The cookie with the secrets of a sign-in.
const ATTEMPT: &str = "__Host-kindsight-oidc";
/// Maximum time of a sign-in at the issuer.
const ATTEMPT_MAX: Duration = Duration::minutes(10);
/// Longest path to which a browser returns, in bytes.
const RETURN_BYTES_MAX: usize = 2048;

/// Parameters of the beginning of a sign-in.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Begin {
    /// The path of this server to which the browser returns.
    #[serde(rename = "return", default)]
    #[param(rename = "return", value_type = Option<String>, example = "/#/clusters")]
    return_path: Option<String>,
}

/// Parameters with which the issuer returns a browser.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Callback {
    /// The code, which the server exchanges for a token.
    #[serde(default)]
    code: Option<String>,
    /// The state of the sign-in.
    #[serde(default)]
    state: Option<String>,
    /// The reason why the issuer did not sign the user in.
    #[serde(default)]
    error: Option<String>,
}

/// Begin a sign-in at the issuer
///
/// Leads the browser to the OpenID Connect issuer of the server.
#[utoipa::path(
    get,
    path = "/v2/session/oidc",
    operation_id = "begin_oidc_sign_in",
    tag = "service",
    params(Begin),
    responses(
        (status = 303, description = "The location is the page of the issuer."),
        (status = 404, description = "The server does not sign browsers in at an issuer.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn begin(
    State(app): State<App>,
    Query(parameters): Query<Begin>,
) -> Result<Response, Problem> {
    let flow = flow(&app)?;
    let return_path = parameters.return_path.unwrap_or_else(|| "/".to_owned());
    if !is_own_path(&return_path) {
        let detail = "`return` has to be a path of this server, such as `/#/clusters`";
        return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
    }
    match flow.begin(return_path).await {
        Ok((url, attempt)) => with_cookie(see_other(&url)?, &attempt_cookie(&attempt)?),
        Err(error) => to_form(reason(&error)),
    }
}

/// End a sign-in at the issuer
///
/// The issuer leads the browser here. The server exchanges the code for an ID token, and stores the token in a cookie
/// of the browser that scripts cannot read.
#[utoipa::path(
    get,
    path = "/v2/session/oidc/callback",
    operation_id = "end_oidc_sign_in",
    tag = "service",
    params(Callback),
    responses(
        (status = 303, description = "The location is the page; after a failure, its form of sign-in with the reason."),
        (status = 404, description = "The server does not sign browsers in at an issuer.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn callback(
    State(app): State<App>,
    sender: Sender,
    headers: HeaderMap,
    Query(parameters): Query<Callback>,
) -> Result<Response, Problem> {
    flow(&app)?;
    let answer = match finish(&app, &sender, &headers, parameters).await {
        Ok(answer) => answer,
        Err(reason) => to_form(reason)?,
    };
    let done = host_cookie(ATTEMPT, String::new()).same_site(SameSite::Lax);
    with_cookie(answer, &done.max_age(Duration::ZERO).build())
}

/// The answer to a browser that the issuer returned; an error is the code of the reason for the page.
async fn finish(
    app: &AppState,
    sender: &Sender,
    headers: &HeaderMap,
    parameters: Callback,
) -> Result<Response, &'static str> {
    let control = app.access.as_deref().ok_or("refused")?;
    let flow = control.code_flow().ok_or("refused")?;
    if parameters.error.is_some() {
        return Err("denied");
    }
    let attempt = attempt(headers).ok_or("state")?;
    let (code, state) = parameters.code.zip(parameters.state).ok_or("state")?;
    let token = flow.finish(&code, &state, &attempt).await;
    let token = token.map_err(|error| reason(&error))?;
    let caller = authenticate(control, sender, &token).await;
    let caller = caller.map_err(|refusal| match refusal {
        Refusal::Unavailable => "issuer",
        _ => "refused",
    })?;
    let cookie = signed_in(COOKIE, &token, &caller, (app.clock)()).map_err(|_| "refused")?;
    let answer = see_other(&attempt.return_path).map_err(|_| "state")?;
    with_cookie(answer, &cookie).map_err(|_| "refused")
}

fn flow(app: &AppState) -> Result<&CodeFlow, Problem> {
    let flow = app
        .access
        .as_deref()
        .and_then(|control| control.code_flow());
    flow.ok_or_else(|| {
        let detail = "this server does not sign browsers in at an issuer: set `oidc-public-url`";
        Problem::new(StatusCode::NOT_FOUND, detail)
    })
}

/// Returns whether a browser stays on this server with a path: browsers read `//` and `/\` as the begin of a host.
fn is_own_path(path: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    path.starts_with('/')
        && !path.starts_with("//")
        && path.len() <= RETURN_BYTES_MAX
        && path.bytes().all(is_plain)
}

fn attempt_cookie(attempt: &SignInAttempt) -> Result<cookie::Cookie<'static>, Problem> {
    let value = serde_json::to_vec(attempt).map_err(|_| internal())?;
    let cookie = host_cookie(ATTEMPT, URL_SAFE_NO_PAD.encode(value));
    Ok(cookie.same_site(SameSite::Lax).max_age(ATTEMPT_MAX).build())
}

/// The sign-in that this browser began.
fn attempt(headers: &HeaderMap) -> Option<SignInAttempt> {
    let value = cookie(headers, ATTEMPT).ok().flatten()?;
    let value = URL_SAFE_NO_PAD.decode(value).ok()?;
    let attempt: SignInAttempt = serde_json::from_slice(&value).ok()?;
    is_own_path(&attempt.return_path).then_some(attempt)
}

/// The code of a failure for the page. The log has the reason.
fn reason(error: &CodeFlowError) -> &'static str {
    tracing::info!(reason = %error, "a sign-in at the OIDC issuer failed");
    match error {
        CodeFlowError::State => "state",
        CodeFlowError::Unavailable(_) => "issuer",
        CodeFlowError::Refused(_) => "refused",
    }
}

/// Leads to the form of sign-in, which shows the reason of a failure.
fn to_form(reason: &str) -> Result<Response, Problem> {
    see_other(&format!("/#/sign-in?error={reason}"))
}

fn see_other(location: &str) -> Result<Response, Problem> {
    let location = HeaderValue::try_from(location).map_err(|_| internal())?;
    let headers: [(HeaderName, HeaderValue); 2] = [
        (header::LOCATION, location),
        (
            header::REFERRER_POLICY,
            HeaderValue::from_static("no-referrer"),
        ),
    ];
    Ok((StatusCode::SEE_OTHER, headers).into_response())
}
