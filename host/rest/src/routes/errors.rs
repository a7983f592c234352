//! Sets of errors that routes have in common, for the OpenAPI document.

use kindsight_api::problem::ProblemDocument;
use utoipa::IntoResponses;

/// Errors of every route below `/v2`.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "it is described, never made")]
pub(crate) enum CommonErrors {
    /// A name, parameter or body is not valid; the problem says what would be right.
    #[response(status = 400, content_type = "application/problem+json")]
    Invalid(ProblemDocument),
    /// Too many requests at a time; the header `Retry-After` says when to come back.
    #[response(status = 503, content_type = "application/problem+json")]
    Busy(ProblemDocument),
    /// Any other error.
    #[response(status = "default", content_type = "application/problem+json")]
    Other(ProblemDocument),
}

/// Errors of commands to an interpreter that is there.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "it is described, never made")]
pub(crate) enum CommandErrors {
    /// The request comes from a page of another origin.
    #[response(status = 403, content_type = "application/problem+json")]
    CrossOrigin(ProblemDocument),
    /// There is no interpreter of this name; the problem lists those that there are.
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(ProblemDocument),
    /// The command does not fit the state of the interpreter: there is no candidate to promote, no
    /// version to go back to, or another host changed the interpreters at the same moment.
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(ProblemDocument),
    /// Another version is live than `If-Match` says; the problem says which.
    #[response(status = 412, content_type = "application/problem+json")]
    Changed(ProblemDocument),
}

/// Errors of changed settings.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "it is described, never made")]
pub(crate) enum SettingsErrors {
    /// The schema of the settings, or the component with them, refuses; `step` says at which step.
    #[response(status = 422, content_type = "application/problem+json")]
    Refused(ProblemDocument),
}
