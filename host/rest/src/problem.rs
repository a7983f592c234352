//! Problems: errors with their status code, answered as RFC 9457 documents.
//!
//! This module assigns status codes to the errors of other crates. A problem contains only information on which its
//! reader can act, and no internal details.

use axum::extract::rejection::{BytesRejection, PathRejection, QueryRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use kindsight_api::health_scopes::ScopeRefusal;
use kindsight_api::interpreters::Refusal;
use kindsight_api::k8splugin::RbInstanceRefusal;
use kindsight_api::lifecycle::GroupRefusal;
use kindsight_api::notify::NotifyRefusal;
use kindsight_api::problem::{PartialProblem, ProblemDocument};
use kindsight_api::push::{FORMAT, PushRefusal};
use kindsight_api::registration::RegistrationRefusal;
use kindsight_model::LoadStep;
use kindsight_status::{QueryError, one_of};

use crate::submission::SubmissionError;

/// The media type of a problem document.
pub(crate) const PROBLEM_JSON: &str = "application/problem+json";

/// Seconds after which a client may repeat a request that was refused because the server was busy.
const RETRY_AFTER_S: u64 = 1;

/// The detail of a fault of the server itself.
pub(crate) const INTERNAL: &str = "an internal fault; it has been logged";

/// An error with its status code, to be answered as a [`ProblemDocument`].
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    detail: String,
    problems: Vec<PartialProblem>,
    step: Option<LoadStep>,
    /// In seconds.
    retry_after: Option<u64>,
    /// Asks the client for a token.
    is_challenge: bool,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
            problems: Vec::new(),
            step: None,
            retry_after: None,
            is_challenge: false,
        }
    }

    /// An invalid query. The problem lists all errors.
    pub(crate) fn invalid(problems: Vec<PartialProblem>) -> Self {
        QueryError::Invalid(problems).into()
    }

    /// An invalid part of a request: `the path` or `the body`. The problem lists all errors.
    pub(crate) fn invalid_in(part: &str, problems: Vec<PartialProblem>) -> Self {
        Self {
            problems,
            ..Self::new(StatusCode::BAD_REQUEST, format!("{part} is not valid"))
        }
    }

    /// The same, with these errors.
    pub(crate) fn with(self, problems: Vec<PartialProblem>) -> Self {
        Self { problems, ..self }
    }

    /// The same, about the names in the path instead of those in the query.
    pub(crate) fn in_path(self) -> Self {
        Self {
            detail: self.detail.replacen("the query", "the path", 1),
            ..self
        }
    }

    /// A command to the interpreter `name` that changed nothing.
    pub(crate) fn refused(name: &str, refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotFound { known } => Self {
                problems: vec![PartialProblem::new(
                    "name",
                    format!("`{name}` is not known"),
                    one_of(known),
                )],
                ..Self::new(
                    StatusCode::NOT_FOUND,
                    format!("there is no interpreter `{name}`"),
                )
            },
            Refusal::Conflict(why) => Self::new(StatusCode::CONFLICT, why),
            Refusal::Changed(why) => Self::new(StatusCode::PRECONDITION_FAILED, why),
            Refusal::Busy(why) | Refusal::Unavailable(why) => Self {
                retry_after: Some(RETRY_AFTER_S),
                ..Self::new(StatusCode::SERVICE_UNAVAILABLE, why)
            },
            Refusal::Refused { step, why } => Self {
                step: Some(step),
                ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, why)
            },
            Refusal::Failed(why) => {
                tracing::error!(interpreter = name, error = why, "a command failed");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL)
            }
        }
    }

    /// A request without a valid credential.
    pub(crate) fn unauthorized(detail: impl Into<String>) -> Self {
        Self {
            is_challenge: true,
            ..Self::new(StatusCode::UNAUTHORIZED, detail)
        }
    }

    /// A body that is larger than `max` bytes, a limit that this flag of the server raises.
    pub(crate) fn too_large(max: usize, raised_by: Option<&str>) -> Self {
        let raised_by = raised_by.map_or_else(String::new, |flag| {
            format!(": `kindsight serve {flag}` raises it")
        });
        let detail = format!("the body is larger than {max} bytes{raised_by}");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, detail)
    }

    /// The server cannot answer queries yet, without details.
    pub(crate) fn not_ready() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "not ready yet")
    }

    /// Too many requests at a time.
    pub(crate) fn busy() -> Self {
        let detail = "too many requests at a time; try again in a moment";
        Self {
            retry_after: Some(RETRY_AFTER_S),
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
        }
    }
}

