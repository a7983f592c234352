//! Extractors of commands to interpreters: name, parameters and body.

mod body;
mod condition;

use std::collections::BTreeSet;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use kindsight_api::interpreters::{LiveCondition, ShadowBase};
use kindsight_api::problem::PartialProblem;
use kindsight_model::{Digest, InterpreterName};
use kindsight_status::{clipped, one_of};
use utoipa::IntoParams;

use crate::problem::Problem;
use crate::query_pairs::QueryPairs;

pub(crate) use body::{promoted, settings, shadowed, within};
pub(crate) use condition::{IfContent, IfContentHeader, IfMatch, IfMatchHeader, etag};

/// Leading word of every digest.
const ALGORITHM: &str = "sha256:";
/// The parameters of a load.
const LOAD_PARAMETERS: [&str; 3] = ["digest", "candidate", "replace"];

/// The name in a path, checked.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct Name {
    /// Name of the interpreter: 1 to 63 lower-case letters, digits, `-` or `.`.
    #[param(value_type = String, example = "apps")]
    pub(crate) name: InterpreterName,
}

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(name) = Path::<String>::from_request_parts(parts, state).await?;
        let checked = name.parse().map(|name| Self { name });
        checked.map_err(|_| {
            let detail = format!("`{}` is not a valid name", clipped(&name));
            let problem = PartialProblem::new("name", detail, InterpreterName::GRAMMAR);
            Problem::invalid_in("the path", vec![problem])
        })
    }
}

/// Extractor of routes without query parameters: any parameter is an error.
#[derive(Debug)]
pub(crate) struct NoParameters;

impl<S: Send + Sync> FromRequestParts<S> for NoParameters {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let unknown = QueryPairs::of(&parts.uri).0;
        let unknown = unknown
            .iter()
            .map(|(key, _)| unknown_parameter(key, "none"));
        settle(Self, unknown.collect())
    }
}

/// Extractor of commands without parameters and body: the name of the interpreter, and the condition.
///
/// A request with a body is refused, because its sender expects an effect of the body.
#[derive(Debug)]
pub(crate) struct NoInput(pub(crate) InterpreterName, pub(crate) LiveCondition);

impl<S: Send + Sync> FromRequest<S> for NoInput {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let (mut parts, body) = request.into_parts();
        let Name { name } = Name::from_request_parts(&mut parts, state).await?;
        let IfMatch(condition) = IfMatch::from_request_parts(&mut parts, state).await?;
        NoParameters::from_request_parts(&mut parts, state).await?;
        NoBody::from_request(Request::from_parts(parts, body), state).await?;
        Ok(Self(name, condition))
    }
}

/// Extractor of requests that must not have a body.
#[derive(Debug)]
pub(crate) struct NoBody;

impl<S: Send + Sync> FromRequest<S> for NoBody {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let body = Bytes::from_request(request, state).await;
        if body.is_ok_and(|body| body.is_empty()) {
            return Ok(Self);
        }
        let detail = "this request takes no body";
        Err(Problem::new(StatusCode::BAD_REQUEST, detail))
    }
}

/// Extractor of the removal of many names: exactly the parameter `unused=true`.
#[derive(Debug)]
pub(crate) struct Unused;

impl<S: Send + Sync> FromRequestParts<S> for Unused {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let pairs = QueryPairs::of(&parts.uri).0;
        if matches!(pairs.as_slice(), [(key, value)] if key == "unused" && value == "true") {
            return Ok(Self);
        }
        let detail = "only unused names are removed together";
        let problem = PartialProblem::new("unused", detail, "`true`, and no other parameter");
        Err(Problem::invalid(vec![problem]))
    }
}

/// Parameters of a load, checked.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) digest: Option<Digest>,
    pub(crate) is_candidate: bool,
    pub(crate) replaces_built_in: bool,
}

impl<S: Send + Sync> FromRequestParts<S> for Load {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Self::read(&QueryPairs::of(&parts.uri).0)
    }
}

impl Load {
    /// Reads the parameters. The error lists all invalid parameters in their order.
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

    fn take(&mut self, key: &str, value: &str, is_first: bool) -> Result<(), PartialProblem> {
        match key {
            "digest" | "candidate" | "replace" if !is_first => return Err(given_twice(key)),
            "digest" => self.digest = Some(digest(value)?),
            "candidate" => self.is_candidate = yes_or_no(key, value)?,
            "replace" => self.replaces_built_in = yes_or_no(key, value)?,
            _ => return Err(unknown_parameter(key, one_of(LOAD_PARAMETERS))),
        }
        Ok(())
    }
}

/// Parameters of a comparison, checked: the base.
#[derive(Debug)]
pub(crate) struct Comparison(pub(crate) ShadowBase);

impl<S: Send + Sync> FromRequestParts<S> for Comparison {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let mut base = None;
        let mut problems = Vec::new();
        for (key, value) in QueryPairs::of(&parts.uri).0 {
            match &*key {
                "base" if base.is_some() => problems.push(given_twice(&key)),
                "base" => match shadow_base(&value) {
                    Ok(read) => base = Some(read),
                    Err(problem) => problems.push(problem),
                },
                _ => problems.push(unknown_parameter(&key, one_of(["base"]))),
            }
        }
        settle(Self(base.unwrap_or_default()), problems)
    }
}

fn shadow_base(value: &str) -> Result<ShadowBase, PartialProblem> {
    match value {
        "live" => Ok(ShadowBase::Live),
        "built-in" => Ok(ShadowBase::BuiltIn),
        _ => {
            let detail = format!("`{}` is not known", clipped(value));
            let expected = one_of(["live", "built-in"]);
            Err(PartialProblem::new("base", detail, expected))
        }
    }
}

fn given_twice(key: &str) -> PartialProblem {
    PartialProblem::new(key, "it is given more than once", "one value")
}

fn yes_or_no(key: &str, value: &str) -> Result<bool, PartialProblem> {
    value.parse().map_err(|_| {
        let detail = format!("`{}` is not known", clipped(value));
        PartialProblem::new(key, detail, one_of([true, false]))
    })
}

/// Reads a digest. Upper-case digits are accepted and lowered: other tools write them.
fn digest(value: &str) -> Result<Digest, PartialProblem> {
    let digits = value.strip_prefix(ALGORITHM).map(str::to_ascii_lowercase);
    let digest = digits.and_then(|digits| format!("{ALGORITHM}{digits}").parse().ok());
    digest.ok_or_else(|| {
        let detail = format!("`{}` is not a digest", clipped(value));
        PartialProblem::new("digest", detail, "`sha256:` and 64 hex digits")
    })
}

fn settle<T>(value: T, problems: Vec<PartialProblem>) -> Result<T, Problem> {
    if problems.is_empty() {
        Ok(value)
    } else {
        Err(Problem::invalid(problems))
    }
}

fn unknown_parameter(key: &str, expected: impl Into<String>) -> PartialProblem {
    PartialProblem::new(clipped(key), "unknown parameter", expected)
}
