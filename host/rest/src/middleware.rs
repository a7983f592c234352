//! Middleware around every request: id, log, metrics, checks of host and origin, body, limits, panics.
//!
//! Two layers have all of it: [`guard`] for every route, and [`limit_route`] with the limits of a group of routes.
//!
//! The layers of tower-http are not used here: `TimeoutLayer` and `RequestBodyLimitLayer` answer without a problem
//! document, and the second closes the connection of an oversized body before the client can read the reason. The
//! cross-origin check compares hosts byte by byte, and checks only the first `Origin`. tower's `ConcurrencyLimit` makes a
//! request wait, and with `LoadShed` takes more code than a semaphore.

mod answers;
mod authorize;
mod body;
mod cross_origin;
mod guards;
mod host;
mod limits;
mod panic;
mod replica;
mod request_id;
mod request_log;
mod too_large;

pub(crate) use answers::AnswerBytes;
pub(crate) use body::BodyRules;
pub(crate) use cross_origin::is_of_own_page;
pub(crate) use guards::{Guards, guard};
pub(crate) use limits::{RouteLimits, limit_route};
pub use request_id::REQUEST_ID_BYTES_MAX;
pub(crate) use too_large::{TooLargeUploads, note_too_large};
