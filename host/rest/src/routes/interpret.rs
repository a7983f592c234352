//! `POST /v2/interpret`.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use kindsight_api::interpret::Verdicts;
use kindsight_api::problem::ProblemDocument;

use crate::problem::Problem;
use crate::routes::errors::CommonErrors;
use crate::{AppState, read_submission};

/// Judge objects
///
/// Send one Kubernetes object, a list as `kubectl get -o json` writes it, or an array of objects, with
/// their `status`. They are judged by the live interpreters and stored nowhere.
#[utoipa::path(
    post,
    path = "/v2/interpret",
    tag = "interpreters",
    request_body(content = serde_json::Value, description = "One object, a `List`, or an array of objects; JSON.", content_type = "application/json"),
    responses(
        (status = 200, description = "The verdict on each object, in their order. The verdict on an item that is not an object is `Unknown`.", body = Verdicts),
        (status = 413, description = "The body is too large, or holds too many objects.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
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
