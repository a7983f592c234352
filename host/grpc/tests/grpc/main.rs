//! The server of rsync and the client of controllers, over real connections.
#![expect(
    clippy::unwrap_used,
    reason = "a step that fails ends the test that took it"
)]

mod controllers;
mod rsync;
