//! Middleware around every request: log, cross-origin check, limits, panics.
//!
//! Headers of answers and panics are caught by tower-http. Its layers for the rest are not used: they
//! answer without a problem document, a body that is too large finds a closed connection instead of
//! the reason, and the cross-origin check compares hosts byte by byte and only the first `Origin`.

mod cross_origin;
mod limits;
mod panic;
mod request_log;

pub(crate) use cross_origin::refuse_cross_origin;
pub(crate) use limits::{TimeLimit, limit_body, limit_requests, limit_time, limit_uri};
pub(crate) use panic::answer_panic;
pub(crate) use request_log::log_request;
