//! Many swaps while clients ask and bundles arrive.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::stage::{CRANE, STATUS, Stage, digest, pause, resources, said, version, wait_until};
use crate::process::Server;

const SWAPS: usize = 200;
/// Swaps after which the process has taken what it needs.
const WARM_UP: usize = 20;
/// Threads by which the process may differ after the warm-up: steps that block take turns on threads
/// that last for some seconds, so their number follows how busy the machine is. A thread that one swap
/// in ten left behind is more than that.
const THREADS_SLACK: u64 = (SWAPS - WARM_UP) as u64 / 10;
/// Versions that take turns: more than are kept, so that each comes back as a new one.
const VERSIONS: usize = 8;
const CRANES: usize = 20;

/// What a process holds.
#[derive(Debug, Clone, Copy)]
struct Held {
    resident_kb: u64,
    threads: u64,
}

#[test]
fn two_hundred_swaps_mix_no_answer_and_leave_nothing_behind() {
    let stage = Stage::new(CRANES);
    let server = stage.serve();
    let versions: Vec<Vec<u8>> = (1..=VERSIONS).map(version).collect();
    let digests: BTreeSet<String> = versions.iter().map(|bytes| digest(bytes)).collect();
    swap(&server, &versions[0]);
    wait_until("the first version", || {
        digests.contains(&said(&server).digest)
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
        let before = Held::of(&server);
        for number in WARM_UP + 1..=SWAPS {
            swap(&server, &versions[number % VERSIONS]);
        }
        drop(ended);
        before
    });
    let last = digest(&versions[SWAPS % VERSIONS]);
    wait_until("the last version", || said(&server).digest == last);
    for _ in 0..20 {
        assert_eq!(said(&server).digest, last, "a version that is gone");
    }
    assert!(answers.load(Ordering::Relaxed) >= SWAPS, "{answers:?}");
    let bound_kb = before.resident_kb * 3 / 2 + 16 * 1024;
    wait_until("no more threads than before", || {
        Held::of(&server).threads < before.threads + THREADS_SLACK
    });
    let after = Held::of(&server);
    assert!(
        after.resident_kb <= bound_kb,
        "{before:?} before, {after:?} after"
    );
    assert!(server.stop());
}

/// Says that it is over, also where a step fails: the others wait for that.
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

/// Every resource of an answer is judged by one version, and by one that there is.
fn ask(server: &Server, digests: &BTreeSet<String>) {
    let (status, answer) = server.get(STATUS);
    assert_eq!(status, 200, "{answer}");
    let resources = resources(&answer);
    assert_eq!(resources.len(), CRANES, "{answer}");
    let by: BTreeSet<&str> = resources
        .iter()
        .map(|it| it["interpreter"]["digest"].as_str().unwrap())
        .collect();
    assert_eq!(by.len(), 1, "a mixed answer: {answer}");
    assert!(by.iter().all(|it| digests.contains(*it)), "{by:?}");
    assert!(resources.iter().all(|it| it["cluster-status"] == "Parked"));
}

impl Held {
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
