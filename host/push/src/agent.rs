//! The half of the agent.

mod client;
mod frames;
mod ledger;
mod needs;
mod options;
mod pusher;
mod slots;
mod spool;
mod subject_state;
mod tls;

#[cfg(test)]
pub(crate) use frames::Frames;
#[cfg(test)]
pub(crate) use ledger::Ledger;
pub use options::{Credentials, PushOptions, PushSetupError};
pub use pusher::Pusher;
pub use spool::SPOOL_BYTES_MAX;
