//! Outages while no client waits for the clusters.

use kindsight_simulator::{Fault, Seed, Simulator};

use crate::server::Watching;

/// Case: a server that hangs, and a server that only fails, cannot be reached until they answer again. The other
/// cluster remains connected.
pub(crate) fn outages_are_found_while_no_client_waits() {
    let seeds = [0, 1, 2].map(|number| Seed::new(number, 1));
    let simulator = Simulator::start(&seeds);
    let server = Watching::start(&simulator);
    server.wait_until_connected(3);
    simulator.cluster(0).stall();
    simulator
        .cluster(1)
        .fail_next(Fault::InternalError, u32::MAX);
    server.wait_until_connected(1);
    simulator.cluster(0).resume();
    simulator.cluster(1).stop_failing();
    server.wait_until_connected(3);
}
