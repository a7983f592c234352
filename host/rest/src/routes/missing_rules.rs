//! Kinds without a rule of their own, for users who choose which rule to load or to write next.

use axum::Json;
use axum::extract::State;
use kindsight_api::interpreters::MissingRules;

use crate::app::App;
use crate::caller::Sender;
use crate::command::NoParameters;
use crate::problem::Problem;
use crate::routes::errors::CommonErrors;

/// Kinds without a rule
///
/// Lists the Kinds of known objects for which no live interpreter has a rule of their own, with the numbers of their
/// objects and clusters, and with the states that the objects have by the conventions of all controllers. If the
/// catalogue of rules has a rule for a Kind, the answer names the project.
#[utoipa::path(
    get,
    path = "/v2/missing-rules",
    operation_id = "list_missing_rules",
    tag = "interpreters",
    responses(
        (status = 200, description = "The Kinds, most objects first.", body = MissingRules),
        CommonErrors,
    ),
)]
pub(crate) async fn missing_rules(
    State(app): State<App>,
    sender: Sender,
    _: NoParameters,
) -> Result<Json<MissingRules>, Problem> {
    let missing = app.catalog.missing_rules(sender.visible()).await;
    missing
        .map(Json)
        .map_err(|refusal| Problem::refused("", refusal))
}
