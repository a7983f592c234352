//! Long run: random changes over two real and three simulated clusters with faults. At the end, the read model must
//! equal a fresh listing that is judged from scratch, the audits must have found no drift, and the memory of the server
//! must stay flat.
//!
//! ```text
//! cargo test --workspace --locked --test soak                           # 15 s
//! cargo test --workspace --locked --test soak -- --hours 8 --seed 7     # asserts the memory too
//! ```
//!
//! The server is a process of its own: this executable with other arguments, also as the compiler of components.

mod answers;
mod changes;
mod cluster;
mod host;
mod memory;
mod random;
mod simulated;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kindsight_cluster::{Binaries, Binary, Etcd};
use libtest_mimic::{Arguments, Trial};

use cluster::{RealCluster, SoakCluster};
use host::{Host, SERVE};
use memory::{Memory, Trend};
use random::Random;
use simulated::Simulated;

/// The allocator of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The names of the real clusters.
const CLUSTERS: [&str; 2] = ["edge01", "edge02"];
/// Shortest run whose memory is asserted: caches and histories are full only after a while.
const ASSERTED_FROM: Duration = Duration::from_hours(1);
/// Part of the run that is the warm-up: 1 of this number. The server is killed only during the warm-up.
const WARM_UP: u32 = 3;
/// Maximum growth of the memory after the warm-up, in percent of the first sample and hour.
const GROWTH_MAX_PERCENT: f64 = 2.0;

/// The length of a run.
#[derive(Debug, Clone, Copy)]
struct Plan {
    length: Duration,
    seed: u64,
    /// Time between the end of a fault and the next fault.
    pause: Duration,
    /// Maximum length of a fault.
    fault_max: Duration,
}

impl Plan {
    fn new(length: Duration, seed: u64) -> Self {
        let is_short = length < Duration::from_mins(2);
        Self {
            length,
            seed,
            pause: Duration::from_secs(if is_short { 1 } else { 8 }),
            fault_max: Duration::from_secs(if is_short { 2 } else { 20 }),
        }
    }
}

fn main() -> ExitCode {
    if kindsight_server::is_compiler() {
        return kindsight_interpreter::compile_child();
    }
    let mut arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|first| first == SERVE) {
        host::serve(arguments.into_iter().skip(2).map(PathBuf::from).collect());
        return ExitCode::SUCCESS;
    }
    let hours = take_number(&mut arguments, "--hours").map(|hours| hours * 3600.0);
    let minutes = take_number(&mut arguments, "--minutes").map(|minutes| minutes * 60.0);
    let seed = take_number(&mut arguments, "--seed").map_or(1, f64::to_bits);
    let length = Duration::from_secs_f64(hours.or(minutes).unwrap_or(15.0));
    let plan = Plan::new(length, seed);
    let trial = Trial::test(
        "the_read_model_equals_a_fresh_listing_after_faults",
        move || {
            run(plan);
            Ok(())
        },
    );
    let arguments = Arguments::from_iter(arguments);
    libtest_mimic::run(&arguments, vec![trial]).exit_code()
}

/// Removes an argument with a number.
fn take_number(arguments: &mut Vec<String>, name: &str) -> Option<f64> {
    let at = arguments.iter().position(|argument| argument == name)?;
    let value = arguments.drain(at..).take(2).nth(1);
    let number = value.as_deref().and_then(|value| value.parse().ok());
    Some(number.unwrap_or_else(|| panic!("{name} needs a number, such as `{name} 8`")))
}

fn run(plan: Plan) {
    let Some(binaries) = Binaries::or_skip(Binary::API_SERVER) else {
        return;
    };
    let etcd = Arc::new(Etcd::start(&binaries));
    let real = CLUSTERS.map(|name| RealCluster::start(name, &etcd));
    let real = real.map(|cluster| Box::new(cluster) as Box<dyn SoakCluster>);
    let simulated = Simulated::start().map(|it| Box::new(it) as Box<dyn SoakCluster>);
    let mut stage = Stage::start(real.into_iter().chain(simulated).collect());
    let trend = stage.disturb(plan);
    let lines = stage.compare();
    let audits = stage.host.audits();
    for cluster in &stage.clusters {
        let name = cluster.name();
        assert!(
            lines.iter().any(|line| line.contains(name)),
            "{name} is in no answer"
        );
    }
    println!(
        "{} lines are equal; {} samples of the last process, {} drifts",
        lines.len(),
        audits.samples,
        audits.drifts
    );
    assert!(audits.samples > 0, "no sample was taken");
    assert_eq!(audits.drifts, 0, "{:?}", stage.host.drift_lines());
    if let Some(trend) = trend {
        check_memory(plan, trend);
    }
}

/// The clusters, and the server that watches them.
struct Stage {
    host: Host,
    clusters: Vec<Box<dyn SoakCluster>>,
    folder: tempfile::TempDir,
}

