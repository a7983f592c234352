//! Real Kubernetes clusters, watched by a server: every step ends with a check of the answer for users.

mod application;
mod argo_cm;
mod audit;
#[path = "../common/code_cache.rs"]
mod code_cache;
mod context;
mod cuts;
mod faults;
mod health_scopes;
mod history;
mod inventories;
mod kubectl;
mod lists;
mod monitor;
mod push;
mod registration;
mod related;
mod replica;
mod restart;
mod rights;
mod rollout;
mod selector;
mod sending;
mod stage;
mod token_review;
