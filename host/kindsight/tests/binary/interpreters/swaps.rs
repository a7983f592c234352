//! Many swaps while clients send queries and bundles arrive.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::stage::{CRANE, STATUS, Stage, digest, judged, pause, resources, version, wait_until};
use crate::process::Server;

const SWAPS: usize = 200;
/// Swaps after which memory and threads of the process are stable.
const WARM_UP: usize = 20;
/// Threads that the process may gain after the warm-up: blocking steps run on threads that stay for
/// some seconds, so their number depends on the load of the machine. A leak of one thread in ten swaps
/// exceeds it.
const THREADS_SLACK: u64 = (SWAPS - WARM_UP) as u64 / 10;
/// Versions that are loaded in turn: more than are kept, so that each is loaded as a new one.
const VERSIONS: usize = 8;
const CRANES: usize = 20;

/// Resources of a process.
#[derive(Debug, Clone, Copy)]
struct Usage {
    resident_kb: u64,
    threads: u64,
}

#[test]
fn two_hundred_swaps_mix_no_answer_and_leak_nothing() {
    let stage = Stage::new(CRANES);
    let server = stage.serve();
    let versions: Vec<Vec<u8>> = (1..=VERSIONS).map(version).collect();
    let digests: BTreeSet<String> = versions.iter().map(|bytes| digest(bytes)).collect();
    swap(&server, &versions[0]);
    wait_until("the first version", || {
        digests.contains(&judged(&server).digest)
    });

    let (is_over, answers) = (AtomicBool::new(false), AtomicUsize::new(0));
    let before = thread::scope(|scope| {
        let ended = Ended(&is_over);
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    ask(&server, &digests);
                    answers.fetch_add(1, Ordering::Relaxed);
                    pause(2);
                }
            });
        }
        scope.spawn(|| {
            for round in 1.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                stage.report(round);
                pause(50);
            }
        });
        for number in 1..=WARM_UP {
            swap(&server, &versions[number % VERSIONS]);
        }
        let before = Usage::of(&server);
        for number in WARM_UP + 1..=SWAPS {
            swap(&server, &versions[number % VERSIONS]);
        }
        drop(ended);
        before
    });
    let last = digest(&versions[SWAPS % VERSIONS]);
    wait_until("the last version", || judged(&server).digest == last);
    for _ in 0..20 {
        assert_eq!(judged(&server).digest, last, "a version that is gone");
    }
    assert!(answers.load(Ordering::Relaxed) >= SWAPS, "{answers:?}");
    let bound_kb = before.resident_kb * 3 / 2 + 16 * 1024;
    wait_until("no more threads than before", || {
        Usage::of(&server).threads < before.threads + THREADS_SLACK
    });
    let after = Usage::of(&server);
    assert!(
        after.resident_kb <= bound_kb,
        "{before:?} before, {after:?} after"
    );
    assert!(server.stop());
}

/// Stops the other threads when it is dropped, also if a step fails.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn swap(server: &Server, bytes: &[u8]) {
    let (status, outcome) = server.put(CRANE, bytes);
    assert_eq!(
        (status, &outcome["status"]),
        (200, &"live".into()),
        "{outcome}"
    );
}

/// Checks that all resources of an answer are judged by one known version.
fn ask(server: &Server, digests: &BTreeSet<String>) {
    let (status, answer) = server.get(STATUS);
    assert_eq!(status, 200, "{answer}");
    let resources = resources(&answer);
    assert_eq!(resources.len(), CRANES, "{answer}");
    let by: BTreeSet<&str> = resources
        .iter()
        .map(|resource| resource["interpreter"]["digest"].as_str().unwrap())
        .collect();
    assert_eq!(by.len(), 1, "a mixed answer: {answer}");
    assert!(by.iter().all(|digest| digests.contains(*digest)), "{by:?}");
    assert!(
        resources
            .iter()
            .all(|resource| resource["cluster-status"] == "Parked")
    );
}

impl Usage {
    fn of(server: &Server) -> Self {
        let status = fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let mut words = line.unwrap().split_whitespace();
            words.next().unwrap().parse().unwrap()
        };
        Self {
            resident_kb: number("VmRSS:"),
            threads: number("Threads:"),
        }
    }
}
