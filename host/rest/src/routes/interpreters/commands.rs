//! What can be done to an interpreter that is there.

use axum::extract::State;
use kindsight_api::interpreters::{Outcome, Promotion, ShadowReport};
use kindsight_api::problem::ProblemDocument;
use utoipa::IntoResponses;

use super::{Answered, Body, Wrong, run};
use crate::AppState;
use crate::catalog::Command;
use crate::command::{self, Bare, Name, NoParameters};

/// Why a command to an interpreter that is there is not carried out.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "it is described, never made")]
enum NotDone {
    #[response(
        status = 403,
        description = "A page of another origin asks.",
        content_type = "application/problem+json"
    )]
    Foreign(ProblemDocument),
    #[response(
        status = 404,
        description = "There is none of this name; the problem names those that there are.",
        content_type = "application/problem+json"
    )]
    NotFound(ProblemDocument),
    #[response(
        status = 409,
        description = "It does not fit what there is now: nothing waits to be promoted, nothing is there to go back to, or another host changed the interpreters at the same moment.",
        content_type = "application/problem+json"
    )]
    Conflict(ProblemDocument),
}

/// Why settings are not taken.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "it is described, never made")]
enum NotSet {
    #[response(
        status = 422,
        description = "The schema of the settings, or the component with them, refuses; `step` says at which step.",
        content_type = "application/problem+json"
    )]
    Refused(ProblemDocument),
}

/// Remove an upload
///
/// Takes away what was loaded here. What it overrode judges again: a component of that name from the
/// watched directory, else the one that is built in.
#[utoipa::path(
    delete,
    path = "/v2/interpreters/{name}",
    operation_id = "remove_interpreter",
    tag = "interpreters",
    params(Name),
    responses(
        (status = 200, description = "It is gone.", body = Outcome),
        NotDone,
        Wrong,
    ),
)]
pub(crate) async fn remove(State(app): State<AppState>, Bare(name): Bare) -> Answered {
    run(&app, name, Command::Remove).await
}

/// Try a candidate
///
/// Runs what waits to be promoted beside what is live, over every object the host knows, and says
/// which verdicts would change. Nothing that is shown changes.
#[utoipa::path(
    post,
    path = "/v2/interpreters/{name}/shadow",
    operation_id = "shadow_interpreter",
    tag = "interpreters",
    params(Name),
    responses(
        (status = 200, description = "What would change.", body = ShadowReport),
        NotDone,
        Wrong,
    ),
)]
pub(crate) async fn shadow(State(app): State<AppState>, Bare(name): Bare) -> Answered {
    run(&app, name, Command::Shadow).await
}

/// Promote a candidate
///
/// Makes live what waits for it. With a digest only if it is still the one that was looked at.
#[utoipa::path(
    post,
    path = "/v2/interpreters/{name}/promote",
    operation_id = "promote_interpreter",
    tag = "interpreters",
    params(Name),
    request_body(content = Option<Promotion>, description = "Which candidate; may be left out.", content_type = "application/json"),
    responses(
        (status = 200, description = "It is live.", body = Outcome),
        NotDone,
        (status = 413, description = "The body is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        Wrong,
    ),
)]
pub(crate) async fn promote(
    State(app): State<AppState>,
    Name { name }: Name,
    _: NoParameters,
    body: Body,
) -> Answered {
    let body = command::within(app.limits.catalog_json_bytes_max, body)?;
    let digest = command::promoted(&body)?;
    run(&app, name, Command::Promote { digest }).await
}

/// Go back
///
/// Makes the previous version live again. The present one counts as bad from then on: the watched
/// directory does not bring it back.
#[utoipa::path(
    post,
    path = "/v2/interpreters/{name}/rollback",
    operation_id = "rollback_interpreter",
    tag = "interpreters",
    params(Name),
    responses(
        (status = 200, description = "The previous version is live.", body = Outcome),
        NotDone,
        Wrong,
    ),
)]
pub(crate) async fn rollback(State(app): State<AppState>, Bare(name): Bare) -> Answered {
    run(&app, name, Command::Rollback).await
}

/// Leave an interpreter out
///
/// What it judges goes to whoever would judge it without it, until it is enabled.
#[utoipa::path(
    post,
    path = "/v2/interpreters/{name}/disable",
    operation_id = "disable_interpreter",
    tag = "interpreters",
    params(Name),
    responses(
        (status = 200, description = "It is left out.", body = Outcome),
        NotDone,
        Wrong,
    ),
)]
pub(crate) async fn disable(State(app): State<AppState>, Bare(name): Bare) -> Answered {
    run(&app, name, Command::Disable).await
}

/// Take an interpreter in again
///
/// Takes back what disabling did.
#[utoipa::path(
    post,
    path = "/v2/interpreters/{name}/enable",
    operation_id = "enable_interpreter",
    tag = "interpreters",
    params(Name),
    responses(
        (status = 200, description = "It is taken in again.", body = Outcome),
        NotDone,
        Wrong,
    ),
)]
pub(crate) async fn enable(State(app): State<AppState>, Bare(name): Bare) -> Answered {
    run(&app, name, Command::Enable).await
}

/// Set an interpreter
///
/// They replace what was set before. What the interpreter judges is judged again with them.
#[utoipa::path(
    put,
    path = "/v2/interpreters/{name}/settings",
    operation_id = "set_settings",
    tag = "interpreters",
    params(Name),
    request_body(content = Object, description = "The settings, as the interpreter's schema has them.", content_type = "application/json"),
    responses(
        (status = 200, description = "They hold.", body = Outcome),
        NotDone,
        (status = 413, description = "The body is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        NotSet,
        Wrong,
    ),
)]
pub(crate) async fn set(
    State(app): State<AppState>,
    Name { name }: Name,
    _: NoParameters,
    body: Body,
) -> Answered {
    let body = command::within(app.limits.catalog_json_bytes_max, body)?;
    let settings = command::settings(&body)?;
    run(&app, name, Command::Settings(Some(settings))).await
}

/// Take the settings of an interpreter away
///
/// What it judges is judged again without them.
#[utoipa::path(
    delete,
    path = "/v2/interpreters/{name}/settings",
    operation_id = "clear_settings",
    tag = "interpreters",
    params(Name),
    responses(
        (status = 200, description = "It has no settings.", body = Outcome),
        NotDone,
        NotSet,
        Wrong,
    ),
)]
pub(crate) async fn clear(State(app): State<AppState>, Bare(name): Bare) -> Answered {
    run(&app, name, Command::Settings(None)).await
}
