//! Limits of requests and answers.

use std::time::Duration;

/// Maximum size of the body of an answer, in bytes. Receivers answer with a status and a short text, and an inventory
/// with one object: A&AI's objects with all their relations have some 10 KiB.
pub const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// Maximum size of the head of an answer, in bytes. Common servers send at most 16 KiB.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Maximum time until a connection is open, with TLS. Distant servers need about a second.
pub(crate) const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);

/// Maximum time that a receiver may request with `Retry-After`. A longer time would let a receiver stop its
/// deliveries for as long as it likes.
pub const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);

/// Maximum size of a file with a token or password, in bytes.
pub(crate) const CREDENTIAL_BYTES_MAX: u64 = 64 * 1024;

/// Maximum size of a file with certificates or a key, in bytes: some hundred authorities.
pub(crate) const PEM_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Maximum length of a text from a library or a receiver in an error, in bytes.
pub(crate) const TEXT_BYTES_MAX: usize = 300;

/// Maximum length of a configured URL, in bytes.
pub(crate) const URL_BYTES_MAX: usize = 2048;
