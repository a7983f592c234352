//! The bodies of commands.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::problem::Problem;

/// Which candidate is to go live.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Promotion {
    /// Its digest, `sha256:` and 64 hex digits: what was looked at is what goes live.
    #[serde(default)]
    #[schema(
        required = false,
        value_type = String,
        example = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    )]
    digest: Option<String>,
}

impl Promotion {
    /// The digest that a body asks for, if it asks for one; an empty body or `null` does not.
    ///
    /// # Errors
    /// What is wrong with the body.
    pub(crate) fn digest(body: &[u8]) -> Result<Option<String>, Problem> {
        if body.is_empty() {
            return Ok(None);
        }
        let expected = r#"nothing or `{"digest": "sha256:…"}`"#;
        let digest = json::<Option<Self>>(body, expected)?.and_then(|it| it.digest);
        let digest = digest.as_deref().map(super::digest).transpose();
        digest.map_err(|problem| Problem::invalid(vec![problem]))
    }
}

/// Settings, from a body.
///
/// # Errors
/// What is wrong with the body.
pub(crate) fn settings(body: &[u8]) -> Result<Value, Problem> {
    json::<Map<String, Value>>(body, "a JSON object").map(Value::Object)
}

/// A body that was read, or that it is larger than `max` bytes.
///
/// # Errors
/// Why it could not be read.
pub(crate) fn within(max: usize, body: Result<Bytes, BytesRejection>) -> Result<Bytes, Problem> {
    body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Problem::too_large(max),
        _ => rejection.into(),
    })
}

fn json<T: DeserializeOwned>(body: &[u8], expected: &str) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| {
        let detail = format!("the body has to be {expected}: {error}");
        Problem::new(StatusCode::BAD_REQUEST, detail)
    })
}
