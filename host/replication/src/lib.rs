//! Replication of the read model between hosts.
//!
//! ```text
//! ReadModel ─▶ Feed ─lines, gzip─▶ GET /v2/replication ─▶ follow ─▶ Image ─▶ UpstreamEvent ─▶ pipeline ─▶ ReadModel
//! ```
//!
//! The unit of replication is one app in one cluster, with its rows and their verdicts, and the connection to one
//! cluster. Each has the fencing number of the host that owns the cluster. A [`Feed`] is the half of the upstream host: it
//! compares what it sent last with the current state, when the connection can take more. So a slow follower gets fewer
//! and larger differences, and no queue grows. An [`Image`] is the half of the follower: it applies lines, and returns
//! the changes at the end of each batch. [`wire`] has the lines.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod batch;
mod client;
mod feed;
mod feed_stream;
mod image;
mod tls;
pub mod wire;

pub use batch::{ApplicationChange, Batch, StoresChange, UpstreamChange, UpstreamEvent};
pub use client::{SILENT_MAX, Upstream, UpstreamSettings, UpstreamSettingsError, UpstreamState};
pub use feed::{CHUNK_BYTES, Feed, FeedScope, GATHER, HEARTBEAT};
pub use feed_stream::FeedStream;
pub use image::Image;
