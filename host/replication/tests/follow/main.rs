//! A feed and an image without a network between them.
#![expect(
    clippy::unwrap_used,
    reason = "a step that fails ends the test that took it"
)]

mod changes;
mod format;
mod stage;
mod streams;
