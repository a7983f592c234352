//! Real Kubernetes clusters, watched by a server: every step ends with the answer that people get.

mod application;
mod context;
mod cuts;
mod faults;
mod history;
mod kubectl;
mod lists;
mod monitor;
mod related;
mod restart;
mod rights;
mod rollout;
mod selector;
mod stage;
