//! Interpreters: the list, the details of one interpreter, and loads of components.

pub(crate) mod commands;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use kindsight_api::interpreters::{
    CommandAnswer, ComparisonParameters, InterpreterDetail, InterpreterList, InterpreterSummary,
    LiveCondition, LoadParameters, Outcome, Refusal, ShadowReport,
};
use kindsight_api::problem::ProblemDocument;
use kindsight_model::InterpreterName;
use utoipa::ToSchema;

use crate::AppState;
use crate::app::App;
use crate::audit::Audited;
use crate::caller::Sender;
use crate::catalog::{Command, Upload};
use crate::command::{self, Comparison, IfMatch, IfMatchHeader, Load, Name, NoParameters};
use crate::problem::Problem;
use crate::routes::errors::CommonErrors;
use crate::rules::Rule;

/// Advice to the sender of a command that took too long.
pub(crate) const TOO_LONG: &str = "; the command may still take effect: query the interpreter";

type Answered = Result<Json<CommandAnswer>, Problem>;
type Body = Result<Bytes, BytesRejection>;

/// The bytes of a component.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "it is described, never made")]
pub(crate) struct Component(Vec<u8>);

/// List interpreters
///
/// Lists all interpreters with the Kinds they judge, their source and version, and counts of their
/// calls and faults. A user who is neither an operator nor a viewer of every application gets the list without counts,
/// candidates and refused components.
#[utoipa::path(
    get,
    path = "/v2/interpreters",
    operation_id = "list_interpreters",
    tag = "interpreters",
    responses(
        (status = 200, description = "All interpreters, sorted by name.", body = InterpreterList),
        CommonErrors,
    ),
)]
pub(crate) async fn list(
    State(app): State<App>,
    sender: Sender,
    _: NoParameters,
) -> Json<InterpreterList> {
    let list = app.catalog.list();
    let is_complete = Rule::OperatorOrViewer.allows(sender.caller.rights());
    Json(if is_complete { list } else { judging(list) })
}

/// The interpreters that judge, without data about the objects of hidden applications: their number and their faults.
fn judging(list: InterpreterList) -> InterpreterList {
    let interpreters = list.interpreters.into_iter();
    InterpreterList {
        generation: list.generation,
        interpreters: interpreters
            .map(|interpreter| InterpreterSummary {
                candidate: None,
                unavailable: None,
                calls: None,
                faults: None,
                faulting: None,
                trips: None,
                ..interpreter
            })
            .collect(),
        refused: Vec::new(),
    }
}

