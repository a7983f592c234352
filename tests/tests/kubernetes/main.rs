//! Real Kubernetes clusters, watched by a server: every step ends with the answer that people get.

mod cuts;
mod faults;
mod related;
mod restart;
mod rights;
mod rollout;
mod stage;
