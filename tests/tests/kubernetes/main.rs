//! Real Kubernetes clusters, watched by a server: every step ends with the answer that people get.

mod faults;
mod restart;
mod rights;
mod rollout;
mod stage;
