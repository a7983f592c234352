//! The server of rsync and the client of controllers, over real connections.
#![expect(
    clippy::unwrap_used,
    reason = "a step that fails ends the test that took it"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "the executor of a test ends its tasks"
)]

mod controllers;
mod rsync;
