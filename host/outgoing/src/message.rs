//! Requests and answers.

use std::time::Duration;

use http::{HeaderMap, Method, header};
use jiff::fmt::rfc2822::DateTimeParser;

use crate::limits::RETRY_AFTER_MAX;

/// One request to an endpoint.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The method.
    pub method: Method,
    /// A path below the path of the endpoint's URL, encoded: [`path_segment`](crate::path_segment) encodes a segment.
    pub path: Option<&'a str>,
    /// Parameters, not encoded. They follow the parameters of the endpoint's URL.
    pub query: &'a [(&'a str, &'a str)],
    /// Headers, such as the type of the body.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body. An empty body is not sent with `GET`, `HEAD` and `DELETE`.
    pub body: &'a [u8],
}

/// The answer to a request. A redirect and an error status are answers too.
#[derive(Debug, Clone)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The time that the receiver asks for before the next request, at most
    /// [`RETRY_AFTER_MAX`].
    pub retry_after: Option<Duration>,
    /// All headers, at most 64 KiB.
    pub headers: HeaderMap,
    /// The body, at most [`ANSWER_BYTES_MAX`](crate::ANSWER_BYTES_MAX).
    pub body: Vec<u8>,
}

impl Response {
    /// Returns whether the status means success (2xx).
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The value of a header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// The time of `Retry-After` (RFC 9110, 10.2.3): a number of seconds, or the time from the date of the answer to a date.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let value = text(header::RETRY_AFTER)?;
    let time = if let Ok(seconds) = value.parse::<u64>() {
        Duration::from_secs(seconds)
    } else {
        let parse = |text| DateTimeParser::new().parse_timestamp(text).ok();
        let wait = parse(value)?.duration_since(parse(text(header::DATE)?)?);
        // A date in the past permits the request at once.
        Duration::try_from(wait).unwrap_or_default()
    };
    Some(time.min(RETRY_AFTER_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(retry_after: &str, date: &str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(header::RETRY_AFTER, retry_after.parse().unwrap());
        headers.insert(header::DATE, date.parse().unwrap());
        super::retry_after(&headers)
    }

    #[test]
    fn retry_after_is_a_number_or_a_date() {
        let now = "Fri, 27 Nov 2026 12:00:00 GMT";
        assert_eq!(parsed("7", now), Some(Duration::from_secs(7)));
        let later = "Fri, 27 Nov 2026 12:01:30 GMT";
        assert_eq!(parsed(later, now), Some(Duration::from_secs(90)));
        assert_eq!(parsed(now, later), Some(Duration::ZERO));
        assert_eq!(parsed("99999999", now), Some(RETRY_AFTER_MAX));
        assert_eq!(parsed("-1", now), None);
        assert_eq!(parsed("soon", now), None);
    }
}
