//! Deployment intent groups and network intents of clusters: content, and actions of their lifecycle.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection};
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use kindsight_access::Role;
use kindsight_api::lifecycle::{Group, GroupIntent, GroupRefusal, GroupState};
use kindsight_api::problem::{PartialProblem, ProblemDocument};
use kindsight_model::RecordSubject;
use serde::de::DeserializeOwned;

use crate::AppState;
use crate::answer::internal;
use crate::app::App;
use crate::audit;
use crate::blocking::spawn_blocking;
use crate::caller::Sender;
use crate::command::{self, IfContent, IfContentHeader, NoBody, NoParameters};
use crate::lifecycle::{GroupCommand, GroupLifecycle};
use crate::limits::GROUP_BYTES_MAX;
use crate::problem::Problem;
use crate::routes::errors::{CommonErrors, GroupErrors};
use crate::routes::paths::DigPath;

pub(crate) mod network_intents;
mod updates;

pub(crate) use updates::*;

/// Read a deployment intent group
///
/// Shows the content, the state, the possible actions and the past actions of a group that was created with `PUT`. The
/// content of Secrets is `REDACTED`. `ETag` is the tag of the content, for `If-Match` of an approval.
#[utoipa::path(
    get,
    path = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}",
    operation_id = "get_group",
    tag = "lifecycle",
    params(DigPath),
    responses(
        (status = 200, description = "The group.", body = Group),
        GroupErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn get(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<DigPath>, PathRejection>,
    _: NoParameters,
) -> Result<Response, Problem> {
    let subject = path?.0.subject()?;
    let roles = [Role::Viewer, Role::Approver, Role::Deployer];
    check(&sender, &roles, &subject)?;
    let group = run(&app, move |groups| groups.get(&subject)).await?;
    let tag = group.lifecycle.content.as_ref().and_then(command::etag);
    let mut response = Json(group).into_response();
    if let Some(tag) = tag {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(response)
}

/// Create or replace a deployment intent group
///
/// If the content of an approved or terminated group changes, the group needs another approval. The changed content of an
/// instantiated group needs an approval too, and is sent by the next update.
#[utoipa::path(
    put,
    path = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}",
    operation_id = "put_group",
    tag = "lifecycle",
    params(DigPath),
    request_body(content = GroupIntent, description = "The content.", content_type = "application/json"),
    responses(
        (status = 200, description = "The group has this content.", body = GroupState),
        (status = 201, description = "The group is new.", body = GroupState),
        (status = 413, description = "The body is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 415, description = "The body is not `application/json`, or compressed.", body = ProblemDocument, content_type = "application/problem+json"),
        GroupErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn put(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<DigPath>, PathRejection>,
    _: NoParameters,
    body: Result<Bytes, BytesRejection>,
) -> Result<(StatusCode, Json<GroupState>), Problem> {
    let subject = path?.0.subject()?;
    check(&sender, &[Role::Deployer], &subject)?;
    let body = command::within(GROUP_BYTES_MAX, body)?;
    let intent = read(&body, "GroupIntent")?;
    let stored = change(&app, &sender, "apply", subject, |groups, subject| {
        groups.put(subject, intent)
    });
    let (is_new, state) = stored.await?;
    let status = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok((status, Json(state)))
}

/// Delete a deployment intent group
///
/// Deletes a group that is Created, Approved or Terminated, with all its instances.
#[utoipa::path(
    delete,
    path = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}",
    operation_id = "delete_group",
    tag = "lifecycle",
    params(DigPath),
    responses(
        (status = 204, description = "The group is deleted."),
        GroupErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn delete(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<DigPath>, PathRejection>,
    _: NoParameters,
    _: NoBody,
) -> Result<StatusCode, Problem> {
    let subject = path?.0.subject()?;
    check(&sender, &[Role::Deployer], &subject)?;
    let deleted = change(&app, &sender, "delete", subject, |groups, subject| {
        groups.delete(subject)
    });
    deleted.await.map(|()| StatusCode::NO_CONTENT)
}

/// Approve a deployment intent group
///
/// Approves the content of a group, so that the group can be instantiated. With `If-Match`, only the content with this
/// tag is approved.
#[utoipa::path(
    post,
    path = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}/approve",
    operation_id = "approve_group",
    tag = "lifecycle",
    params(DigPath, IfContentHeader),
    responses(
        (status = 202, description = "The group is approved.", body = GroupState),
        (status = 412, description = "The content of the group does not have the tag in `If-Match`.", body = ProblemDocument, content_type = "application/problem+json"),
        GroupErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn approve(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<DigPath>, PathRejection>,
    IfContent(tags): IfContent,
    _: NoParameters,
    _: NoBody,
) -> Result<(StatusCode, Json<GroupState>), Problem> {
    let subject = path?.0.subject()?;
    check(&sender, &[Role::Approver], &subject)?;
    let approved = change(&app, &sender, "approve", subject, |groups, subject| {
        groups.approve(subject, tags)
    });
    approved
        .await
        .map(|state| (StatusCode::ACCEPTED, Json(state)))
}

/// Terminate a deployment intent group
///
/// Removes the resources of a group from their clusters. Ends a running instantiation. The work begins after the answer.
#[utoipa::path(
    post,
    path = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}/terminate",
    operation_id = "terminate_group",
    tag = "lifecycle",
    params(DigPath),
    responses(
        (status = 202, description = "The action is recorded.", body = GroupState),
        GroupErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn terminate(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<DigPath>, PathRejection>,
    _: NoParameters,
    _: NoBody,
) -> Result<(StatusCode, Json<GroupState>), Problem> {
    act(&app, &sender, path, (GroupCommand::Terminate, false)).await
}

/// Stop a running instantiation or termination
///
/// Ends the work on an instance, also while a cluster is unreachable. The instance can be terminated afterwards.
#[utoipa::path(
    post,
    path = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}/stop",
    operation_id = "stop_group",
    tag = "lifecycle",
    params(DigPath),
    responses(
        (status = 202, description = "The action is recorded.", body = GroupState),
        GroupErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn stop(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<DigPath>, PathRejection>,
    _: NoParameters,
    _: NoBody,
) -> Result<(StatusCode, Json<GroupState>), Problem> {
    act(&app, &sender, path, (GroupCommand::Stop, false)).await
}

async fn act(
    app: &AppState,
    sender: &Sender,
    path: Result<Path<DigPath>, PathRejection>,
    command: (GroupCommand, bool),
) -> Result<(StatusCode, Json<GroupState>), Problem> {
    act_on(app, sender, path?.0.subject()?, command).await
}

/// Appends an action to the record of a subject.
async fn act_on(
    app: &AppState,
    sender: &Sender,
    subject: RecordSubject,
    (command, force): (GroupCommand, bool),
) -> Result<(StatusCode, Json<GroupState>), Problem> {
    let (role, word) = match command {
        GroupCommand::Apply => (Role::Deployer, "apply"),
        GroupCommand::Update => (Role::Deployer, "update"),
        GroupCommand::Rollback(_) => (Role::Deployer, "rollback"),
        GroupCommand::Approve => (Role::Approver, "approve"),
        GroupCommand::Instantiate => (Role::Deployer, "instantiate"),
        GroupCommand::Terminate => (Role::Deployer, "terminate"),
        GroupCommand::Stop => (Role::Deployer, "stop"),
    };
    check(sender, &[role], &subject)?;
    let done = change(app, sender, word, subject, move |groups, subject| {
        groups.act(subject, command, force)
    });
    done.await.map(|state| (StatusCode::ACCEPTED, Json(state)))
}

/// Checks that the sender has one of these roles for a subject. A subject of other users does not exist for the sender.
fn check(sender: &Sender, roles: &[Role], subject: &RecordSubject) -> Result<(), Problem> {
    let rights = sender.caller.rights();
    let mut roles = roles.iter();
    if roles.any(|role| rights.subjects(*role).contains(subject)) {
        return Ok(());
    }
    let detail = match subject {
        RecordSubject::Cluster(_) => format!("the {subject} has no network intents"),
        RecordSubject::Group(_) | RecordSubject::LogicalCloud(_) => {
            format!("there is no {subject}")
        }
    };
    Err(Problem::new(StatusCode::NOT_FOUND, detail))
}

/// Runs a call of the lifecycle on a blocking thread.
async fn run<T: Send + 'static>(
    app: &AppState,
    call: impl FnOnce(&dyn GroupLifecycle) -> Result<T, GroupRefusal> + Send + 'static,
) -> Result<T, Problem> {
    let Some(groups) = app.lifecycle.clone() else {
        let detail = "the lifecycle of applications is disabled: start the server with --lifecycle";
        return Err(Problem::new(StatusCode::CONFLICT, detail));
    };
    let called = spawn_blocking(move || call(&*groups)).await;
    called.map_err(|_| internal())?.map_err(Problem::from)
}

/// Changes a subject, and writes a line to the audit log. Both happen also if the client disconnects.
async fn change<T: Send + 'static>(
    app: &AppState,
    sender: &Sender,
    action: &'static str,
    subject: RecordSubject,
    call: impl FnOnce(&dyn GroupLifecycle, &RecordSubject) -> Result<T, GroupRefusal> + Send + 'static,
) -> Result<T, Problem> {
    let user = sender.user_name().to_owned();
    run(app, move |groups| {
        let done = call(groups, &subject);
        audit::log_subject(&user, action, &subject, done.as_ref().err());
        done
    })
    .await
}

/// Reads a body with this schema. An error names the JSON path.
fn read<T: DeserializeOwned>(body: &[u8], schema: &str) -> Result<T, Problem> {
    let json = &mut serde_json::Deserializer::from_slice(body);
    let read = serde_path_to_error::deserialize(&mut *json);
    let read = read.map_err(|error| (error.path().to_string(), error.into_inner()));
    let read = read.and_then(|read: T| {
        let end = json.end().map_err(|error| (".".to_owned(), error));
        end.map(|()| read)
    });
    read.map_err(|(path, error)| {
        let expected = format!("the schema `{schema}` of `/openapi.json`");
        let problem = PartialProblem::new(path, error.to_string(), expected);
        Problem::invalid_in("the body", vec![problem])
    })
}
