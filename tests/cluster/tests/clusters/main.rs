//! Tests of the properties of clusters that other tests rely on.

mod api_server;
mod etcd;
mod issuer;
mod lifetime;
mod rollout;
mod unavailable;

use kindsight_cluster::{Binaries, Binary};

/// The time for one step of a controller on a busy machine.
const STEP_MAX: std::time::Duration = std::time::Duration::from_mins(1);

/// The executables of a complete cluster. If they are not available, the test ends.
fn binaries() -> Option<Binaries> {
    Binaries::or_skip(Binary::ALL)
}

fn api_server_binaries() -> Option<Binaries> {
    Binaries::or_skip(Binary::API_SERVER)
}

/// Returns whether a process exists.
fn is_running(id: u32) -> bool {
    let id = i32::try_from(id).expect("the id of a process");
    let id = rustix::process::Pid::from_raw(id).expect("not zero");
    rustix::process::test_kill_process(id).is_ok()
}
