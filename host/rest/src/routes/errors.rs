//! Sets of errors that routes have in common, for the OpenAPI document.

use kindsight_api::problem::ProblemDocument;
use utoipa::IntoResponses;

/// Errors of every route below `/v2`.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "it is described, never made")]
pub(crate) enum CommonErrors {
    /// A name, parameter or body is not valid; the problem contains the valid form.
    #[response(status = 400, content_type = "application/problem+json")]
    Invalid(ProblemDocument),
    /// Access control is enabled, and the request has no valid credential.
    #[response(status = 401, content_type = "application/problem+json")]
    Unauthorized(ProblemDocument),
    /// The user does not have the role that the route needs, or the request comes from a page of another origin.
    #[response(status = 403, content_type = "application/problem+json")]
    Forbidden(ProblemDocument),
    /// Too many failed attempts from the client's address; the header `Retry-After` says when to try again.
    #[response(status = 429, content_type = "application/problem+json")]
    TooManyAttempts(ProblemDocument),
    /// Too many requests at a time; the header `Retry-After` says when to try again.
    #[response(status = 503, content_type = "application/problem+json")]
    Busy(ProblemDocument),
    /// Any other error.
    #[response(status = "default", content_type = "application/problem+json")]
    Other(ProblemDocument),
}

/// Errors of commands to an existing interpreter.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "it is described, never made")]
pub(crate) enum CommandErrors {
    /// There is no interpreter of this name; the problem lists the existing names.
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(ProblemDocument),
    /// The command does not fit the state of the interpreter: there is no candidate to promote, no
    /// version to roll back to, or another host changed the interpreters at the same time.
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(ProblemDocument),
    /// The live version does not match `If-Match`; the problem names the live version.
    #[response(status = 412, content_type = "application/problem+json")]
    Changed(ProblemDocument),
}

/// Errors of actions on a deployment intent group, or on the network intents of a cluster.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "it is described, never made")]
pub(crate) enum GroupErrors {
    /// There is no such group, or the cluster has no network intents, or the user does not have the role for it.
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(ProblemDocument),
    /// The action is not possible in this state, and the problem lists the possible actions; or a cluster is
    /// not suitable; or another orchestrator recorded the group or the cluster; or the server runs without `--lifecycle`.
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(ProblemDocument),
}

/// Errors of registrations of clusters.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "it is described, never made")]
pub(crate) enum RegistrationErrors {
    /// There is no such cluster.
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(ProblemDocument),
    /// The configuration of the server names the cluster, or another operator changed it at the same time, or the
    /// registration of clusters is disabled.
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(ProblemDocument),
}

/// Errors of reports that agents push.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "it is described, never made")]
pub(crate) enum PushErrors {
    /// The server has no cluster of this name whose agent pushes.
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(ProblemDocument),
    /// The problem `sequence` names the expected sequence number, the problem `epoch` asks for a complete report, or the
    /// problem `agent` names another agent that reports on the cluster.
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(ProblemDocument),
}

/// Errors of changed settings.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "it is described, never made")]
pub(crate) enum SettingsErrors {
    /// The schema refused the settings, or the component failed with them; `step` names the step.
    #[response(status = 422, content_type = "application/problem+json")]
    Refused(ProblemDocument),
}
