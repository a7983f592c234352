//! What the status of a resource means.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use kindsight_api::interpret::Verdicts;
use kindsight_api::problem::ProblemDocument;

use crate::problem::Problem;
use crate::{AppState, read_submission};

/// Judge objects that are sent
///
/// Send one Kubernetes object, a list as `kubectl get -o json` writes it, or an array of objects, with
/// their `status`. They are judged by the same interpreters as everything else and kept nowhere.
#[utoipa::path(
    post,
    path = "/v2/interpret",
    tag = "interpreters",
    request_body(content = serde_json::Value, description = "One object, a `List`, or an array of objects; JSON.", content_type = "application/json"),
    responses(
        (status = 200, description = "What each of them means. What is not an object is `Unknown`, and costs only itself.", body = Verdicts),
        (status = 400, description = "The body is not JSON, or neither an object nor an array.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 413, description = "The body is too large, or holds too many objects.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 503, description = "Too many requests at a time; the header `Retry-After` says when to come back.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = "default", description = "Anything else that went wrong.", body = ProblemDocument, content_type = "application/problem+json"),
    ),
)]
pub(crate) async fn interpret(
    State(app): State<AppState>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Verdicts>, Problem> {
    let submission = read_submission(&body?, app.limits.interpret_objects_max)?;
    let verdicts = app.judge.judge(submission.objects(), (app.clock)()).await;
    Ok(Json(Verdicts {
        verdicts: submission.with_verdicts(verdicts),
    }))
}
