//! The monitor in real clusters, with the permissions of `deploy/monitor.yaml`.

mod apps;
#[path = "../../../../tests/tests/common/code_cache.rs"]
mod code_cache;
mod hostile;
mod install;
mod load;
mod reports;
mod rivals;
mod server;
mod stage;
mod view;
