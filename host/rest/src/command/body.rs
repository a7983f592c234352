//! Bodies of commands.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::http::StatusCode;
use kindsight_api::interpreters::{Promotion, ShadowRun};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::catalog::Promote;
use crate::problem::Problem;

/// The promotion in a body; of the candidate for an empty body or `null`.
///
/// # Errors
/// A body that is neither, or a digest that is not one.
pub(crate) fn promoted(body: &[u8]) -> Result<Promote, Problem> {
    if body.is_empty() {
        return Ok(Promote::default());
    }
    let expected = r#"nothing or `{"digest": "sha256:…"}`"#;
    let promotion = json::<Option<Promotion>>(body, expected)?.unwrap_or_default();
    let digest = promotion.digest.as_deref().map(super::digest).transpose();
    let digest = digest.map_err(|problem| Problem::invalid_in("the body", vec![problem]))?;
    Ok(Promote {
        digest,
        is_forced: promotion.force,
        settings: promotion.settings,
    })
}

/// The shadow run in a body; against the live version for an empty body or `null`.
///
/// # Errors
/// A body that is neither.
pub(crate) fn shadowed(body: &[u8]) -> Result<ShadowRun, Problem> {
    if body.is_empty() {
        return Ok(ShadowRun::default());
    }
    let expected = r#"nothing or `{"base": "live" or "built-in"}`"#;
    Ok(json::<Option<ShadowRun>>(body, expected)?.unwrap_or_default())
}

/// Settings, from a body.
///
/// # Errors
/// A body that is not a JSON object.
pub(crate) fn settings(body: &[u8]) -> Result<Map<String, Value>, Problem> {
    json(body, "a JSON object")
}

/// A body of at most `max` bytes.
///
/// # Errors
/// A larger body, or one that could not be read to its end.
pub(crate) fn within(max: usize, body: Result<Bytes, BytesRejection>) -> Result<Bytes, Problem> {
    body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Problem::too_large(max, None),
        _ => rejection.into(),
    })
}

fn json<T: DeserializeOwned>(body: &[u8], expected: &str) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| {
        let detail = format!("the body has to be {expected}: {error}");
        Problem::new(StatusCode::BAD_REQUEST, detail)
    })
}
