//! The text of server-sent events.

use std::io::{self, Write as _};

use axum::body::Bytes;
use axum::http::StatusCode;
use kindsight_api::watch::EventName;
use serde::Serialize;

use super::event_id::EventId;
use crate::answer::Chunks;
use crate::problem::{INTERNAL, Problem};

/// A comment. It is the first part of every stream, so that clients receive a byte at once, and the later heartbeat.
pub(super) const COMMENT: &[u8] = b":\n\n";

/// Writes an event without its end, which is its id.
///
/// # Errors
/// An event that becomes too large.
pub(crate) fn write(
    to: &mut Chunks,
    name: EventName,
    data: &impl Serialize,
) -> Result<(), Problem> {
    let failed = |_: io::Error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, INTERNAL);
    write!(to, "event: {}\ndata: ", name.as_str()).map_err(failed)?;
    to.json_in_one_line(data)?;
    to.write_all(b"\n").map_err(failed)
}

/// The end of an event: its id.
pub(super) fn end(id: EventId) -> Bytes {
    format!("id: {id}\n\n").into()
}

/// The last event of a stream that cannot continue.
pub(super) fn problem(problem: Problem) -> Bytes {
    let document = serde_json::to_string(&problem.document()).unwrap_or_default();
    format!(
        "event: {}\ndata: {document}\n\n",
        EventName::Problem.as_str()
    )
    .into()
}
