//! Middleware around every request: log, checks of host and origin, body, limits, panics.
//!
//! Headers of answers and panics are caught by tower-http. Its layers for the rest are not used: they
//! answer without a problem document, a body that is too large finds a closed connection instead of
//! the reason, and the cross-origin check compares hosts byte by byte and only the first `Origin`.

mod answers;
mod body;
mod cross_origin;
mod host;
mod limits;
mod panic;
mod request_log;

pub(crate) use answers::{AnswerBytes, count_answer};
pub(crate) use body::{BodyRules, read_body};
pub(crate) use cross_origin::refuse_cross_origin;
pub(crate) use host::refuse_foreign_host;
pub(crate) use limits::{TimeLimit, limit_requests, limit_time, limit_uri};
pub(crate) use panic::answer_panic;
pub(crate) use request_log::log_request;
