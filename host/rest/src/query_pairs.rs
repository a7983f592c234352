//! The parameters of a URL.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::Uri;
use axum::http::request::Parts;

/// Extractor of the decoded parameters of a URL, in their order and with repetitions. A parameter without a value has the
/// empty value, and bytes that are not UTF-8 are replaced. For parsers that name all problems of a query at a time; it
/// never fails.
pub(crate) struct QueryPairs(pub(crate) Vec<(String, String)>);

impl QueryPairs {
    pub(crate) fn of(uri: &Uri) -> Self {
        let query = uri.query().unwrap_or_default();
        Self(
            form_urlencoded::parse(query.as_bytes())
                .into_owned()
                .collect(),
        )
    }
}

impl<S: Sync> FromRequestParts<S> for QueryPairs {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.uri))
    }
}
