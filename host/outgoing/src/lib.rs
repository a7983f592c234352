//! HTTP requests to receivers that an operator configured.
//!
//! ```text
//! notify, aai ─▶ Endpoint::request ─▶ Destinations: is the host listed? ─▶ DNS ─▶ is the address permitted? ─▶ TLS
//! ```
//!
//! - Each connection goes to an address that was checked after DNS, so a name that changes its address leads to no
//!   other place. The environment's proxies are not used, because a proxy would resolve names itself.
//! - A redirect is never followed: its answer is returned.
//! - Each request has one time limit for all of its steps, and each answer has a size limit.
//! - Credentials are read from their files at each request. They are in no error, log line or `Debug` text. The path
//!   of a URL is treated like a credential, because receivers such as chat services put their keys into it.
//!
//! All functions block.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod address;
mod credentials;
mod destinations;
mod endpoint;
mod error;
mod limits;
mod message;
mod resolver;
mod segment;
mod tls;
mod url;

#[cfg(test)]
mod tests;

pub use address::{IpRange, IpRangeError};
pub use credentials::Credentials;
pub use destinations::{Destinations, HostPattern, HostPatternError};
pub use endpoint::{Endpoint, EndpointSettings};
pub use error::{Error, RequestError};
pub use limits::{ANSWER_BYTES_MAX, RETRY_AFTER_MAX};
pub use message::{Request, Response};
pub use segment::path_segment;
