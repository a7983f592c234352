//! Load of watched clusters. First one large cluster: memory, time to ready, idle processor time, latency of changes
//! compared with a bare watch, and many clients on the stream. Then many clusters, of them one that hangs.
//!
//! `cargo bench -p kindsight-tests --bench clusters` measures the large cluster. Arguments: `-- memory` measures only
//! its memory, `-- selector` requests only labelled objects from the API server (both can be combined), and `-- many`
//! measures many clusters. `-- change` measures the processor time for one changed object. The real API servers run on the same machine, so times include both.
//! `KINDSIGHT_BENCH_LABELLED`, `_OTHERS` and `_CLUSTERS` are numbers of objects and clusters; each cluster takes
//! a quarter of a GiB.

#[path = "clusters/change.rs"]
mod change;
#[path = "clusters/fill.rs"]
mod fill;
#[path = "clusters/host.rs"]
mod host;
#[path = "clusters/latency.rs"]
mod latency;
#[path = "clusters/many.rs"]
mod many;

use std::time::{Duration, Instant};

use kindsight_cluster::{Binaries, Binary, Cluster, Etcd, Options};

use host::Host;

/// The allocator of the program: memory is measured here.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Objects that belong to applications.
const LABELLED: usize = 10_000;
/// Objects that belong to no application.
const OTHERS: usize = 50_000;
/// Time for which an idle host is measured.
const IDLE: Duration = Duration::from_mins(1);

fn main() {
    if kindsight_server::is_compiler() {
        let _ = kindsight_interpreter::compile_child();
        return;
    }
    if is_asked_for("many") {
        many::run();
    } else if is_asked_for("change") {
        changes();
    } else {
        large();
    }
}

/// Returns whether an argument is this one.
fn is_asked_for(what: &str) -> bool {
    std::env::args().any(|argument| argument == what)
}

fn changes() {
    let Some(binaries) = Binaries::or_skip(Binary::API_SERVER) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let cluster = Cluster::start(&etcd, &Options::api_server("change"));
    change::run(&cluster);
}

fn large() {
    let Some(binaries) = Binaries::or_skip(Binary::API_SERVER) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let cluster = Cluster::start(&etcd, &Options::api_server("large"));
    let began = Instant::now();
    let (labelled, others) = (count("LABELLED", LABELLED), count("OTHERS", OTHERS));
    let raw = fill::fill(&cluster, labelled, others);
    println!(
        "{labelled} labelled and {others} other objects, written in {:.0?}; the labelled ones have {:.1} MiB of JSON",
        began.elapsed(),
        mib(raw)
    );
    let host = Host::start();
    let before = resident();
    let began = Instant::now();
    host.watch(&[&cluster]);
    host.wait(&cluster, "connected");
    let ready = began.elapsed();
    let peak = resident();
    std::thread::sleep(Duration::from_secs(5));
    let held = resident().saturating_sub(before);
    println!("time to ready: {ready:.1?}");
    println!(
        "memory: {:.1} MiB held above an empty host, {:.1} times the labelled JSON; {:.1} MiB when it became ready",
        mib(held),
        ratio(held, raw),
        mib(peak.saturating_sub(before))
    );
    if is_asked_for("memory") {
        return;
    }
    let busy = processor_time();
    std::thread::sleep(IDLE);
    let busy = processor_time().saturating_sub(busy);
    println!(
        "idle: {:.2} % of a core over {IDLE:?}",
        100.0 * busy.as_secs_f64() / IDLE.as_secs_f64()
    );
    latency::run(&cluster, &host);
    latency::crowd(&cluster, &host);
}

/// A number of the environment, by the end of its name.
pub(crate) fn count(name: &str, default: usize) -> usize {
    let asked = std::env::var(format!("KINDSIGHT_BENCH_{name}")).ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Memory that this process has in use, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    number.unwrap_or_default() * 1024
}

/// Processor time that this process took so far.
fn processor_time() -> Duration {
    /// Clock ticks per second in the process statistics of Linux.
    const TICKS: u64 = 100;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields = after_name.split_whitespace().skip(11).take(2);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1000 / TICKS)
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn ratio(one: u64, other: u64) -> f64 {
    one as f64 / other.max(1) as f64
}
