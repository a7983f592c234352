//! Ids of requests: in the header of the answer, and in every log line of the request.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use tracing::Span;

/// The header with the id of a request.
const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id that is taken from a client, in bytes. Each log line of the request contains the id.
pub const REQUEST_ID_BYTES_MAX: usize = 64;

/// The id of a request, for the audit log and for other programs in front of this one.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(HeaderValue);

impl RequestId {
    /// The id that the client sent; `None` if there is not exactly one, or if it has other characters than ASCII
    /// letters, digits, `-`, `_` and `.`.
    fn sent(headers: &HeaderMap) -> Option<Self> {
        let mut ids = headers.get_all(X_REQUEST_ID).iter();
        let (Some(id), None) = (ids.next(), ids.next()) else {
            return None;
        };
        let is_safe = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        let bytes = id.as_bytes();
        let is_valid = (1..=REQUEST_ID_BYTES_MAX).contains(&bytes.len());
        (is_valid && bytes.iter().all(is_safe)).then(|| Self(id.clone()))
    }

    /// The span of the request, which puts the id into its log lines.
    ///
    /// It is at the level of errors and with a target of its own, so that the lines of each level have the id, and the
    /// audit log has it with each filter.
    pub(crate) fn span(&self) -> Span {
        tracing::error_span!(target: "request", "request", id = self.as_str())
    }

    /// Puts the id into an answer.
    pub(crate) fn set(self, headers: &mut HeaderMap) {
        headers.insert(X_REQUEST_ID, self.0);
    }

    /// The id as text.
    fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }
}

/// The ids that this process makes.
#[derive(Debug)]
pub(crate) struct RequestIds {
    /// Random for each process.
    epoch: u64,
    last: AtomicU64,
}

impl Default for RequestIds {
    fn default() -> Self {
        Self {
            // Its keys are random.
            epoch: RandomState::new().build_hasher().finish(),
            last: AtomicU64::new(0),
        }
    }
}

impl RequestIds {
    /// An id that no request has yet.
    fn next(&self) -> RequestId {
        let number = self.last.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let id = format!("{:016x}-{number}", self.epoch);
        let id = HeaderValue::try_from(id);
        RequestId(id.unwrap_or(HeaderValue::from_static("unknown")))
    }

    /// The id of a request: a valid id that the client sent, or a new one.
    pub(crate) fn identify(&self, request: &Request) -> RequestId {
        RequestId::sent(request.headers()).unwrap_or_else(|| self.next())
    }
}
