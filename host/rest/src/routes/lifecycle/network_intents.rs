//! Network intents of clusters: content, and actions of their lifecycle.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use kindsight_access::Role;
use kindsight_api::lifecycle::{
    AppIntent, ClusterNetworkIntents, DryRun, Group, GroupIntent, GroupState, NetworkIntents,
    SendingOptions,
};
use kindsight_api::problem::ProblemDocument;

use super::updates::options;
use super::{act_on, change, check, read, run};
use crate::app::App;
use crate::caller::Sender;
use crate::command::{self, NoBody, NoParameters};
use crate::lifecycle::GroupCommand;
use crate::limits::GROUP_BYTES_MAX;
use crate::problem::Problem;
use crate::routes::errors::{CommonErrors, GroupErrors};
use crate::routes::paths::ClusterPath;

/// Read the network intents of a cluster
///
/// Shows the content, the state, the possible actions and the past actions of network intents that were stored with `PUT`.
#[utoipa::path(
    get,
    path = "/v2/cluster-providers/{cluster-provider}/clusters/{cluster}/network-intents",
    operation_id = "get_network_intents",
    tag = "lifecycle",
    params(ClusterPath),
    responses(
        (status = 200, description = "The network intents.", body = ClusterNetworkIntents),
        GroupErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn get(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<ClusterPath>, PathRejection>,
    _: NoParameters,
) -> Result<Json<ClusterNetworkIntents>, Problem> {
    let subject = path?.0.subject()?;
    let roles = [Role::Viewer, Role::Approver, Role::Deployer];
    check(&sender, &roles, &subject)?;
    let stored = run(&app, move |groups| groups.get(&subject)).await?;
    Ok(Json(of_cluster(stored)))
}

/// Store the network intents of a cluster
///
/// Creates the network intents of a cluster, or replaces them. Nothing is sent: `apply` sends the stored network intents.
#[utoipa::path(
    put,
    path = "/v2/cluster-providers/{cluster-provider}/clusters/{cluster}/network-intents",
    operation_id = "put_network_intents",
    tag = "lifecycle",
    params(ClusterPath),
    request_body(content = NetworkIntents, description = "The content.", content_type = "application/json"),
    responses(
        (status = 200, description = "The cluster has these network intents.", body = GroupState),
        (status = 201, description = "The network intents are new.", body = GroupState),
        (status = 413, description = "The body is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 415, description = "The body is not `application/json`, or compressed.", body = ProblemDocument, content_type = "application/problem+json"),
        GroupErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn put(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<ClusterPath>, PathRejection>,
    _: NoParameters,
    body: Result<Bytes, BytesRejection>,
) -> Result<(StatusCode, Json<GroupState>), Problem> {
    let subject = path?.0.subject()?;
    check(&sender, &[Role::Deployer], &subject)?;
    let body = command::within(GROUP_BYTES_MAX, body)?;
    let intent = content(read(&body, "NetworkIntents")?);
    let stored = change(&app, &sender, "put", subject, |groups, subject| {
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

/// Delete the network intents of a cluster
///
/// Deletes network intents that are Created or Terminated, with all their instances.
#[utoipa::path(
    delete,
    path = "/v2/cluster-providers/{cluster-provider}/clusters/{cluster}/network-intents",
    operation_id = "delete_network_intents",
    tag = "lifecycle",
    params(ClusterPath),
    responses(
        (status = 204, description = "The network intents are deleted."),
        GroupErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn delete(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<ClusterPath>, PathRejection>,
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

/// Apply the network intents of a cluster
///
/// Sends the stored network intents to the cluster: resources that are new, changed or missing are sent, then resources
/// that the content does not name any more are removed. The work begins after the answer.
#[utoipa::path(
    post,
    path = "/v2/cluster-providers/{cluster-provider}/clusters/{cluster}/network-intents/apply",
    operation_id = "apply_network_intents",
    tag = "lifecycle",
    params(ClusterPath),
    request_body(content = Option<SendingOptions>, description = "The options.", content_type = "application/json"),
    responses(
        (status = 202, description = "The action is recorded.", body = GroupState),
        (status = 413, description = "The body is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 415, description = "The body is not `application/json`, or compressed.", body = ProblemDocument, content_type = "application/problem+json"),
        GroupErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn apply(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<ClusterPath>, PathRejection>,
    _: NoParameters,
    body: Result<Bytes, BytesRejection>,
) -> Result<(StatusCode, Json<GroupState>), Problem> {
    let subject = path?.0.subject()?;
    check(&sender, &[Role::Deployer], &subject)?;
    let command = (GroupCommand::Apply, options(body)?.force);
    act_on(&app, &sender, subject, command).await
}

/// Terminate the network intents of a cluster
///
/// Removes the resources of the network intents from the cluster. Ends a running application. The work begins after the
/// answer.
#[utoipa::path(
    post,
    path = "/v2/cluster-providers/{cluster-provider}/clusters/{cluster}/network-intents/terminate",
    operation_id = "terminate_network_intents",
    tag = "lifecycle",
    params(ClusterPath),
    responses(
        (status = 202, description = "The action is recorded.", body = GroupState),
        GroupErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn terminate(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<ClusterPath>, PathRejection>,
    _: NoParameters,
    _: NoBody,
) -> Result<(StatusCode, Json<GroupState>), Problem> {
    let command = (GroupCommand::Terminate, false);
    act_on(&app, &sender, path?.0.subject()?, command).await
}

/// Show the effect of an application of network intents
///
/// Shows which resources `apply` would send and remove, and the changes in the cluster. The content is the body; without a
/// body, the stored content. Nothing is changed.
#[utoipa::path(
    post,
    path = "/v2/cluster-providers/{cluster-provider}/clusters/{cluster}/network-intents/dry-run",
    operation_id = "dry_run_network_intents",
    tag = "lifecycle",
    params(ClusterPath),
    request_body(content = Option<NetworkIntents>, description = "The content.", content_type = "application/json"),
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
    path: Result<Path<ClusterPath>, PathRejection>,
    _: NoParameters,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<DryRun>, Problem> {
    let subject = path?.0.subject()?;
    check(&sender, &[Role::Deployer], &subject)?;
    let body = command::within(GROUP_BYTES_MAX, body)?;
    let intent = if body.is_empty() {
        None
    } else {
        Some(content(read(&body, "NetworkIntents")?))
    };
    let slot = app.remote_call()?;
    let shown = run(&app, move |groups| {
        let _slot = slot;
        groups.dry_run(&subject, intent)
    });
    shown.await.map(Json)
}

/// Network intents in the form of the content of a group. The lifecycle names the app and its cluster.
fn content(networks: NetworkIntents) -> GroupIntent {
    let app = AppIntent {
        name: String::new(),
        clusters: Vec::new(),
        any_of: Vec::new(),
        manifests: networks.manifests,
        depends_on: Vec::new(),
        resource_dependencies: Vec::new(),
    };
    GroupIntent {
        profile: None,
        apps: vec![app],
        controllers: Vec::new(),
    }
}

fn of_cluster(stored: Group) -> ClusterNetworkIntents {
    let manifests = stored.intent.apps.into_iter().flat_map(|app| app.manifests);
    ClusterNetworkIntents {
        intent: NetworkIntents {
            manifests: manifests.collect(),
        },
        lifecycle: stored.lifecycle,
        actions: stored.actions,
        problems: stored.problems,
        problems_left_off: stored.problems_left_off,
    }
}
