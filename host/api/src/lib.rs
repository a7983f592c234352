//! Requests and answers on the wire, declared once for server, client and `OpenAPI`.
//!
//! model -> **api** -> status, rest, the command line
//!
//! The server writes these types, the command line reads them, and the document at `/openapi.json`
//! is made from them. They contain no logic: serde and utoipa are derived, and constructors only
//! copy from the types of `kindsight-model`.
//!
//! Answers to status queries borrow from their sources and are written without a copy. When they
//! are read from text, they borrow from the text. A member that does not apply is omitted and is
//! never null. A reader ignores members that it does not know.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

pub mod applications;
pub mod clusters;
pub mod emco;
pub mod explanation;
pub mod health_scopes;
pub mod history;
pub mod interpret;
pub mod interpreters;
pub mod k8splugin;
pub mod lifecycle;
mod name_lists;
pub mod notify;
pub mod onap;
pub mod problem;
pub mod push;
pub mod registration;
pub mod replication;
pub mod session;
pub mod status;
pub mod store;
pub mod watch;
