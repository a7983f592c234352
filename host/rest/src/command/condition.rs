//! Conditions of commands: `If-Match` with the digest of the live version, or with the tag of the content of a group.

use std::fmt::Display;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use kindsight_api::interpreters::LiveCondition;
use kindsight_api::problem::PartialProblem;
use kindsight_status::clipped;
use utoipa::IntoParams;

use crate::problem::Problem;

/// Extractor of the header `If-Match`: `*`, or digests in the form of `ETag`.
#[derive(Debug)]
pub(crate) struct IfMatch(pub(crate) LiveCondition);

/// The header `If-Match`, for the OpenAPI document.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it is described, never made")]
pub(crate) struct IfMatchHeader {
    /// Digests as in `ETag`: the command is refused unless one of them is live.
    #[param(rename = "If-Match")]
    live: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for IfMatch {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Some(text) = text(parts) else {
            return Ok(Self(LiveCondition::Any));
        };
        condition(&text).map(Self).ok_or_else(|| {
            let detail = format!("`{}` is not a list of digests", clipped(&text));
            let expected = "`*`, or digests as `\"sha256:…\"`, with a comma between them";
            Problem::invalid(vec![PartialProblem::new("If-Match", detail, expected)])
        })
    }
}

/// Reads the value of `If-Match`. A weak tag, or a tag that is not a digest, matches no version.
fn condition(text: &str) -> Option<LiveCondition> {
    if text.trim() == "*" {
        return Some(LiveCondition::Present);
    }
    let digests = strong(text)?.into_iter();
    let digests = digests.filter_map(|tag| super::digest(tag).ok());
    Some(LiveCondition::OneOf(digests.collect()))
}

/// The strong tags in a list of tags, without quotes; `None` if it is not a list of tags.
fn strong(text: &str) -> Option<Vec<&str>> {
    let mut tags = Vec::new();
    for tag in text.split(',') {
        let tag = tag.trim();
        let strong = tag.strip_prefix("W/").unwrap_or(tag);
        let inner = strong.strip_prefix('"')?.strip_suffix('"')?;
        if strong.len() == tag.len() {
            tags.push(inner);
        }
    }
    Some(tags)
}

/// The value of `If-Match`; `None` without the header.
fn text(parts: &Parts) -> Option<String> {
    let mut values = parts.headers.get_all(header::IF_MATCH).iter().peekable();
    values.peek()?;
    let values = values.map(|value| String::from_utf8_lossy(value.as_bytes()));
    Some(values.collect::<Vec<_>>().join(","))
}

/// Extractor of the header `If-Match` with tags of the content of a group: `None` if every content is accepted.
#[derive(Debug)]
pub(crate) struct IfContent(pub(crate) Option<Vec<String>>);

/// The header `If-Match` of an approval, for the OpenAPI document.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it is described, never made")]
pub(crate) struct IfContentHeader {
    /// Tags as in `ETag` of the group: the approval is refused unless the content of the group has one of them.
    #[param(rename = "If-Match")]
    content: Option<String>,
}

impl<S: Send + Sync> FromRequestParts<S> for IfContent {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let Some(text) = text(parts).filter(|text| text.trim() != "*") else {
            return Ok(Self(None));
        };
        let Some(tags) = strong(&text) else {
            let detail = format!("`{}` is not a list of tags", clipped(&text));
            let expected = "`*`, or tags as in `ETag` of the group, with a comma between them";
            let problem = PartialProblem::new("If-Match", detail, expected);
            return Err(Problem::invalid(vec![problem]));
        };
        Ok(Self(Some(tags.into_iter().map(str::to_owned).collect())))
    }
}

/// The tag of a digest or of a content, for the header `ETag`.
pub(crate) fn etag(of: &impl Display) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("\"{of}\"")).ok()
}

#[cfg(test)]
mod tests {
    use kindsight_model::Digest;

    use super::*;

    #[test]
    fn a_list_of_tags_is_read() {
        let digest = Digest::of(b"component");
        let one_of = |digests: &[&Digest]| {
            let digests = digests.iter().map(|digest| (*digest).clone());
            Some(LiveCondition::OneOf(digests.collect()))
        };
        assert_eq!(condition(" * "), Some(LiveCondition::Present));
        assert_eq!(condition(&format!("\"{digest}\"")), one_of(&[&digest]));
        let upper = digest
            .to_string()
            .to_uppercase()
            .replace("SHA256", "sha256");
        let two = format!("\"x\" , W/\"{digest}\",\"{upper}\"");
        assert_eq!(condition(&two), one_of(&[&digest]));
        for invalid in ["", "\"", "x", &digest.to_string(), "\"a\",b"] {
            assert_eq!(condition(invalid), None, "{invalid}");
        }
    }
}
