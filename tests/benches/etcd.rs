//! Time from a report, and from a change in an etcd, to the answer, compared with one bare put of the same size; and
//! time until 1,000 written statuses of one context are answered.
//!
//! `cargo bench -p kindsight-tests --bench etcd`. The etcd is a real one with one member that syncs its log to
//! the disk at each write, on the same machine.

#[path = "etcd/host.rs"]
mod host;
#[path = "etcd/statuses.rs"]
mod statuses;

use std::time::{Duration, Instant};

use host::{APP, CLUSTER, Host, connect, status};
use kindsight_appcontext::AppContexts;
use kindsight_cluster::{Binaries, Binary, Etcd};
use kindsight_store::Batch;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Reports, and changes by another writer.
const TIMES: usize = 500;
/// Time between two of them.
const PAUSE: Duration = Duration::from_millis(5);

fn main() {
    let Some(binaries) = Binaries::or_skip(Binary::ETCD) else {
        return;
    };
    let etcd = Etcd::start_with(&binaries, &[]);
    statuses::measure(&etcd);
    let host = Host::start(&connect(&etcd));
    let ours = host.create("1", true);
    let others = host.create("2", false);
    host.wait_for("status", |_| host.is_shown(&ours) && host.is_shown(&others));

    let bare = connect(&etcd);
    let mut puts = Vec::new();
    for number in 0..TIMES {
        let value = status(number);
        let began = Instant::now();
        bare.apply(&Batch::new().put("/bench/", value))
            .expect("a put");
        puts.push(began.elapsed());
        std::thread::sleep(PAUSE);
    }
    let mut reported = Vec::new();
    for number in 1..=TIMES {
        let began = Instant::now();
        host.report(&ours, number);
        host.wait_for("a report", |host| host.shows(&ours, number));
        reported.push(began.elapsed());
        std::thread::sleep(PAUSE);
    }
    let other_writer = AppContexts::new(bare);
    let mut written = Vec::new();
    for number in 1..=TIMES {
        let began = Instant::now();
        let cluster = CLUSTER.parse().expect("a name");
        let _ = other_writer
            .record_bundle(&others, APP, &cluster, &status(number))
            .expect("a write");
        host.wait_for("a change", |host| host.shows(&others, number));
        written.push(began.elapsed());
        std::thread::sleep(PAUSE);
    }
    println!("{TIMES} times, {} bytes each, in ms:", status(1).len());
    print("one bare put", &mut puts);
    print("a report, until it is queryable", &mut reported);
    print(
        "another writer's report, from before its write",
        &mut written,
    );
}

fn print(what: &str, times: &mut [Duration]) {
    times.sort();
    let at = |percent: usize| {
        let position = (times.len() * percent).div_ceil(100).saturating_sub(1);
        times[position].as_secs_f64() * 1000.0
    };
    println!("  {what:<48} p50 {:>6.2}  p99 {:>6.2}", at(50), at(99));
}
