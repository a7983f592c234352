//! Instantiations, updates, rollbacks and dry runs of deployment intent groups.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use kindsight_access::Role;
use kindsight_api::lifecycle::{DryRun, GroupIntent, GroupState, RollbackTarget, SendingOptions};
use kindsight_api::problem::ProblemDocument;

use super::{act, check, read, run};
use crate::AppState;
use crate::app::App;
use crate::caller::Sender;
use crate::command::{self, NoParameters};
use crate::lifecycle::GroupCommand;
use crate::limits::GROUP_BYTES_MAX;
use crate::problem::Problem;
use crate::routes::errors::{CommonErrors, GroupErrors};
use crate::routes::paths::DigPath;

/// Instantiate a deployment intent group
///
/// Sends the resources of a group to their clusters. The work begins after the answer; `running` of the group is true
/// until the work ends.
#[utoipa::path(
    post,
    path = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}/instantiate",
    operation_id = "instantiate_group",
    tag = "lifecycle",
    params(DigPath),
    request_body(content = Option<SendingOptions>, description = "The options.", content_type = "application/json"),
    responses(
        (status = 202, description = "The action is recorded.", body = GroupState),
        (status = 413, description = "The body is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 415, description = "The body is not `application/json`, or compressed.", body = ProblemDocument, content_type = "application/problem+json"),
        GroupErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn instantiate(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<DigPath>, PathRejection>,
    _: NoParameters,
    body: Result<Bytes, BytesRejection>,
) -> Result<(StatusCode, Json<GroupState>), Problem> {
    send(&app, &sender, (path?, body), GroupCommand::Instantiate).await
}

/// Update a deployment intent group
///
/// Sends the approved content of an instantiated group: resources that are new, changed or missing are sent, then resources
/// that the content does not name any more are removed. The work begins after the answer.
#[utoipa::path(
    post,
    path = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}/update",
    operation_id = "update_group",
    tag = "lifecycle",
    params(DigPath),
    request_body(content = Option<SendingOptions>, description = "The options.", content_type = "application/json"),
    responses(
        (status = 202, description = "The action is recorded.", body = GroupState),
        (status = 413, description = "The body is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 415, description = "The body is not `application/json`, or compressed.", body = ProblemDocument, content_type = "application/problem+json"),
        GroupErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn update(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<DigPath>, PathRejection>,
    _: NoParameters,
    body: Result<Bytes, BytesRejection>,
) -> Result<(StatusCode, Json<GroupState>), Problem> {
    send(&app, &sender, (path?, body), GroupCommand::Update).await
}

/// Roll back a deployment intent group
///
/// Sends the content of an earlier revision of an instantiated group, as an update. The stored content stays.
#[utoipa::path(
    post,
    path = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}/rollback",
    operation_id = "rollback_group",
    tag = "lifecycle",
    params(DigPath),
    request_body(content = RollbackTarget, description = "The revision.", content_type = "application/json"),
    responses(
        (status = 202, description = "The action is recorded.", body = GroupState),
        (status = 413, description = "The body is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 415, description = "The body is not `application/json`, or compressed.", body = ProblemDocument, content_type = "application/problem+json"),
        GroupErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn rollback(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<DigPath>, PathRejection>,
    _: NoParameters,
    body: Result<Bytes, BytesRejection>,
) -> Result<(StatusCode, Json<GroupState>), Problem> {
    let path = path?;
    check(&sender, &[Role::Deployer], &path.0.subject()?)?;
    let body = command::within(GROUP_BYTES_MAX, body)?;
    let target: RollbackTarget = read(&body, "RollbackTarget")?;
    let command = GroupCommand::Rollback(target.revision);
    act(&app, &sender, Ok(path), (command, target.force)).await
}

/// Show the effect of an instantiation or an update
///
/// Shows which resources an instantiation would send, or an update if the group is instantiated, and the changes in the
/// clusters. The content is the body; without a body, the stored content. Nothing is changed.
#[utoipa::path(
    post,
    path = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}/dry-run",
    operation_id = "dry_run_group",
    tag = "lifecycle",
    params(DigPath),
    request_body(content = Option<GroupIntent>, description = "The content.", content_type = "application/json"),
    responses(
        (status = 200, description = "The effect.", body = DryRun),
        (status = 413, description = "The body is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 415, description = "The body is not `application/json`, or compressed.", body = ProblemDocument, content_type = "application/problem+json"),
        GroupErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn dry_run(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<DigPath>, PathRejection>,
    _: NoParameters,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<DryRun>, Problem> {
    let subject = path?.0.subject()?;
    check(&sender, &[Role::Deployer], &subject)?;
    let body = command::within(GROUP_BYTES_MAX, body)?;
    let intent = if body.is_empty() {
        None
    } else {
        Some(read::<GroupIntent>(&body, "GroupIntent")?)
    };
    let slot = app.remote_call()?;
    let shown = run(&app, move |groups| {
        let _slot = slot;
        groups.dry_run(&subject, intent)
    });
    shown.await.map(Json)
}

/// Sends the resources of a group, with the options in the body.
async fn send(
    app: &AppState,
    sender: &Sender,
    (path, body): (Path<DigPath>, Result<Bytes, BytesRejection>),
    command: GroupCommand,
) -> Result<(StatusCode, Json<GroupState>), Problem> {
    check(sender, &[Role::Deployer], &path.0.subject()?)?;
    let force = options(body)?.force;
    act(app, sender, Ok(path), (command, force)).await
}

/// The options in a body; the defaults without a body.
pub(super) fn options(body: Result<Bytes, BytesRejection>) -> Result<SendingOptions, Problem> {
    let body = command::within(GROUP_BYTES_MAX, body)?;
    if body.is_empty() {
        return Ok(SendingOptions::default());
    }
    read(&body, "SendingOptions")
}
