//! Answers that are errors, in the form of the API: a `Status`.

use http::StatusCode;
use serde_json::{Value, json};

/// An error answer.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    /// Empty for an error without a reason.
    reason: &'static str,
    message: String,
    details: Option<Value>,
    /// The token of an inconsistent continuation.
    next: Option<String>,
    /// Seconds of the header `Retry-After`.
    pub(crate) retry_after: Option<u32>,
}

impl Failure {
    fn new(status: StatusCode, reason: &'static str, message: String) -> Self {
        Self {
            status,
            reason,
            message,
            details: None,
            next: None,
            retry_after: None,
        }
    }

    pub(crate) fn bad_request(message: String) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "BadRequest", message)
    }

    /// A server error without a reason.
    pub(crate) fn internal(message: String) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "", message)
    }

    pub(crate) fn unauthorized() -> Self {
        let message = "Unauthorized".to_owned();
        Self::new(StatusCode::UNAUTHORIZED, "Unauthorized", message)
    }

    /// The path names no resource of a served version.
    pub(crate) fn unknown_resource() -> Self {
        let message = "the server does not have this resource".to_owned();
        Self {
            details: Some(json!({})),
            ..Self::new(StatusCode::NOT_FOUND, "NotFound", message)
        }
    }

    /// There is no object with this name.
    pub(crate) fn no_object(plural: &str, group: &str, name: &str) -> Self {
        let mut details = json!({"name": name, "kind": plural});
        if !group.is_empty() {
            details["group"] = group.into();
        }
        let message = format!("{plural} {name:?} not found");
        Self {
            details: Some(details),
            ..Self::new(StatusCode::NOT_FOUND, "NotFound", message)
        }
    }

    /// No representation in the header `Accept` is available.
    pub(crate) fn not_acceptable() -> Self {
        let message = "only application/json is available".to_owned();
        Self {
            details: Some(json!({})),
            ..Self::new(StatusCode::NOT_ACCEPTABLE, "NotAcceptable", message)
        }
    }

    /// A field of the options of a list does not fit the other fields.
    pub(crate) fn invalid_options(field: &str, message: &str) -> Self {
        let text = format!("Forbidden: {message}");
        let cause = json!({"reason": "FieldValueForbidden", "message": text, "field": field});
        Self {
            details: Some(
                json!({"group": "meta.k8s.io", "kind": "ListOptions", "causes": [cause]}),
            ),
            ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "Invalid", text)
        }
    }

    /// The version is compacted. `next` continues a list without consistency.
    pub(crate) fn expired(message: String, next: Option<String>) -> Self {
        Self {
            next,
            ..Self::new(StatusCode::GONE, "Expired", message)
        }
    }

    /// The version does not exist yet.
    pub(crate) fn too_large(version: u64, now: u64) -> Self {
        let message = format!("Timeout: version {version} is larger than {now}");
        let cause = json!({
            "reason": "ResourceVersionTooLarge", "message": "Too large resource version",
        });
        Self {
            details: Some(json!({"causes": [cause], "retryAfterSeconds": 1})),
            retry_after: Some(1),
            ..Self::new(StatusCode::GATEWAY_TIMEOUT, "Timeout", message)
        }
    }

    /// The server is busy.
    pub(crate) fn too_many_requests(seconds: u32) -> Self {
        let message = "too many requests".to_owned();
        Self {
            details: Some(json!({"retryAfterSeconds": seconds})),
            retry_after: Some(seconds),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", message)
        }
    }

    /// The `Status`.
    pub(crate) fn body(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.status.as_u16(),
        });
        if !self.reason.is_empty() {
            status["reason"] = self.reason.into();
        }
        if let Some(details) = &self.details {
            status["details"] = details.clone();
        }
        if let Some(next) = &self.next {
            status["metadata"]["continue"] = next.clone().into();
        }
        status
    }
}
