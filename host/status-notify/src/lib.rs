//! EMCO's gRPC for notifications of statuses, over the subscriptions of the read model.
//!
//! grpc, read-model, status -> **status-notify** -> server
//!
//! ```text
//! client ──StatusRegister──▶ StatusNotifier ─▶ Follower ──StatusNotification──▶ client
//!                               │ role `viewer`  ▲ wakes, if its subject changed
//! read model ──changes──▶ Dispatcher ────────────┘
//! ```
//!
//! A registration gets the current status at once, and then each status that differs from the last one. Notifications
//! are not queued: a client that reads slowly gets fewer of them. A client whose subject does not change uses no
//! processor time.
//!
//! The values follow EMCO's orchestrator (`statusnotify.go` of release v22.09) with these differences: the value of an
//! app and of a cluster is rolled up as the overall value is; the status `Updated` counts as `Instantiated` for every
//! subject; `READY` of a logical cloud or a cluster needs ready resources.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod clients;
mod dispatcher;
mod follower;
mod limits;
mod notification;
pub mod proto;
mod registration;
mod service;

#[cfg(test)]
mod tests;

pub use dispatcher::Dispatcher;
pub use limits::{
    CLIENT_ID_BYTES_MAX, CLIENTS_MAX, GATHER, LISTENER_LIMITS, NOTIFICATION_BYTES_MAX,
    NOTIFICATIONS_BYTES_MAX, REGISTRATION_BYTES_MAX,
};
pub use service::StatusNotifier;
