//! The clusters do what tests of others rely on.

mod api_server;
mod etcd;
mod lifetime;
mod rollout;
mod unavailable;

use kindsight_cluster::{Binaries, Binary};

/// Time for a step of a controller, on a busy machine.
const STEP_MAX: std::time::Duration = std::time::Duration::from_mins(1);

/// Executables of a whole cluster; without them, the test that asks ends.
fn binaries() -> Option<Binaries> {
    Binaries::or_skip(Binary::ALL)
}

fn api_server_binaries() -> Option<Binaries> {
    Binaries::or_skip(Binary::API_SERVER)
}

/// Tells whether a process exists.
fn is_running(id: u32) -> bool {
    let id = i32::try_from(id).expect("the id of a process");
    let id = rustix::process::Pid::from_raw(id).expect("not zero");
    rustix::process::test_kill_process(id).is_ok()
}
