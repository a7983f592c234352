//! Lives of groups and of network intents over a real store in memory, and clusters in memory.

mod approvals;
mod batches;
mod clusters;
mod contexts;
mod lives;
mod model;
mod networks;
mod order;
mod previews;
mod recovery;
mod removals;
mod stage;
mod updates;
mod waits;
