//! The options of lists and watches in the query of a request.

use std::str::FromStr;
use std::time::Duration;

use crate::failure::Failure;

/// The options of a list or a watch.
#[derive(Debug, Default, Clone)]
pub(crate) struct Query {
    /// Maximum number of items in a page; 0 for no maximum.
    pub(crate) limit: usize,
    /// The token of the page before; empty for the first page.
    pub(crate) next: String,
    /// The text of the requested version. It is empty if the query names no version.
    version: String,
    /// The meaning of the version: empty, `Exact` or `NotOlderThan`.
    pub(crate) version_match: String,
    pub(crate) is_watch: bool,
    pub(crate) has_bookmarks: bool,
    /// None if the server chooses.
    pub(crate) sends_initial: Option<bool>,
    /// Lifetime of a watch. None if the server chooses.
    pub(crate) timeout: Option<Duration>,
    pub(crate) label_selector: String,
    pub(crate) field_selector: String,
}

impl Query {
    /// Reads a query. Unknown options are ignored, as API servers do.
    pub(crate) fn read(text: &str) -> Result<Self, Failure> {
        let mut query = Self::default();
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            let is_true = ["1", "true"].contains(&&*value);
            match &*name {
                "limit" => query.limit = number(&value)?,
                "continue" => query.next = value.into_owned(),
                "resourceVersion" => query.version = value.into_owned(),
                "resourceVersionMatch" => query.version_match = value.into_owned(),
                "watch" => query.is_watch = is_true,
                "allowWatchBookmarks" => query.has_bookmarks = is_true,
                "sendInitialEvents" => query.sends_initial = Some(is_true),
                "timeoutSeconds" => {
                    query.timeout = Some(Duration::from_secs(number(&value)?));
                }
                "labelSelector" => query.label_selector = value.into_owned(),
                "fieldSelector" => query.field_selector = value.into_owned(),
                _ => {}
            }
        }
        query.check()?;
        Ok(query)
    }

    /// The requested version; none if the query names none.
    pub(crate) fn version(&self) -> Result<Option<u64>, Failure> {
        let version = &self.version;
        let invalid = |_| {
            let message = format!("resourceVersion: invalid value: {version:?} is no number");
            // API servers answer a watch with a server error.
            if self.is_watch {
                Failure::internal(message)
            } else {
                Failure::bad_request(message)
            }
        };
        let number = (!version.is_empty()).then(|| version.parse().map_err(invalid));
        number.transpose()
    }

    fn check(&self) -> Result<(), Failure> {
        let (field, message) = match (self.is_watch, self.sends_initial) {
            (true, Some(_)) if self.version_match != "NotOlderThan" => (
                "resourceVersionMatch",
                "sendInitialEvents needs the match NotOlderThan",
            ),
            (true, None) if !self.version_match.is_empty() => (
                "resourceVersionMatch",
                "a watch has a match only with sendInitialEvents",
            ),
            (false, Some(_)) => ("sendInitialEvents", "it is an option of watches"),
            _ => return Ok(()),
        };
        Err(Failure::invalid_options(field, message))
    }
}

fn number<N: FromStr>(text: &str) -> Result<N, Failure> {
    let invalid = |_| Failure::bad_request(format!("{text:?} is not a number"));
    text.parse().map_err(invalid)
}
