//! Reports that the agents of clusters push.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::extract::{Extension, Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use kindsight_access::Role;
use kindsight_api::problem::ProblemDocument;
use kindsight_api::push::{
    AgentNeeds, NeedsParameters, PUSH_BYTES_MAX, PushAnswer, PushParameters,
};
use kindsight_model::ClusterName;
use utoipa::ToSchema;

use crate::AppState;
use crate::answer::internal;
use crate::app::App;
use crate::blocking::spawn_blocking;
use crate::caller::Sender;
use crate::command;
use crate::problem::Problem;
use crate::routes::errors::{CommonErrors, PushErrors};
use crate::routes::paths::{ClusterPath, invalid_path};
use crate::serve::PeerAddress;

/// Gzip of JSON lines.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "it is described, never made")]
pub(crate) struct Lines(Vec<u8>);

/// Push a report
///
/// The agent of a cluster sends what changed since the last body: gzip of JSON lines. Without a body, the request is a
/// heartbeat. The role `agent` names the clusters of an agent. Unknown parameters are ignored.
#[utoipa::path(
    post,
    path = "/v2/cluster-providers/{cluster-provider}/clusters/{cluster}/reports",
    operation_id = "push_report",
    tag = "clusters",
    params(ClusterPath, PushParameters),
    request_body(content = inline(Lines), description = "The lines.", content_type = "application/gzip"),
    responses(
        (status = 200, description = "The body was taken.", body = PushAnswer),
        (status = 413, description = "The body, or the report on the cluster, is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 415, description = "The body is not `application/gzip`.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, description = "A line cannot be read.", body = ProblemDocument, content_type = "application/problem+json"),
        PushErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn push(
    State(app): State<App>,
    sender: Sender,
    peer: Option<Extension<PeerAddress>>,
    path: Result<Path<ClusterPath>, PathRejection>,
    query: Result<Query<PushParameters>, QueryRejection>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<PushAnswer>, Problem> {
    let cluster = path?.0.read().map_err(invalid_path)?;
    check(&app, &sender, peer.as_deref(), &cluster)?;
    let Query(parameters) = query?;
    let body = command::within(PUSH_BYTES_MAX, body)?;
    let pushes = Arc::clone(&app.pushes);
    let taken = spawn_blocking(move || pushes.accept(&cluster, &parameters, &body)).await;
    Ok(Json(taken.map_err(|_| internal())??))
}

/// Read what the server needs of an agent
///
/// Answers when the needs differ from the revision of the agent: the relations that interpreters ask for, the recorded
/// deployments and the configured applications of the cluster, and requests to confirm that everything was pushed.
#[utoipa::path(
    get,
    path = "/v2/cluster-providers/{cluster-provider}/clusters/{cluster}/reports/needs",
    operation_id = "agent_needs",
    tag = "clusters",
    params(ClusterPath, NeedsParameters),
    responses(
        (status = 200, description = "The needs.", body = AgentNeeds),
        (status = 204, description = "The agent has these needs already."),
        PushErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn needs(
    State(app): State<App>,
    sender: Sender,
    peer: Option<Extension<PeerAddress>>,
    path: Result<Path<ClusterPath>, PathRejection>,
    query: Result<Query<NeedsParameters>, QueryRejection>,
) -> Result<Response, Problem> {
    let cluster = path?.0.read().map_err(invalid_path)?;
    check(&app, &sender, peer.as_deref(), &cluster)?;
    let Query(parameters) = query?;
    let needs = app.pushes.needs(&cluster, &parameters).await?;
    Ok(match needs {
        Some(needs) => Json(needs).into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

/// Refuses an agent that may not report on a cluster. Without access control, the agent must be on this machine.
fn check(
    app: &AppState,
    sender: &Sender,
    peer: Option<&PeerAddress>,
    cluster: &ClusterName,
) -> Result<(), Problem> {
    if !sender
        .caller
        .rights()
        .subjects(Role::Agent)
        .has_cluster(cluster)
    {
        let user = sender.user_name();
        let detail = format!(
            "`{user}` may not report on the cluster `{cluster}`: it needs the role `agent` for this cluster"
        );
        return Err(Problem::new(StatusCode::FORBIDDEN, detail));
    }
    let is_local = peer.is_some_and(|peer| peer.0.to_canonical().is_loopback());
    if app.access.is_none() && !is_local {
        let detail = "without access control, only an agent on the machine of the server may push: start the server with --roles and --tokens";
        return Err(Problem::new(StatusCode::FORBIDDEN, detail));
    }
    Ok(())
}
