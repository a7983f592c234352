//! Middleware around every request: id, log, metrics, checks of host and origin, body, limits, panics.
//!
//! tower-http sets the headers of answers and catches panics. Its other layers are not used: `TimeoutLayer` and
//! `RequestBodyLimitLayer` answer without a problem document, and the second closes the connection of an oversized body
//! before the client can read the reason. The cross-origin check compares hosts byte by byte, and checks only the first
//! `Origin`. tower's `ConcurrencyLimit` makes a request wait, and with `LoadShed` takes more code than a semaphore.

mod answers;
mod authorize;
mod body;
mod cross_origin;
mod host;
mod limits;
mod panic;
mod request_id;
mod request_log;
mod too_large;

pub(crate) use answers::{AnswerBytes, count_answer};
pub(crate) use authorize::{Authorization, authorize};
pub(crate) use body::{BodyRules, read_body};
pub(crate) use cross_origin::{is_of_own_page, refuse_cross_origin};
pub(crate) use host::{HostNames, refuse_foreign_host};
pub(crate) use limits::{TimeLimit, limit_requests, limit_time, limit_uri};
pub(crate) use panic::answer_panic;
pub use request_id::REQUEST_ID_BYTES_MAX;
pub(crate) use request_id::{RequestIds, identify_request};
pub(crate) use request_log::log_request;
pub(crate) use too_large::note_too_large;
