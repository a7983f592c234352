//! Answers to requests that never reach a handler, because their head cannot be read.
//!
//! The HTTP library answers these requests with only a status, and offers no way to add a body. This module recognises
//! such an answer when it is written, and completes it.

use axum::http::StatusCode;

use crate::limits::HEAD_BYTES_MAX;
use crate::problem::{PROBLEM_JSON, Problem};

/// The headers of a bare answer up to its date. Answers of handlers have another order and a content type.
const BARE: &str = "\r\nconnection: close\r\ncontent-length: 0\r\ndate: ";

/// The problem document in place of a bare answer; `None` for any other bytes.
pub(super) fn completed(bytes: &[u8]) -> Option<Vec<u8>> {
    let rest = bytes.strip_prefix(b"HTTP/1.1 4")?;
    let bare = str::from_utf8(rest.get(..rest.len().min(256))?).ok()?;
    let (status, date) = bare.split_once(BARE)?;
    let status = status.get(..2)?;
    let (status, detail) = match status {
        "00" => (
            StatusCode::BAD_REQUEST,
            "the head of the request is not valid HTTP: its method, target, version or headers"
                .to_owned(),
        ),
        "14" => (StatusCode::URI_TOO_LONG, too_long("the target")),
        "31" => (
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            too_long("the head"),
        ),
        _ => return None,
    };
    let date = date.strip_suffix("\r\n\r\n")?;
    Some(closing(status, detail, &format!("date: {date}\r\n")))
}

/// The answer to a request of HTTP on a port of HTTPS.
pub(super) fn without_tls() -> Vec<u8> {
    let detail = "this port speaks HTTPS alone: the URL must begin with `https://`";
    closing(StatusCode::BAD_REQUEST, detail.to_owned(), "")
}

/// A problem document that ends its connection, with further headers.
fn closing(status: StatusCode, detail: String, headers: &str) -> Vec<u8> {
    let document = Problem::new(status, detail).document();
    // A document of texts and numbers cannot fail.
    let body = serde_json::to_string(&document).unwrap_or_default();
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {PROBLEM_JSON}\r\nconnection: close\r\n\
         cache-control: no-store\r\nx-content-type-options: nosniff\r\n\
         content-length: {length}\r\n{headers}\r\n"
    );
    [head, body].concat().into_bytes()
}

fn too_long(what: &str) -> String {
    format!(
        "{what} of the request is longer than the {HEAD_BYTES_MAX} bytes or 100 headers that are read"
    )
}