impl Stage {
    fn start(clusters: Vec<Box<dyn SoakCluster>>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let shared = folder.path().join("shared");
        std::fs::create_dir_all(shared.join("interpreters")).expect("a folder of interpreters");
        let kubeconfigs = clusters.iter().map(|cluster| cluster.kubeconfig());
        let host = Host::start(&folder.path().join("data"), &shared, kubeconfigs.collect());
        Self {
            host,
            clusters,
            folder,
        }
    }

    /// Changes objects all the time, with one fault after the other. Returns the trend of the memory.
    fn disturb(&mut self, plan: Plan) -> Option<Trend> {
        let mut random = Random::new(plan.seed);
        let has_ended = AtomicBool::new(false);
        let changes: Vec<_> = self.clusters.iter().map(|it| it.changes()).collect();
        thread::scope(|scope| {
            let threads: Vec<_> = changes
                .iter()
                .map(|changes| {
                    let (mut random, has_ended) = (random.split(), &has_ended);
                    scope.spawn(move || changes.run(&mut random, has_ended))
                })
                .collect();
            // A fault that panics ends the changes too: this scope waits for their threads.
            let end = EndOnDrop(&has_ended);
            let trend = self.make_faults(plan, &mut random);
            drop(end);
            let accepted = threads.into_iter().map(|it| it.join().expect("a thread"));
            println!("{} changes were accepted", accepted.sum::<u64>());
            trend
        })
    }

    fn make_faults(&mut self, plan: Plan, random: &mut Random) -> Option<Trend> {
        let (began, warm_until) = (Instant::now(), plan.length / WARM_UP);
        let mut memory = Memory::default();
        while began.elapsed() < plan.length {
            thread::sleep(plan.pause);
            let at = began.elapsed();
            let fault = match random.below(8) {
                0 => self.swap(),
                1 if at < warm_until => {
                    self.host.restart();
                    "server killed"
                }
                _ => self.disturb_cluster(plan, random),
            };
            assert!(self.host.is_running(), "the server ended after: {fault}");
            memory.sample(began.elapsed(), self.host.process());
            let parts = self.host.memory_parts();
            println!("{:>6} s: {fault}; {memory}; {parts}", at.as_secs());
        }
        memory.trend(warm_until)
    }

    /// Disturbs a random cluster for a random time.
    fn disturb_cluster(&mut self, plan: Plan, random: &mut Random) -> &'static str {
        let at = random.below(self.clusters.len() as u64);
        let cluster = &mut self.clusters[usize::try_from(at).expect("a position")];
        let fault = cluster.begin_fault(random);
        let most_ms = u64::try_from(plan.fault_max.as_millis()).expect("a short time");
        thread::sleep(Duration::from_millis(random.below(most_ms)));
        cluster.heal();
        fault
    }

    /// Loads the interpreter of the custom Kind, or unloads it.
    fn swap(&self) -> &'static str {
        let file = self.folder.path().join("shared/interpreters/crane.wasm");
        if file.exists() {
            std::fs::remove_file(file).expect("its file");
            return "interpreter unloaded";
        }
        let mut guests = kindsight_tests::GUESTS.iter();
        let guest = guests.find(|guest| guest.name == "crane");
        std::fs::write(file, guest.expect("the guest").wasm).expect("its file");
        "interpreter loaded"
    }

    /// Compares the answers with a server that lists and judges everything from scratch, without faults. Returns the
    /// lines of the answers.
    fn compare(&mut self) -> BTreeSet<String> {
        for cluster in &mut self.clusters {
            cluster.heal();
        }
        let folder = self.folder.path();
        let kubeconfigs = self.clusters.iter().map(|it| it.direct_kubeconfig());
        let (data, shared) = (folder.join("fresh"), folder.join("shared"));
        let fresh = Host::start(&data, &shared, kubeconfigs.collect());
        fresh
            .client
            .wait_for_status("/readyz", 200, Duration::from_mins(2));
        answers::compare(&self.host.client, &fresh.client)
    }
}

/// Sets a flag when it is dropped, also by a panic.
struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Prints the trend of the memory. Its growth is asserted in long runs.
fn check_memory(plan: Plan, trend: Trend) {
    let Trend {
        first_kb,
        last_kb,
        max_kb,
        kb_per_hour,
        samples,
    } = trend;
    println!(
        "memory after the warm-up: {first_kb} KiB, at the end {last_kb} KiB, at most {max_kb} KiB, \
         {kb_per_hour:+.0} KiB per hour by {samples} samples"
    );
    if plan.length >= ASSERTED_FROM {
        let first = f64::from(u32::try_from(first_kb).expect("less than 4 TiB"));
        let percent = kb_per_hour / first * 100.0;
        assert!(
            percent <= GROWTH_MAX_PERCENT,
            "memory grows by {percent:.1} % per hour"
        );
    }
}
