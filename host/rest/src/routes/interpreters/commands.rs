//! Commands to an interpreter that is there.

use axum::extract::State;
use kindsight_api::interpreters::{Outcome, Promotion, ShadowReport};
use kindsight_api::problem::ProblemDocument;

use super::{Answered, Body, run};
use crate::AppState;
use crate::catalog::Command;
use crate::command::{self, Name, NoInput, NoParameters};
use crate::routes::errors::{CommandErrors, CommonErrors, SettingsErrors};

/// Remove an uploaded component
///
/// Removes the component that was loaded over the API. The one that it overrode judges again: from the
/// watched directory, else the built-in one.
#[utoipa::path(
    delete,
    path = "/v2/interpreters/{name}",
    operation_id = "remove_interpreter",
    tag = "interpreters",
    params(Name),
    responses(
        (status = 200, description = "The uploaded component is removed.", body = Outcome),
        CommandErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn remove(State(app): State<AppState>, NoInput(name): NoInput) -> Answered {
    run(&app, name, Command::Remove).await
}

/// Compare a candidate with the live version
///
/// Runs the candidate beside the live version, over every object the server knows, and reports the
/// verdicts that would change. Nothing is changed.
#[utoipa::path(
    post,
    path = "/v2/interpreters/{name}/shadow",
    operation_id = "shadow_interpreter",
    tag = "interpreters",
    params(Name),
    responses(
        (status = 200, description = "The verdicts that would change.", body = ShadowReport),
        CommandErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn shadow(State(app): State<AppState>, NoInput(name): NoInput) -> Answered {
    run(&app, name, Command::Shadow).await
}

/// Promote a candidate
///
/// Makes the candidate live. With a digest only if it is still that of the candidate.
#[utoipa::path(
    post,
    path = "/v2/interpreters/{name}/promote",
    operation_id = "promote_interpreter",
    tag = "interpreters",
    params(Name),
    request_body(content = Option<Promotion>, description = "The digest of the candidate; may be left out.", content_type = "application/json"),
    responses(
        (status = 200, description = "The candidate is live.", body = Outcome),
        CommandErrors,
        (status = 413, description = "The body is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
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

/// Roll back to the previous version
///
/// Makes the previous version live again. The version that was live is marked `rolled-back`: the
/// watched directory does not bring it back.
#[utoipa::path(
    post,
    path = "/v2/interpreters/{name}/rollback",
    operation_id = "rollback_interpreter",
    tag = "interpreters",
    params(Name),
    responses(
        (status = 200, description = "The previous version is live.", body = Outcome),
        CommandErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn rollback(State(app): State<AppState>, NoInput(name): NoInput) -> Answered {
    run(&app, name, Command::Rollback).await
}

/// Disable an interpreter
///
/// Leaves the interpreter out of what is published, until it is enabled. Its Kinds are judged by the
/// next less specific interpreter, if there is one.
#[utoipa::path(
    post,
    path = "/v2/interpreters/{name}/disable",
    operation_id = "disable_interpreter",
    tag = "interpreters",
    params(Name),
    responses(
        (status = 200, description = "The interpreter is disabled.", body = Outcome),
        CommandErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn disable(State(app): State<AppState>, NoInput(name): NoInput) -> Answered {
    run(&app, name, Command::Disable).await
}

/// Enable an interpreter
///
/// Publishes a disabled interpreter again.
#[utoipa::path(
    post,
    path = "/v2/interpreters/{name}/enable",
    operation_id = "enable_interpreter",
    tag = "interpreters",
    params(Name),
    responses(
        (status = 200, description = "The interpreter is enabled.", body = Outcome),
        CommandErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn enable(State(app): State<AppState>, NoInput(name): NoInput) -> Answered {
    run(&app, name, Command::Enable).await
}

/// Replace the settings of an interpreter
///
/// Replaces all settings. The objects that the interpreter judges are judged again with them.
#[utoipa::path(
    put,
    path = "/v2/interpreters/{name}/settings",
    operation_id = "set_settings",
    tag = "interpreters",
    params(Name),
    request_body(content = Object, description = "The settings: an object that fits `settings-schema` of the interpreter.", content_type = "application/json"),
    responses(
        (status = 200, description = "The settings are in force.", body = Outcome),
        CommandErrors,
        (status = 413, description = "The body is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        SettingsErrors,
        CommonErrors,
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

/// Remove the settings of an interpreter
///
/// Removes all settings. The objects that the interpreter judges are judged again without them.
#[utoipa::path(
    delete,
    path = "/v2/interpreters/{name}/settings",
    operation_id = "clear_settings",
    tag = "interpreters",
    params(Name),
    responses(
        (status = 200, description = "The interpreter has no settings.", body = Outcome),
        CommandErrors,
        SettingsErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn clear(State(app): State<AppState>, NoInput(name): NoInput) -> Answered {
    run(&app, name, Command::Settings(None)).await
}