/// Inspect an interpreter
///
/// Shows the details of one interpreter: Kinds, states, settings, limits, statistics of calls, versions and
/// history.
#[utoipa::path(
    get,
    path = "/v2/interpreters/{name}",
    operation_id = "inspect_interpreter",
    tag = "interpreters",
    params(Name),
    responses(
        (status = 200, description = "The interpreter. `ETag` is the digest of its live version, for `If-Match` of a command.", body = InterpreterDetail),
        (status = 404, description = "There is no interpreter of this name; the problem lists the existing names.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn inspect(
    State(app): State<App>,
    Name { name }: Name,
    _: NoParameters,
) -> Result<Response, Problem> {
    let Some(detail) = app.catalog.inspect(&name) else {
        let known = app.catalog.list().interpreters;
        let known = known.into_iter().map(|it| it.name).collect();
        return Err(Problem::refused(&name, Refusal::NotFound { known }));
    };
    let tag = detail.digest.as_ref().and_then(command::etag);
    let mut response = Json(detail).into_response();
    if let Some(tag) = tag {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(response)
}

/// Load a component
///
/// Takes a component through the steps of a load: received, validated, compiled, tried, published. If every step
/// succeeds, the component is live at once. If a step refuses the component, the live version does not change. A
/// repeated load of the same bytes has no effect. The component is stored. It overrides a built-in component and a
/// component from the watched directory.
#[utoipa::path(
    put,
    path = "/v2/interpreters/{name}",
    operation_id = "load_interpreter",
    tag = "interpreters",
    params(Name, LoadParameters, IfMatchHeader),
    request_body(
        description = "The component.",
        content((inline(Component) = "application/wasm"), (inline(Component) = "application/octet-stream")),
    ),
    responses(
        (status = 200, description = "The component is live, or with `candidate=true` waits to be promoted.", body = Outcome),
        (status = 409, description = "Another host changed the interpreters at the same moment: try again.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 412, description = "Another version is live than `If-Match` says.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 413, description = "The component is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 415, description = "The body is neither `application/wasm` nor `application/octet-stream`, or compressed.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, description = "A step of the load refused the component; `step` says which.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn load(
    State(app): State<App>,
    sender: Sender,
    Name { name }: Name,
    parameters: Load,
    IfMatch(condition): IfMatch,
    body: Body,
) -> Answered {
    let upload = upload(&app, parameters, body)?;
    run(&app, &sender, name, Command::Load(upload), condition).await
}

/// Load a component under its own name
///
/// Like `PUT /v2/interpreters/{name}`, for clients that do not know the declared name of the component. The answer
/// contains the name.
#[utoipa::path(
    post,
    path = "/v2/interpreters",
    operation_id = "load_interpreter_by_its_name",
    tag = "interpreters",
    params(LoadParameters),
    request_body(
        description = "The component.",
        content((inline(Component) = "application/wasm"), (inline(Component) = "application/octet-stream")),
    ),
    responses(
        (status = 200, description = "The component is live, or with `candidate=true` waits to be promoted.", body = Outcome),
        (status = 409, description = "Another host changed the interpreters at the same moment: try again.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 413, description = "The component is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 415, description = "The body is neither `application/wasm` nor `application/octet-stream`, or compressed.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, description = "A step of the load refused the component; `step` says which.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn load_by_its_name(
    State(app): State<App>,
    sender: Sender,
    parameters: Load,
    body: Body,
) -> Answered {
    let upload = upload(&app, parameters, body)?;
    let audited = Audited {
        app: &app,
        sender: &sender,
    };
    let answer = audited.load(upload).await;
    answer
        .map(Json)
        .map_err(|refusal| Problem::refused("", refusal))
}

/// Compare a component with the live version
///
/// Runs the component in the body and the live version of its declared name over every known object, and reports the
/// verdicts and the applications that would change. The component has the present settings of the name. It is loaded as
/// for `POST /v2/interpreters`, but it is not stored, and nothing changes. It may have the name of a built-in interpreter
/// and not judge all of its Kinds.
#[utoipa::path(
    post,
    path = "/v2/compare",
    operation_id = "compare_component",
    tag = "interpreters",
    params(ComparisonParameters),
    request_body(
        description = "The component.",
        content((inline(Component) = "application/wasm"), (inline(Component) = "application/octet-stream")),
    ),
    responses(
        (status = 200, description = "The verdicts that would change.", body = ShadowReport),
        (status = 413, description = "The component is too large.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 415, description = "The body is neither `application/wasm` nor `application/octet-stream`, or compressed.", body = ProblemDocument, content_type = "application/problem+json"),
        (status = 422, description = "A step of the load refused the component, or the present settings do not fit it; `step` says which.", body = ProblemDocument, content_type = "application/problem+json"),
        CommonErrors,
    ),
)]
pub(crate) async fn compare(
    State(app): State<App>,
    sender: Sender,
    Comparison(base): Comparison,
    body: Body,
) -> Result<Json<ShadowReport>, Problem> {
    let component = command::within(app.limits.component_bytes_max, body)?.into();
    let visible = sender.visible();
    let report = app.catalog.compare(component, base, visible).await;
    report
        .map(Json)
        .map_err(|refusal| Problem::refused("", refusal))
}

fn upload(app: &AppState, parameters: Load, body: Body) -> Result<Upload, Problem> {
    let Load {
        digest,
        is_candidate,
        replaces_built_in,
    } = parameters;
    Ok(Upload {
        bytes: command::within(app.limits.component_bytes_max, body)?.into(),
        digest,
        is_candidate,
        replaces_built_in,
    })
}

async fn run(
    app: &AppState,
    sender: &Sender,
    name: InterpreterName,
    command: Command,
    condition: LiveCondition,
) -> Answered {
    let audited = Audited { app, sender };
    let answer = audited.run(name.clone(), command, condition).await;
    answer
        .map(Json)
        .map_err(|refusal| Problem::refused(&name, refusal))
}
