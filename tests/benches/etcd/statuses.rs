//! An orchestrator writes the status of each resource of a large context.
//!
//! Meanwhile another cluster reports, and its answers are timed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kindsight_appcontext::{AppContexts, ResourceName, StatusChange};
use kindsight_cluster::Etcd;
use kindsight_model::{ContextId, RsyncStatus};

use crate::host::{APP, CLUSTER, Host, RESOURCES, connect};
use crate::print;

/// Resources of the context, each of which gets a status.
const STATUSES: usize = 1000;
/// Writers of statuses. Each has a connection of its own.
const WRITERS: usize = 4;
/// Rounds, with another status in each.
const ROUNDS: [RsyncStatus; 4] = [
    RsyncStatus::Pending,
    RsyncStatus::Applied,
    RsyncStatus::Failed,
    RsyncStatus::Applied,
];
/// The cluster that reports meanwhile.
const OTHER: &str = "p+other";
/// Time between two reports of that cluster.
const PAUSE: Duration = Duration::from_millis(10);

/// Measures, and prints the results.
pub(crate) fn measure(etcd: &Etcd) {
    let host = Host::start(&connect(etcd));
    let large = host.create_in(CLUSTER, "11", STATUSES, false);
    let other = host.create_in(OTHER, "12", RESOURCES, false);
    host.wait_for("contexts", |_| {
        host.is_shown(&large) && host.is_shown(&other)
    });
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reporting = scope.spawn(|| report(&host, &other, &is_done));
        let rounds = ROUNDS.map(|status| round(etcd, &host, &large, status));
        is_done.store(true, Ordering::Relaxed);
        let mut answered = reporting.join().expect("a reporter");
        println!(
            "{STATUSES} statuses of one context, {} rounds, in ms:",
            rounds.len()
        );
        let (mut written, mut behind): (Vec<_>, Vec<_>) = rounds.into_iter().unzip();
        print("all writes", &mut written);
        print(
            "from the last acknowledgement to the last answer",
            &mut behind,
        );
        let what = format!(
            "a report of another cluster meanwhile, {} times",
            answered.len()
        );
        print(&what, &mut answered);
    });
}

/// Writes all statuses. Returns the time of the writes, and the time from then until all are answered.
fn round(etcd: &Etcd, host: &Host, id: &ContextId, status: RsyncStatus) -> (Duration, Duration) {
    let began = Instant::now();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let contexts = AppContexts::new(connect(etcd));
                for number in (writer..STATUSES).step_by(WRITERS) {
                    write(&contexts, id, number, status);
                }
            });
        }
    });
    let acknowledged = Instant::now();
    host.wait_for("all statuses", |host| {
        host.view(id, |view| {
            let resources = view.apps[0].clusters()[0].resources();
            let mut statuses = resources.iter().map(|resource| resource.rsync);
            statuses.all(|shown| shown == Some(status))
        })
    });
    (acknowledged - began, acknowledged.elapsed())
}

fn write(contexts: &AppContexts, id: &ContextId, number: usize, status: RsyncStatus) {
    let change = StatusChange {
        app: APP,
        cluster: &CLUSTER.parse().expect("a name"),
        resource: &ResourceName::new(&format!("d{number}"), "Deployment").expect("a name"),
        status,
    };
    let _ = contexts
        .record_resource_statuses(id, &[change])
        .expect("a write");
}

/// Reports until the statuses are written. Returns the time from each report to its answer.
fn report(host: &Host, id: &ContextId, is_done: &AtomicBool) -> Vec<Duration> {
    let mut answered = Vec::new();
    while !is_done.load(Ordering::Relaxed) {
        let number = answered.len() + 1;
        let began = Instant::now();
        host.report_from(OTHER, id, number);
        host.wait_for("a report", |host| host.shows(id, number));
        answered.push(began.elapsed());
        thread::sleep(PAUSE);
    }
    answered
}
