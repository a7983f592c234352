//! Instances in the form of ONAP's Kubernetes plugin.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::http::header::WARNING;
use axum::response::Response;
use kindsight_api::k8splugin::{
    RbInstance, RbInstanceParameters, RbInstanceRefusal, RbInstanceStatus, RbInstanceSummary,
};
use kindsight_api::problem::{PartialProblem, ProblemDocument};
use kindsight_read_model::VisibleModel;
use kindsight_status::clipped;
use serde::{Deserialize, Serialize};

use crate::AppState;
use crate::answer::{Answers, Chunks, internal};
use crate::app::App;
use crate::blocking::spawn_blocking;
use crate::caller::Visible;
use crate::command::NoParameters;
use crate::instances::RbInstances;
use crate::problem::Problem;
use crate::query_pairs::QueryPairs;
use crate::routes::emco::warning;
use crate::routes::errors::CommonErrors;

/// The detail about an answer that exceeds the limit.
const TOO_LARGE: &str = "the answer is larger than `answer-bytes-max`; ask for the status of the application, which can be filtered, or raise the limit";

/// The ID of an instance, in a path.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct RbInstancePath {
    /// The ID of the instance.
    #[param(example = "serene_mcnulty")]
    id: String,
}

/// Instances of resource bundles
///
/// Applications in the form of ONAP's Kubernetes plugin, in order of their IDs. An application is an instance if the
/// label `k8splugin.io/rb-instance-id` names it, or if the configuration gives it an ID.
#[utoipa::path(
    get,
    path = "/v1/instance",
    operation_id = "list_rb_instances",
    tag = "k8splugin",
    params(RbInstanceParameters),
    responses(
        (status = 200, description = "The instances that are selected.", body = Vec<RbInstanceSummary>),
        (status = 404, description = "The server runs without `--k8splugin`.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn list(
    State(app): State<App>,
    Visible(model): Visible,
    State(answers): State<Arc<Answers>>,
    QueryPairs(pairs): QueryPairs,
) -> Result<Response, Problem> {
    let parameters = parameters(pairs)?;
    let list = read(&app, model, move |instances, model| {
        Ok(instances.list(model, &parameters))
    });
    written(&answers, list.await?).await
}

/// An instance of a resource bundle
///
/// The request, the namespace, and the identities of the resources.
#[utoipa::path(
    get,
    path = "/v1/instance/{id}",
    operation_id = "get_rb_instance",
    tag = "k8splugin",
    params(RbInstancePath),
    responses(
        (status = 200, description = "The instance.", body = RbInstance),
        (status = 404, description = "There is no such instance, or the server runs without `--k8splugin`.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, description = "Several clusters have objects with this ID.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn get(
    State(app): State<App>,
    Visible(model): Visible,
    State(answers): State<Arc<Answers>>,
    path: Result<Path<RbInstancePath>, PathRejection>,
    _: NoParameters,
) -> Result<Response, Problem> {
    let found = one(&app, model, path, |instances, model, id| {
        instances.get(model, id)
    });
    written(&answers, found.await?).await
}

/// Status of an instance of a resource bundle
///
/// Every resource with its complete object and its state. If the report of the cluster may be out of date, the header
/// `Warning` has the reason.
#[utoipa::path(
    get,
    path = "/v1/instance/{id}/status",
    operation_id = "get_rb_instance_status",
    tag = "k8splugin",
    params(RbInstancePath),
    responses(
        (status = 200, description = "The status.", body = RbInstanceStatus),
        (status = 404, description = "There is no such instance, or the server runs without `--k8splugin`.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, description = "Several clusters have objects with this ID.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn status(
    State(app): State<App>,
    Visible(model): Visible,
    State(answers): State<Arc<Answers>>,
    path: Result<Path<RbInstancePath>, PathRejection>,
    _: NoParameters,
) -> Result<Response, Problem> {
    let found = one(&app, model, path, |instances, model, id| {
        instances.status(model, id)
    });
    let (status, stale) = found.await?;
    let mut response = written(&answers, status).await?;
    if let Some(warning) = stale.and_then(|reason| warning(&reason)) {
        response.headers_mut().insert(WARNING, warning);
    }
    Ok(response)
}

/// Reads the instance of a path.
async fn one<T: Send + 'static>(
    app: &AppState,
    model: VisibleModel,
    path: Result<Path<RbInstancePath>, PathRejection>,
    call: impl FnOnce(&dyn RbInstances, &VisibleModel, &str) -> Result<T, RbInstanceRefusal>
    + Send
    + 'static,
) -> Result<T, Problem> {
    let id = path?.0.id;
    read(app, model, move |instances, model| {
        call(instances, model, &id)
    })
    .await
}

/// Reads instances on a blocking thread.
async fn read<T: Send + 'static>(
    app: &AppState,
    model: VisibleModel,
    call: impl FnOnce(&dyn RbInstances, &VisibleModel) -> Result<T, RbInstanceRefusal> + Send + 'static,
) -> Result<T, Problem> {
    let Some(instances) = app.instances.clone() else {
        let detail = "the routes of ONAP's Kubernetes plugin are disabled: start the server with --k8splugin";
        return Err(Problem::new(StatusCode::NOT_FOUND, detail));
    };
    let read = spawn_blocking(move || call(&*instances, &model)).await;
    read.map_err(|_| internal())?.map_err(Problem::from)
}

/// Writes an answer as the plugin's encoder does. An instance may have any number of resources.
async fn written<T: Serialize + Send + Sync + 'static>(
    answers: &Answers,
    answer: T,
) -> Result<Response, Problem> {
    let write = move |to: &mut Chunks| to.go_json(&answer);
    let written = answers.json(false, write).await;
    written.map_err(|problem| match problem.status() {
        // These routes have no parameters that make an answer smaller.
        StatusCode::BAD_REQUEST => Problem::new(StatusCode::BAD_REQUEST, TOO_LARGE),
        _ => problem,
    })
}

/// The parameters of a list.
fn parameters(pairs: Vec<(String, String)>) -> Result<RbInstanceParameters, Problem> {
    let mut parameters = RbInstanceParameters::default();
    let mut problems = Vec::new();
    for (key, value) in pairs {
        let member = match key.as_str() {
            "rb-name" => &mut parameters.rb_name,
            "rb-version" => &mut parameters.rb_version,
            "profile-name" => &mut parameters.profile_name,
            unknown => {
                let expected = "one of `rb-name`, `rb-version`, `profile-name`";
                let problem = PartialProblem::new(clipped(unknown), "unknown parameter", expected);
                problems.push(problem);
                continue;
            }
        };
        // The plugin reads the first value, and takes an empty value as none.
        if member.is_none() && !value.is_empty() {
            *member = Some(value);
        }
    }
    if problems.is_empty() {
        Ok(parameters)
    } else {
        Err(Problem::invalid(problems))
    }
}
