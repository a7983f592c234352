//! Access control: who sends a request, and what this user may see and change.
//!
//! model -> **access** -> rest, server, command line
//!
//! ```text
//! credential ──AccessControl──▶ Caller { User, Rights }
//!                  │ verifies: TokenFile, VerifyToken (OIDC, TokenReview), client certificate
//!                  └ rights:   RoleBindings
//! ```
//!
//! The crate knows no route and no status code. The REST API passes credentials to [`AccessControl`] and maps the
//! [`Refusal`] to an answer. Files are read again when they change, while the server runs.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod attempts;
mod control;
mod files;
mod log_lines;
mod oidc;
mod redaction;
mod roles;
mod tls;
mod tokens;
mod toml_error;
mod user;
mod verify;

pub use control::{
    AccessControl, AccessControlError, AccessSettings, Caller, ClientCertificate, Credential,
    Lease, Refusal,
};
pub use files::{AccessFileError, follow_files};
pub use log_lines::{CleanLines, LOG_LINE_BYTES_MAX, LineFormat};
pub use oidc::{
    CodeFlow, CodeFlowError, CodeFlowSettings, IssuerClientError, IssuerUrl, IssuerUrlError, Oidc,
    OidcSettings, Proxies, ProxyError, SignInAttempt, SignatureAlgorithm, SignatureAlgorithmError,
};
pub use redaction::{is_token, without_tokens};
pub use roles::{Rights, Role, RoleBindings, RoleFileError};
pub use tls::{TlsError, TlsFile, TlsProblem, TlsServer, TlsSettings, TlsStream, VerifiedClient};
pub use tokens::{NewToken, StoredToken, TokenFile, TokenFileError, TokenName};
pub use toml_error::TomlError;
pub use user::{Method, User, UserError};
pub use verify::{TokenError, Verified, VerifyToken};
