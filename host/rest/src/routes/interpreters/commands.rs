//! Commands to an existing interpreter.

use axum::Json;
use axum::extract::State;
use kindsight_api::interpreters::{
    Outcome, Promotion, RemovalParameters, RemovedNames, ShadowReport, ShadowRun,
};
use kindsight_api::problem::ProblemDocument;

use super::{Answered, Body, run};
use crate::app::App;
use crate::audit::Audited;
use crate::caller::Sender;
use crate::catalog::Command;
use crate::command::{self, IfMatch, IfMatchHeader, Name, NoInput, NoParameters, Unused};
use crate::problem::Problem;
use crate::routes::errors::{CommandErrors, CommonErrors, SettingsErrors};

/// Remove an uploaded component
///
/// Removes the component that was loaded over the API. The component that it overrode judges again: a component from
/// the watched directory, else the built-in component. If no component of the name is in use any more, the next removal
/// forgets the name with its versions and its history.
#[utoipa::path(
    delete,
    path = "/v2/interpreters/{name}",
    operation_id = "remove_interpreter",
    tag = "interpreters",
    params(Name, IfMatchHeader),
    responses(
        (status = 200, description = "The uploaded component is removed.", body = Outcome),
        CommandErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn remove(
    State(app): State<App>,
    sender: Sender,
    NoInput(name, condition): NoInput,
) -> Answered {
    run(&app, &sender, name, Command::Remove, condition).await
}

/// Remove all names that are not used
///
/// Forgets every unused name: no source has a live version or a candidate of it. The versions and the histories of
/// these names are deleted.
#[utoipa::path(
    delete,
    path = "/v2/interpreters",
    operation_id = "remove_unused_interpreters",
    tag = "interpreters",
    params(RemovalParameters),
    responses(
        (status = 200, description = "The names that were removed.", body = RemovedNames),
        CommandErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn remove_unused(
    State(app): State<App>,
    sender: Sender,
    _: Unused,
) -> Result<Json<RemovedNames>, Problem> {
    let audited = Audited {
        app: &app,
        sender: &sender,
    };
    let removed = audited.remove_unused().await;
    removed
        .map(Json)
        .map_err(|refusal| Problem::refused("", refusal))
}

/// Compare a candidate with the live version
///
/// Runs the candidate and the live version over every known object, and reports the verdicts and the applications that
/// would change. With `base`, the built-in version takes the place of the live one. No verdict changes. The server
/// remembers whether the candidate had faults: a promotion then needs `force`.
#[utoipa::path(
    post,
    path = "/v2/interpreters/{name}/shadow",
    operation_id = "shadow_interpreter",
    tag = "interpreters",
    params(Name, IfMatchHeader),
    request_body(content = Option<ShadowRun>, description = "The base of the comparison and the settings of the candidate; may be left out.", content_type = "application/json"),
    responses(
        (status = 200, description = "The verdicts that would change.", body = ShadowReport),
        CommandErrors,
        (status = 413, description = "The body is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 415, description = "The body is not `application/json`, or compressed.", body = ProblemDocument, content_type = "application/problem+json"),
        SettingsErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn shadow(
    State(app): State<App>,
    sender: Sender,
    Name { name }: Name,
    _: NoParameters,
    IfMatch(condition): IfMatch,
    body: Body,
) -> Answered {
    let body = command::within(app.limits.catalog_json_bytes_max, body)?;
    let shadow = command::shadowed(&body)?;
    run(&app, &sender, name, Command::Shadow(shadow), condition).await
}

/// Promote a candidate
///
/// Makes the candidate live. With a digest, makes the version with this digest live: the candidate, a former live
/// version, a rolled-back version, or the built-in version. A promotion also enables the interpreter. With settings,
/// these replace the present settings in the same step. A candidate whose last shadow run had faults needs `force`.
#[utoipa::path(
    post,
    path = "/v2/interpreters/{name}/promote",
    operation_id = "promote_interpreter",
    tag = "interpreters",
    params(Name, IfMatchHeader),
    request_body(content = Option<Promotion>, description = "The digest and the settings of the version; may be left out for the candidate.", content_type = "application/json"),
    responses(
        (status = 200, description = "The version is live.", body = Outcome),
        CommandErrors,
        (status = 413, description = "The body is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 415, description = "The body is not `application/json`, or compressed.", body = ProblemDocument, content_type = "application/problem+json"),
        SettingsErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn promote(
    State(app): State<App>,
    sender: Sender,
    Name { name }: Name,
    _: NoParameters,
    IfMatch(condition): IfMatch,
    body: Body,
) -> Answered {
    let body = command::within(app.limits.catalog_json_bytes_max, body)?;
    let promote = command::promoted(&body)?;
    run(&app, &sender, name, Command::Promote(promote), condition).await
}

/// Roll back to the previous version
///
/// Makes the previous version live again. The version that was live is marked `rolled-back`, and the watched directory
/// does not restore it.
#[utoipa::path(
    post,
    path = "/v2/interpreters/{name}/rollback",
    operation_id = "rollback_interpreter",
    tag = "interpreters",
    params(Name, IfMatchHeader),
    responses(
        (status = 200, description = "The previous version is live.", body = Outcome),
        CommandErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn rollback(
    State(app): State<App>,
    sender: Sender,
    NoInput(name, condition): NoInput,
) -> Answered {
    run(&app, &sender, name, Command::Rollback, condition).await
}

/// Disable an interpreter
///
/// Removes the interpreter from the published set until it is enabled. The next less specific interpreter judges its
/// Kinds, if there is one.
#[utoipa::path(
    post,
    path = "/v2/interpreters/{name}/disable",
    operation_id = "disable_interpreter",
    tag = "interpreters",
    params(Name, IfMatchHeader),
    responses(
        (status = 200, description = "The interpreter is disabled.", body = Outcome),
        CommandErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn disable(
    State(app): State<App>,
    sender: Sender,
    NoInput(name, condition): NoInput,
) -> Answered {
    run(&app, &sender, name, Command::Disable, condition).await
}

/// Enable an interpreter
///
/// Publishes a disabled interpreter again.
#[utoipa::path(
    post,
    path = "/v2/interpreters/{name}/enable",
    operation_id = "enable_interpreter",
    tag = "interpreters",
    params(Name, IfMatchHeader),
    responses(
        (status = 200, description = "The interpreter is enabled.", body = Outcome),
        CommandErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn enable(
    State(app): State<App>,
    sender: Sender,
    NoInput(name, condition): NoInput,
) -> Answered {
    run(&app, &sender, name, Command::Enable, condition).await
}

/// Replace the settings of an interpreter
///
/// Replaces all settings. The interpreter then judges its objects again with the new settings.
#[utoipa::path(
    put,
    path = "/v2/interpreters/{name}/settings",
    operation_id = "set_settings",
    tag = "interpreters",
    params(Name, IfMatchHeader),
    request_body(content = Object, description = "The settings: an object that fits `settings-schema` of the interpreter.", content_type = "application/json"),
    responses(
        (status = 200, description = "The settings are in force.", body = Outcome),
        CommandErrors,
        (status = 413, description = "The body is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 415, description = "The body is not `application/json`, or compressed.", body = ProblemDocument, content_type = "application/problem+json"),
        SettingsErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn set(
    State(app): State<App>,
    sender: Sender,
    Name { name }: Name,
    _: NoParameters,
    IfMatch(condition): IfMatch,
    body: Body,
) -> Answered {
    let body = command::within(app.limits.catalog_json_bytes_max, body)?;
    let settings = command::settings(&body)?;
    run(
        &app,
        &sender,
        name,
        Command::Settings(Some(settings)),
        condition,
    )
    .await
}

/// Remove the settings of an interpreter
///
/// Removes all settings. The interpreter then judges its objects again without settings.
#[utoipa::path(
    delete,
    path = "/v2/interpreters/{name}/settings",
    operation_id = "clear_settings",
    tag = "interpreters",
    params(Name, IfMatchHeader),
    responses(
        (status = 200, description = "The interpreter has no settings.", body = Outcome),
        CommandErrors,
        SettingsErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn clear(
    State(app): State<App>,
    sender: Sender,
    NoInput(name, condition): NoInput,
) -> Answered {
    run(&app, &sender, name, Command::Settings(None), condition).await
}
