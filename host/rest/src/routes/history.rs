//! Histories of applications.

use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use kindsight_api::history::{History, HistoryParameters};
use kindsight_api::problem::ProblemDocument;
use kindsight_status::{HistoryQuery, QueryError};

use crate::AppState;
use crate::answer::{Answers, Chunks};
use crate::problem::Problem;
use crate::routes::errors::CommonErrors;
use crate::routes::paths::DigPath;
use crate::routes::status::{Pairs, missing};

/// History of a deployment intent group
///
/// The transitions of the group as a whole and of its resources, newest first: from which phase and state to
/// which, when and why, and by which interpreter. A reason or a message that changes alone is no transition, and
/// neither is a report that may be out of date. A transition by a swap of interpreters has the cause
/// `interpreters`: the object is the same.
///
/// Of a recorded group that of one instance, by default the latest; an application that was found in the
/// clusters has `-` as project and version. Histories are bounded, for each resource, each group and together,
/// and go with the group.
#[utoipa::path(
    get,
    path = "/v2/projects/{project}/composite-apps/{composite-app}/{version}/deployment-intent-groups/{deployment-intent-group}/history",
    tag = "status",
    params(DigPath, HistoryParameters),
    responses(
        (status = 200, description = "The transitions that are selected.", body = History<'static>),
        (status = 404, description = "The group or the instance does not exist, or a name to filter by is neither there nor in the history.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn dig_history(
    State(app): State<AppState>,
    Extension(answers): Extension<Arc<Answers>>,
    path: Result<Path<DigPath>, PathRejection>,
    pairs: Pairs,
) -> Result<Response, Problem> {
    let name = path?.0.name()?;
    let query = HistoryQuery::parse(pairs?.0).map_err(Problem::invalid)?;
    let write = move |to: &mut Chunks| {
        let history = app.read_model.history(&name, &query).map_err(not_found)?;
        to.json(&history.answer())
    };
    // A thousand transitions and names in many clusters are looked at.
    answers.json(false, write).await
}

/// The error for what does not exist: the group is in the path, all else in the query.
fn not_found(error: QueryError) -> Problem {
    match &error {
        QueryError::NotFound(problems)
            if problems
                .iter()
                .any(|it| it.parameter == "deployment-intent-group") =>
        {
            missing(error)
        }
        _ => error.into(),
    }
}
