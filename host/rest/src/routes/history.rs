//! Histories of applications.

use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use kindsight_api::history::{History, HistoryParameters};
use kindsight_api::problem::ProblemDocument;
use kindsight_status::{HistoryQuery, QueryError};

use crate::answer::{Answers, Chunks};
use crate::caller::Visible;
use crate::problem::Problem;
use crate::query_pairs::QueryPairs;
use crate::routes::errors::CommonErrors;
use crate::routes::paths::DigPath;
use crate::routes::status::missing;

/// History of a deployment intent group
///
/// The transitions of the group and of its resources, newest first. Each has the phase and state before and after,
/// the time, the reason, and the interpreter. A change of only a reason or a message is not a transition, and neither
/// is an outdated report. A transition with the cause `interpreters` was caused by a swap of interpreters; the object
/// did not change.
///
/// For a recorded group, this is the history of one instance, by default the latest. An application that was found in
/// clusters has `-` as project and version. The number of transitions is limited for each resource, for each group and
/// in total. A history is deleted with its group.
#[utoipa::path(
    get,
    path = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}/history",
    tag = "status",
    params(DigPath, HistoryParameters),
    responses(
        (status = 200, description = "The selected transitions.", body = History<'static>),
        (status = 404, description = "The group or the instance does not exist, or a name to filter by is neither in the group nor in the history.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn dig_history(
    Visible(model): Visible,
    State(answers): State<Arc<Answers>>,
    path: Result<Path<DigPath>, PathRejection>,
    QueryPairs(pairs): QueryPairs,
) -> Result<Response, Problem> {
    let name = path?.0.name()?;
    let query = HistoryQuery::parse(pairs).map_err(Problem::invalid)?;
    let write = move |to: &mut Chunks| {
        let history = model.history(&name, &query).map_err(not_found)?;
        to.json(&history.answer())
    };
    // The answer can have a thousand transitions and names in many clusters.
    answers.json(false, write).await
}

/// The error for a missing group, whose name is in the path, or for another missing name, which is in the query.
fn not_found(error: QueryError) -> Problem {
    match &error {
        QueryError::NotFound(problems)
            if problems
                .iter()
                .any(|problem| problem.parameter == "deployment-intent-group") =>
        {
            missing(error)
        }
        _ => error.into(),
    }
}
