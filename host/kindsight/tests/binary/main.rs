//! End-to-end tests of the binary: command line, pipes and HTTP.
#![expect(
    clippy::unwrap_used,
    reason = "a step that fails ends the test that took it"
)]

mod aai;
mod access;
mod applications;
mod backup;
mod catalogue;
mod children;
mod client;
mod compiled;
mod demo;
mod dialect;
mod diff;
mod emco;
mod following;
mod generated;
mod goldens;
mod history;
mod interpret;
mod interpreters;
mod killed;
mod kubeconfig;
mod kubectl;
mod lifecycle;
mod local;
mod monitor;
mod notify;
mod old_stores;
mod onap;
mod plugin;
mod process;
mod registry;
mod replica;
mod rules;
mod scenario;
mod sending;
mod serve;
mod sharing;
mod stopping;
mod store;
mod store_command;
mod takeover;
mod terminal;
mod token_command;
