//! Clusters that operators register while the server runs.

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use kindsight_api::problem::{PartialProblem, ProblemDocument};
use kindsight_api::registration::{ClusterRegistration, RegisteredCluster, RegistrationRefusal};
use kindsight_model::ClusterName;

use crate::AppState;
use crate::answer::internal;
use crate::app::App;
use crate::audit;
use crate::blocking::spawn_blocking;
use crate::caller::Sender;
use crate::command::{self, NoBody, NoParameters};
use crate::limits::REGISTRATION_BYTES_MAX;
use crate::problem::Problem;
use crate::registry::ClusterRegistry;
use crate::routes::errors::{CommonErrors, RegistrationErrors};
use crate::routes::paths::{ClusterPath, invalid_path};

/// Read the registration of a cluster
///
/// Shows where the kubeconfig of a registered cluster is. The kubeconfig itself is not shown.
#[utoipa::path(
    get,
    path = "/v2/cluster-providers/{cluster-provider}/clusters/{cluster}",
    operation_id = "get_cluster",
    tag = "clusters",
    params(ClusterPath),
    responses(
        (status = 200, description = "The cluster.", body = RegisteredCluster),
        RegistrationErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn get(
    State(app): State<App>,
    path: Result<Path<ClusterPath>, PathRejection>,
    _: NoParameters,
) -> Result<Json<RegisteredCluster>, Problem> {
    let name = path?.0.read().map_err(invalid_path)?;
    run(&app, move |clusters| clusters.get(&name))
        .await
        .map(Json)
}

/// Register a cluster
///
/// Registers a cluster, or replaces its registration. The server then watches the cluster. Each server with the same
/// store does.
#[utoipa::path(
    put,
    path = "/v2/cluster-providers/{cluster-provider}/clusters/{cluster}",
    operation_id = "put_cluster",
    tag = "clusters",
    params(ClusterPath),
    request_body(content = ClusterRegistration, description = "The registration.", content_type = "application/json"),
    responses(
        (status = 200, description = "The cluster has this registration.", body = RegisteredCluster),
        (status = 201, description = "The cluster is new.", body = RegisteredCluster),
        (status = 413, description = "The body is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 415, description = "The body is not `application/json`, or compressed.", body = ProblemDocument, content_type = "application/problem+json"),
        RegistrationErrors,
        CommonErrors,
    ),
)]
pub(crate) async fn put(
    State(app): State<App>,
    sender: Sender,
    path: Result<Path<ClusterPath>, PathRejection>,
    _: NoParameters,
    body: Result<Bytes, BytesRejection>,
) -> Result<(StatusCode, Json<RegisteredCluster>), Problem> {
    let name = path?.0.read().map_err(invalid_path)?;
    let registration = registration(&command::within(REGISTRATION_BYTES_MAX, body)?)?;
    let stored = change(&app, &sender, "register-cluster", name, |clusters, name| {
        clusters.put(name, registration)
    });
    let (is_new, cluster) = stored.await?;
    let status = if is_new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    Ok((status, Json(cluster)))
}

/// Remove the registration of a cluster
///
/// Removes a registered cluster. The server ends the watch and forgets the cluster. Nothing is removed from the cluster.
#[utoipa::path(
    delete,
    path = "/v2/cluster-providers/{cluster-provider}/clusters/{cluster}",
    operation_id = "delete_cluster",
    tag = "clusters",
    params(ClusterPath),
    responses(
        (status = 204, description = "The registration is removed."),
        RegistrationErrors,
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
    let name = path?.0.read().map_err(invalid_path)?;
    let deleted = change(&app, &sender, "remove-cluster", name, |clusters, name| {
        clusters.delete(name)
    });
    deleted.await.map(|()| StatusCode::NO_CONTENT)
}

/// Runs a call of the registry on a blocking thread.
async fn run<T: Send + 'static>(
    app: &AppState,
    call: impl FnOnce(&dyn ClusterRegistry) -> Result<T, RegistrationRefusal> + Send + 'static,
) -> Result<T, Problem> {
    let Some(clusters) = app.clusters.clone() else {
        let detail = "the registration of clusters is disabled: start the server with --cluster-kubeconfigs or --cluster-secrets";
        return Err(Problem::new(StatusCode::CONFLICT, detail));
    };
    let called = spawn_blocking(move || call(&*clusters)).await;
    called.map_err(|_| internal())?.map_err(Problem::from)
}

/// Changes a registration, and writes a line to the audit log. Both happen also if the client disconnects.
async fn change<T: Send + 'static>(
    app: &AppState,
    sender: &Sender,
    action: &'static str,
    name: ClusterName,
    call: impl FnOnce(&dyn ClusterRegistry, &ClusterName) -> Result<T, RegistrationRefusal>
    + Send
    + 'static,
) -> Result<T, Problem> {
    let user = sender.user_name().to_owned();
    run(app, move |clusters| {
        let done = call(clusters, &name);
        audit::log_cluster(&user, action, &name, done.as_ref().err());
        done
    })
    .await
}

/// Reads a registration. An error names the JSON path.
fn registration(body: &[u8]) -> Result<ClusterRegistration, Problem> {
    let json = &mut serde_json::Deserializer::from_slice(body);
    let read = serde_path_to_error::deserialize(&mut *json);
    let read = read.map_err(|error| (error.path().to_string(), error.into_inner()));
    let read = read.and_then(|registration: ClusterRegistration| {
        let end = json.end().map_err(|error| (".".to_owned(), error));
        end.map(|()| registration)
    });
    read.map_err(|(path, error)| {
        let expected = "the schema `ClusterRegistration` of `/openapi.json`";
        let problem = PartialProblem::new(path, error.to_string(), expected);
        Problem::invalid_in("the body", vec![problem])
    })
}
