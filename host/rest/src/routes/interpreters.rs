//! Who says what the status of a resource means, and how that is changed while the host serves.

pub(crate) mod commands;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use kindsight_api::interpreters::{
    CommandAnswer, InterpreterDetail, InterpreterList, LoadParameters, Outcome, Refusal,
};
use kindsight_api::problem::ProblemDocument;
use kindsight_model::InterpreterName;
use utoipa::{IntoResponses, ToSchema};

use crate::AppState;
use crate::catalog::Command;
use crate::command::{self, Load, Name, NoParameters};
use crate::problem::Problem;

/// What the sender of a command that took too long is told beside that.
pub(crate) const TOO_LONG: &str = "; what it began may still take effect: ask for the interpreter";

type Answered = Result<Json<CommandAnswer>, Problem>;
type Body = Result<Bytes, BytesRejection>;

/// What can go wrong with every request about interpreters.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "it is described, never made")]
pub(crate) enum Wrong {
    #[response(
        status = 400,
        description = "A name, parameter or body is not valid; the problem says what would be right.",
        content_type = "application/problem+json"
    )]
    Invalid(ProblemDocument),
    #[response(
        status = 503,
        description = "Too many requests at a time; the header `Retry-After` says when to come back.",
        content_type = "application/problem+json"
    )]
    Busy(ProblemDocument),
    #[response(
        status = "default",
        description = "Anything else that went wrong.",
        content_type = "application/problem+json"
    )]
    Else(ProblemDocument),
}

/// The bytes of a component.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "it is described, never made")]
pub(crate) struct Component(Vec<u8>);

/// All interpreters
///
/// Who judges what, where it came from, and how its calls went.
#[utoipa::path(
    get,
    path = "/v2/interpreters",
    operation_id = "list_interpreters",
    tag = "interpreters",
    responses(
        (status = 200, description = "All of them, sorted by name.", body = InterpreterList),
        Wrong,
    ),
)]
pub(crate) async fn list(State(app): State<AppState>, _: NoParameters) -> Json<InterpreterList> {
    Json(app.catalog.list())
}

/// One interpreter
///
/// What it judges and may answer, what it may take and took, its versions, and what was done to it.
#[utoipa::path(
    get,
    path = "/v2/interpreters/{name}",
    operation_id = "inspect_interpreter",
    tag = "interpreters",
    params(Name),
    responses(
        (status = 200, description = "Everything that is known of it.", body = InterpreterDetail),
        (status = 404, description = "There is none of this name; the problem names those that there are.", body = ProblemDocument, content_type = "application/problem+json"),
        Wrong,
    ),
)]
pub(crate) async fn inspect(
    State(app): State<AppState>,
    Name { name }: Name,
    _: NoParameters,
) -> Result<Json<InterpreterDetail>, Problem> {
    let detail = app.catalog.inspect(&name).map(Json);
    detail.ok_or_else(|| {
        let known = app.catalog.list().interpreters;
        let known = known.into_iter().map(|it| it.name).collect();
        Problem::refused(&name, Refusal::NotFound { known })
    })
}

/// Load a component
///
/// Takes a component through the pipeline: received, validated, compiled, tried, published. It goes
/// live in one step, or, where a step refuses it, what is live stays. The same bytes again change
/// nothing. It is kept, and overrides what is built in or in the watched directory.
#[utoipa::path(
    put,
    path = "/v2/interpreters/{name}",
    operation_id = "load_interpreter",
    tag = "interpreters",
    params(Name, LoadParameters),
    request_body(
        description = "The component.",
        content((inline(Component) = "application/wasm"), (inline(Component) = "application/octet-stream")),
    ),
    responses(
        (status = 200, description = "It is live, or with `candidate=true` waits to be promoted.", body = Outcome),
        (status = 403, description = "A page of another origin asks.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 409, description = "Another host changed the interpreters at the same moment: try again.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 413, description = "The component is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, description = "A step of the pipeline refused it; `step` says which.", body = ProblemDocument, content_type = "application/problem+json"),
        Wrong,
    ),
)]
pub(crate) async fn load(
    State(app): State<AppState>,
    Name { name }: Name,
    Load {
        digest,
        is_candidate,
    }: Load,
    body: Body,
) -> Answered {
    let command = Command::Load {
        bytes: command::within(app.limits.component_bytes_max, body)?.into(),
        digest,
        is_candidate,
    };
    run(&app, name, command).await
}

async fn run(app: &AppState, name: InterpreterName, command: Command) -> Answered {
    let answer = app.catalog.run(name.clone(), command).await;
    answer
        .map(Json)
        .map_err(|refusal| Problem::refused(&name, refusal))
}
