//! Takes apart what asks something of an interpreter: its name, its parameters, its body.

mod body;

use std::collections::BTreeSet;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use kindsight_status::{Problem as Invalid, VALUE_SHOWN_CHARS_MAX};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::problem::Problem;

pub(crate) use body::{Promotion, settings, within};

/// The longest name of an interpreter, in bytes, as the contract has it.
const NAME_BYTES_MAX: usize = 63;
/// The digits of a SHA-256 in hexadecimal.
const DIGEST_DIGITS: usize = 64;
/// The parameters of a load.
const LOAD_PARAMETERS: &str = "one of `digest`, `candidate`";

/// The name in a path, checked.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct Name {
    /// The interpreter: 1 to 63 lower-case letters, digits, `-` or `.`.
    #[param(example = "apps")]
    pub(crate) name: String,
}

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(name) = Path::<Self>::from_request_parts(parts, state).await?;
        if is_name(&name.name) {
            return Ok(name);
        }
        let detail = format!("`{}` is not a valid name", shown(&name.name));
        let expected = format!("1 to {NAME_BYTES_MAX} lower-case letters, digits, `-` or `.`");
        Err(Problem::invalid(vec![invalid("name", detail, expected)]))
    }
}

/// Says that a route takes no parameters.
#[derive(Debug)]
pub(crate) struct NoParameters;

impl<S: Send + Sync> FromRequestParts<S> for NoParameters {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let unknown = pairs(parts, state).await?;
        let unknown = unknown
            .iter()
            .map(|(key, _)| unknown_parameter(key, "none"));
        settle(Self, unknown.collect())
    }
}

/// Says that a route takes neither parameters nor a body, and hands out the name it is about.
///
/// A body that would be ignored is refused: whoever sent it meant something by it.
#[derive(Debug)]
pub(crate) struct Bare(pub(crate) String);

impl<S: Send + Sync> FromRequest<S> for Bare {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let Name { name } = Name::from_request_parts(&mut parts, state).await?;
        NoParameters::from_request_parts(&mut parts, state).await?;
        let body = Bytes::from_request(Request::from_parts(parts, body), state).await;
        if body.is_ok_and(|body| body.is_empty()) {
            return Ok(Self(name));
        }
        let detail = "this request takes no body";
        Err(Problem::new(StatusCode::BAD_REQUEST, detail))
    }
}

/// How a component is to be loaded. A parameter that is not among these is an error.
#[derive(Debug, Default, PartialEq, Eq, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct LoadParameters {
    /// What the body must hash to: `sha256:` and 64 hex digits.
    #[param(
        value_type = Option<String>,
        example = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    )]
    pub(crate) digest: Option<String>,
    /// Whether to stop before the component goes live, and keep it as candidate.
    #[param(value_type = Option<bool>, default = false)]
    pub(crate) candidate: bool,
}

impl<S: Send + Sync> FromRequestParts<S> for LoadParameters {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        Self::read(&pairs(parts, state).await?)
    }
}

impl LoadParameters {
    /// # Errors
    /// Everything that is wrong, in the order of the parameters.
    fn read(pairs: &[(String, String)]) -> Result<Self, Problem> {
        let mut read = Self::default();
        let mut seen = BTreeSet::new();
        let mut problems = Vec::new();
        for (key, value) in pairs {
            let taken = read.take(key, value, seen.insert(key));
            problems.extend(taken.err());
        }
        settle(read, problems)
    }

    fn take(&mut self, key: &str, value: &str, is_first: bool) -> Result<(), Invalid> {
        match key {
            "digest" | "candidate" if !is_first => {
                return Err(invalid(key, "it is there more than once", "one value"));
            }
            "digest" => self.digest = Some(digest(value)?),
            "candidate" => {
                self.candidate = value.parse().map_err(|_| {
                    let detail = format!("`{}` is not known", shown(value));
                    invalid(key, detail, "one of `true`, `false`")
                })?;
            }
            _ => return Err(unknown_parameter(key, LOAD_PARAMETERS)),
        }
        Ok(())
    }
}

/// Hosts write digests in lower case; others may not.
fn digest(value: &str) -> Result<String, Invalid> {
    let digits = value.strip_prefix("sha256:").filter(|digits| {
        digits.len() == DIGEST_DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    match digits {
        Some(_) => Ok(value.to_ascii_lowercase()),
        None => Err(invalid(
            "digest",
            format!("`{}` is not a digest", shown(value)),
            format!("`sha256:` and {DIGEST_DIGITS} hex digits"),
        )),
    }
}

fn is_name(value: &str) -> bool {
    let allowed = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.')
    };
    (1..=NAME_BYTES_MAX).contains(&value.len()) && value.bytes().all(allowed)
}

async fn pairs<S: Send + Sync>(
    parts: &mut Parts,
    state: &S,
) -> Result<Vec<(String, String)>, Problem> {
    let Query(pairs) = Query::from_request_parts(parts, state).await?;
    Ok(pairs)
}

fn settle<T>(value: T, problems: Vec<Invalid>) -> Result<T, Problem> {
    if problems.is_empty() {
        Ok(value)
    } else {
        Err(Problem::invalid(problems))
    }
}

fn unknown_parameter(key: &str, expected: &str) -> Invalid {
    invalid(&shown(key), "unknown parameter", expected)
}

fn invalid(parameter: &str, detail: impl Into<String>, expected: impl Into<String>) -> Invalid {
    Invalid {
        parameter: parameter.to_owned(),
        detail: detail.into(),
        expected: expected.into(),
    }
}

/// A value as a problem repeats it: cut if it is long.
fn shown(value: &str) -> String {
    match value.char_indices().nth(VALUE_SHOWN_CHARS_MAX) {
        None => value.to_owned(),
        Some((end, _)) => format!("{}…", value.get(..end).unwrap_or_default()),
    }
}
