//! Load of many simulated clusters: processor time and memory of servers until they are ready, while nothing changes, at a
//! rate of changes, while all clusters reconnect, and while one interpreter is swapped for all objects.
//!
//! `cargo bench --workspace --bench scale -- clusters=20 objects=16000 rate=1000 seconds=30`. `objects` is the number
//! in all clusters. `only=idle` (or `changes`, `wave`, `swap`; several with commas) leaves out the other parts.
//! `file=one` gives the server one kubeconfig with all contexts, instead of one kubeconfig for each cluster.
//! `hosts=3` shares the clusters among three servers over one etcd; the figures are their sum, and queries go to one.
//! `waiting=1` keeps a stream open on each application, so that all clusters are awaited. The servers run in child
//! processes, so the figures do not contain the simulator. `docs/scale.md` has results.

#[path = "scale/arguments.rs"]
mod arguments;
#[path = "scale/host.rs"]
mod host;
#[path = "scale/measured.rs"]
mod measured;
#[path = "scale/parts.rs"]
mod parts;
#[path = "scale/queries.rs"]
mod queries;

use kindsight_simulator::{Seed, Simulator};

use arguments::Arguments;
use host::Hosts;

/// The allocator of the program: memory is measured here.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    if kindsight_server::is_compiler() {
        let _ = kindsight_interpreter::compile_child();
        return;
    }
    let mut given = std::env::args().skip(1);
    if given.next().as_deref() == Some(host::CHILD) {
        host::serve(given);
        return;
    }
    let arguments = Arguments::read();
    let simulator = Simulator::start(&seeds(&arguments));
    let mut hosts = Hosts::start(arguments.hosts);
    let empty = hosts.usage();
    if arguments.has_one_file {
        hosts.watch(&simulator.kubeconfig());
    } else {
        hosts.watch(simulator.folder());
    }
    let ready = parts::ready(&simulator, &hosts, empty);
    let _streams = arguments
        .is_waiting
        .then(|| parts::streams(&simulator, &hosts));
    if arguments.has("idle") {
        parts::idle(&arguments, &hosts);
    }
    if arguments.has("changes") {
        parts::changes(&arguments, &simulator, &hosts);
    }
    if arguments.has("wave") {
        parts::wave(&simulator, &hosts, ready);
    }
    if arguments.has("swap") {
        parts::swap(&simulator, &hosts);
    }
}

/// The clusters, with the same number of objects in each.
fn seeds(arguments: &Arguments) -> Vec<Seed> {
    let one = Seed::new(0, 1).objects();
    let units = (arguments.objects / arguments.clusters.max(1)).div_ceil(one);
    (0..arguments.clusters)
        .map(|number| Seed::new(number, units))
        .collect()
}
