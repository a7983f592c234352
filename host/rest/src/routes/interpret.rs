//! `POST /v2/interpret`.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::response::Response;
use kindsight_api::interpret::Verdicts;
use kindsight_api::problem::ProblemDocument;

use crate::answer::{Answers, Chunks, off_executor};
use crate::app::App;
use crate::command::NoParameters;
use crate::problem::Problem;
use crate::read_submission;
use crate::routes::errors::CommonErrors;

/// The most verdicts of an answer that is probably small.
const SMALL_VERDICTS_MAX: usize = 64;

/// Judge objects
///
/// Send one Kubernetes object, a list as `kubectl get -o json` writes it, or an array of objects, with
/// their `status`. The live interpreters judge the objects. The server does not store them.
#[utoipa::path(
    post,
    path = "/v2/interpret",
    tag = "interpreters",
    request_body(content = serde_json::Value, description = "One object, a `List`, or an array of objects; JSON.", content_type = "application/json"),
    responses(
        (status = 200, description = "The verdict on each object, in their order. The verdict on an item that is not an object is `Unknown`.", body = Verdicts),
        (status = 413, description = "The body is too large, or holds too many objects.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 415, description = "The body is not `application/json`, or compressed.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn interpret(
    State(app): State<App>,
    State(answers): State<Arc<Answers>>,
    _: NoParameters,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Problem> {
    let (body, max) = (body?, app.limits.interpret_objects_max);
    let bytes = body.len();
    let submission = off_executor(bytes, move || read_submission(&body, max)).await??;
    let verdicts = app.judge.judge(submission.objects(), (app.clock)()).await;
    let is_probably_small = verdicts.len() <= SMALL_VERDICTS_MAX;
    let verdicts = Verdicts {
        verdicts: submission.with_verdicts(verdicts),
    };
    let write = move |to: &mut Chunks| to.json(&verdicts);
    answers.json(is_probably_small, write).await
}
