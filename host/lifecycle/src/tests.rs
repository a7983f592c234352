//! Lives of groups over a real store in memory, and clusters in memory.

mod lives;
mod recovery;
mod stage;