impl Problem {
    /// The status code.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// The document that is answered.
    pub(crate) fn document(self) -> ProblemDocument {
        ProblemDocument {
            kind: "about:blank".to_owned(),
            title: self.status.canonical_reason().unwrap_or("Error").to_owned(),
            status: self.status.as_u16(),
            detail: self.detail,
            problems: self.problems,
            step: self.step,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (status, retry_after) = (self.status, self.retry_after);
        let is_challenge = self.is_challenge;
        let mut response = (status, axum::Json(self.document())).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if is_challenge {
            let scheme = HeaderValue::from_static("Bearer");
            headers.insert(header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}

impl From<GroupRefusal> for Problem {
    fn from(refusal: GroupRefusal) -> Self {
        match refusal {
            GroupRefusal::Invalid(problems) => Self::invalid_in("the body", problems),
            GroupRefusal::NotFound(why) => Self::new(StatusCode::NOT_FOUND, why),
            GroupRefusal::Conflict(why, problems) => Self {
                problems,
                ..Self::new(StatusCode::CONFLICT, why)
            },
            GroupRefusal::OtherContent(why) => Self::new(StatusCode::PRECONDITION_FAILED, why),
            GroupRefusal::Unavailable(why) => Self {
                retry_after: Some(RETRY_AFTER_S),
                ..Self::new(StatusCode::SERVICE_UNAVAILABLE, why)
            },
            GroupRefusal::Failed(why) => {
                tracing::error!(error = why, "a lifecycle action failed");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL)
            }
        }
    }
}

impl From<RegistrationRefusal> for Problem {
    fn from(refusal: RegistrationRefusal) -> Self {
        match refusal {
            RegistrationRefusal::Invalid(problems) => Self::invalid_in("the body", problems),
            RegistrationRefusal::NotFound(why) => Self::new(StatusCode::NOT_FOUND, why),
            RegistrationRefusal::Conflict(why) => Self::new(StatusCode::CONFLICT, why),
            RegistrationRefusal::Unavailable(why) => Self {
                retry_after: Some(RETRY_AFTER_S),
                ..Self::new(StatusCode::SERVICE_UNAVAILABLE, why)
            },
            RegistrationRefusal::Failed(why) => {
                tracing::error!(error = why, "a registration failed");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL)
            }
        }
    }
}

impl From<NotifyRefusal> for Problem {
    fn from(refusal: NotifyRefusal) -> Self {
        match refusal {
            NotifyRefusal::NotFound(why) => Self::new(StatusCode::NOT_FOUND, why),
            NotifyRefusal::NotSender(why) => Self::new(StatusCode::CONFLICT, why),
            NotifyRefusal::Unavailable(why) => Self {
                retry_after: Some(RETRY_AFTER_S),
                ..Self::new(StatusCode::SERVICE_UNAVAILABLE, why)
            },
        }
    }
}

impl From<RbInstanceRefusal> for Problem {
    fn from(refusal: RbInstanceRefusal) -> Self {
        match refusal {
            RbInstanceRefusal::NotFound(why) => Self::new(StatusCode::NOT_FOUND, why),
            RbInstanceRefusal::Ambiguous(why) => Self::new(StatusCode::CONFLICT, why),
        }
    }
}

impl From<ScopeRefusal> for Problem {
    fn from(refusal: ScopeRefusal) -> Self {
        match refusal {
            ScopeRefusal::NotFound(why) => Self::new(StatusCode::NOT_FOUND, why),
            ScopeRefusal::Several {
                namespaces,
                clusters,
            } => {
                let choices = [("namespace", namespaces), ("cluster", clusters)].into_iter();
                let choices = choices.filter(|(_, values)| values.len() > 1);
                let problems = choices.map(|(parameter, values)| {
                    let detail = format!("the scopes of this name differ in the {parameter}");
                    PartialProblem::new(parameter, detail, one_of(values))
                });
                Self {
                    problems: problems.collect(),
                    ..Self::new(StatusCode::CONFLICT, "several health scopes have this name")
                }
            }
        }
    }
}

impl From<PushRefusal> for Problem {
    fn from(refusal: PushRefusal) -> Self {
        let with = |problem: PartialProblem, status, detail: &str| Self {
            problems: vec![problem],
            ..Self::new(status, detail)
        };
        match refusal {
            PushRefusal::NotPushed(cluster) => {
                let detail = format!("the server has no cluster `{cluster}` with `push = true`");
                Self::new(StatusCode::NOT_FOUND, detail)
            }
            PushRefusal::Format(got) => with(
                PartialProblem::new(
                    PushRefusal::FORMAT,
                    format!("the agent has the format {got}"),
                    FORMAT.to_string(),
                ),
                StatusCode::BAD_REQUEST,
                "the agent and the server have different formats; use releases of the same major version",
            ),
            PushRefusal::OtherAgent(agent) => with(
                PartialProblem::new(
                    PushRefusal::AGENT,
                    format!("the agent `{agent}` reports on the cluster"),
                    "one agent for each cluster",
                ),
                StatusCode::CONFLICT,
                &format!(
                    "another agent, `{agent}`, reports on the cluster; it is replaced once it is silent for ten seconds"
                ),
            ),
            PushRefusal::Sequence { got, expected } => with(
                PartialProblem::new(
                    PushRefusal::SEQUENCE,
                    format!("the body has the sequence number {got}"),
                    expected.to_string(),
                ),
                StatusCode::CONFLICT,
                &format!("the body has the sequence number {got}, and {expected} is expected"),
            ),
            PushRefusal::NewEpoch(why) => with(
                PartialProblem::new(PushRefusal::EPOCH, why.clone(), "a new epoch"),
                StatusCode::CONFLICT,
                &why,
            ),
            PushRefusal::Invalid(why) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, why),
            PushRefusal::TooLarge(why) => Self::new(StatusCode::PAYLOAD_TOO_LARGE, why),
            PushRefusal::Busy => Self {
                retry_after: Some(RETRY_AFTER_S),
                ..Self::new(
                    StatusCode::TOO_MANY_REQUESTS,
                    "the last reports of the agent are not handled yet; try again in a moment",
                )
            },
        }
    }
}

impl From<QueryError> for Problem {
    fn from(error: QueryError) -> Self {
        let detail = error.to_string();
        let (status, problems) = match error {
            QueryError::Invalid(problems) => (StatusCode::BAD_REQUEST, problems),
            QueryError::NotFound(problems) => (StatusCode::NOT_FOUND, problems),
        };
        Self {
            problems,
            ..Self::new(status, detail)
        }
    }
}

impl From<kindsight_access::Refusal> for Problem {
    fn from(refusal: kindsight_access::Refusal) -> Self {
        use kindsight_access::Refusal::{Invalid, Missing, TooMany, Unavailable};
        let detail = refusal.to_string();
        match refusal {
            Missing | Invalid => Self::unauthorized(detail),
            TooMany(wait) => Self {
                retry_after: Some(wait.as_secs().max(1)),
                ..Self::new(StatusCode::TOO_MANY_REQUESTS, detail)
            },
            Unavailable => Self {
                retry_after: Some(RETRY_AFTER_S),
                ..Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
            },
        }
    }
}

impl From<SubmissionError> for Problem {
    fn from(error: SubmissionError) -> Self {
        let status = match error {
            SubmissionError::NotJson(_) | SubmissionError::NotAnObject => StatusCode::BAD_REQUEST,
            SubmissionError::TooMany { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        };
        Self::new(status, error.to_string())
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text())
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text())
    }
}

impl From<BytesRejection> for Problem {
    fn from(rejection: BytesRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text())
    }
}
