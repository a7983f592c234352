//! A server that is killed again and again while its cluster changes. It never shows a state that was never true.

pub(crate) mod random;
mod writer;

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kindsight_cluster::{Binaries, Binary, Etcd};
use serde_json::Value;

use crate::process::{Server, kindsight};
use random::Random;
use writer::{CHILD, DEPLOYMENTS, SETTINGS, Was, Writer, Written};

const SHOP: &str = "/v2/projects/-/composite-apps/shop/-/deployment-intent-groups/-";
/// Environment variable with the seed of an earlier run, to repeat it.
const SEED: &str = "KINDSIGHT_KILLS_SEED";
/// Number of kills.
const KILLS: u64 = 20;
/// Longest time for which a server is queried, in milliseconds.
const LIFE_MAX_MS: u64 = 2_500;
/// Longest time between a kill and the next start, in milliseconds.
const DOWN_MAX_MS: u64 = 300;
/// Time in which a server must notice any change.
const PATIENCE: Duration = Duration::from_mins(1);

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}

/// State and message of each resource, and true if it is stale.
type Shown<'a> = BTreeMap<&'a str, (&'a str, &'a str, bool)>;

/// State and message of each resource in an answer; `-` as the state of a resource that is not listed.
fn shown(answer: &Value) -> Shown<'_> {
    let names = DEPLOYMENTS.into_iter().chain([SETTINGS, CHILD]);
    let is_stale = !answer["stale-since"].is_null();
    let mut shown: Shown<'_> = names.map(|name| (name, ("-", "", is_stale))).collect();
    for app in items(&answer["apps"]) {
        for cluster in items(&app["clusters"]) {
            let is_stale = !cluster["stale-since"].is_null();
            for resource in items(&cluster["resources"]) {
                let (state, message) = (
                    text(&resource["cluster-status"]),
                    text(&resource["message"]),
                );
                shown.insert(text(&resource["name"]), (state, message, is_stale));
            }
        }
    }
    shown
}

/// A data folder, the watched cluster with its writer, and counts of answers.
struct Trial {
    data: tempfile::TempDir,
    kubeconfig: PathBuf,
    writer: Writer,
    random: Random,
    /// Number of answers that were stale, and fresh.
    seen: [usize; 2],
}

impl Trial {
    fn arguments(&self) -> [String; 1] {
        [format!("--kubeconfig={}", self.kubeconfig.display())]
    }

    fn start(&self) -> Server {
        let [kubeconfig] = self.arguments();
        Server::start_unready(self.data.path(), &[], &[&kubeconfig])
    }

    /// Starts a server and kills it before it prints its address, or shortly after.
    fn kill_at_the_start(&mut self) {
        let data = self.data.path().to_str().unwrap();
        let mut command = kindsight(&["serve", "--listen", "127.0.0.1:0", "--data-dir", data]);
        command
            .args(self.arguments())
            .stderr(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(self.random.below(600)));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Checks an answer of a server that was started after a step.
    fn check(&mut self, answer: &Value, started: u64) {
        let written = self.writer.hold();
        let ready = text(&answer["ready-status"]);
        assert!(
            !["Ready", "Present"].contains(&ready),
            "since step {started}: {:#?}, {answer:#}",
            written.log
        );
        for (name, (state, message, is_stale)) in shown(answer) {
            let from = if is_stale { 0 } else { started };
            let may_be = written.since(name, from);
            assert!(
                may_be.iter().any(|was| was.is(state, message)),
                "{name} was not so since step {from}: {may_be:?}, {answer:#}"
            );
        }
        self.seen[usize::from(answer["stale-since"].is_null())] += 1;
    }

    /// Queries a server that was started after a step, for a random time, then kills it.
    fn ask_and_kill(&mut self, server: Server, started: u64, waits: bool) {
        if waits {
            let written = self.writer.hold();
            wait_for_true_states(&server, &written);
            check_history(&server, &written);
        }
        let until = Instant::now() + Duration::from_millis(self.random.below(LIFE_MAX_MS));
        loop {
            let (status, answer) = server.get(&format!("{SHOP}/status"));
            assert_eq!(status, 200, "it was known: {answer:#}");
            self.check(&answer, started);
            if Instant::now() > until {
                break;
            }
        }
        check_history(&server, &self.writer.hold());
        server.kill();
    }

    /// Starts a server that cannot reach the cluster and kills it. It must show states from before the last kill.
    fn kill_unheard(&self, killed: u64) {
        let mut written = self.writer.hold();
        written.cluster.pause();
        let server = self.start();
        let (_, answer) = server.get(&format!("{SHOP}/status"));
        for (name, (state, message, is_stale)) in shown(&answer) {
            let before: Vec<&Was> = written.log[name]
                .iter()
                .filter(|was| was.step <= killed)
                .collect();
            assert!(is_stale, "{name}: {answer:#}");
            assert!(
                before.iter().any(|was| was.is(state, message)),
                "{name} was not so before step {killed}: {before:?}, {answer:#}"
            );
        }
        check_history(&server, &written);
        server.kill();
        written.cluster.resume();
    }
}

/// Waits until a server shows the true states as fresh.
fn wait_for_true_states(server: &Server, written: &Written) {
    let began = Instant::now();
    loop {
        let (_, answer) = server.get(&format!("{SHOP}/status"));
        let is_so = shown(&answer).into_iter().all(|(name, shown)| {
            let (state, message, is_stale) = shown;
            !is_stale && written.now(name).is(state, message)
        });
        if is_so && items(&answer["apps"]).len() == DEPLOYMENTS.len() {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{:#?}\n{answer:#}", written.log);
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Checks the history: of each resource a chain of states that it was in, in their order. No link may be
/// missing, even after a kill: a view is kept together with the history that led to it. Only the oldest are
/// dropped.
fn check_history(server: &Server, written: &Written) {
    let (_, answer) = server.get(&format!("{SHOP}/history?limit=1000"));
    let mut chains: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for transition in items(&answer["transitions"]).iter().rev() {
        chains
            .entry(text(&transition["name"]))
            .or_default()
            .push(transition);
    }
    for (name, chain) in chains {
        let mut was = text(&chain[0]["from"]["state"]);
        assert!(was == "-" || !answer["dropped"].is_null(), "{answer:#}");
        let mut log = written.log.get(name).map_or(&[][..], Vec::as_slice);
        for transition in &chain {
            let (from, to) = (
                text(&transition["from"]["state"]),
                text(&transition["to"]["state"]),
            );
            assert!(from == was && from != to, "{name} was {was}: {chain:#?}");
            assert_eq!(transition["cause"], "observed", "{transition:#}");
            was = to;
            if name == "-" {
                assert!(!["Ready", "Present"].contains(&to), "{chain:#?}");
                continue;
            }
            let at = log
                .iter()
                .position(|was| was.is(to, text(&transition["message"])));
            let at = at.unwrap_or_else(|| {
                panic!("{name}: {transition:#} is not in {log:?} of {chain:#?}")
            });
            log = &log[at + 1..];
        }
    }
}

fn seed() -> u64 {
    match std::env::var(SEED) {
        Ok(seed) => seed.parse().expect("a number"),
        // The keys of a hasher are random.
        Err(_) => RandomState::new().build_hasher().finish(),
    }
}

fn set_aside(data: &Path) -> bool {
    data.join("remembered.set-aside").exists()
}

#[test]
fn a_server_killed_at_random_moments_never_shows_a_false_state() {
    let Some(binaries) = Binaries::or_skip(Binary::API_SERVER) else {
        return;
    };
    let seed = seed();
    println!("to repeat these kills: {SEED}={seed}");
    let writer = Writer::new(Etcd::start(&binaries), seed);
    let kubeconfig = writer.hold().cluster.kubeconfig();
    let mut trial = Trial {
        data: tempfile::tempdir().unwrap(),
        kubeconfig,
        writer,
        random: Random(seed.wrapping_add(1)),
        seen: [0; 2],
    };
    // A server that starts after a clean stop knows all states from before the stop.
    let server = trial.start();
    wait_for_true_states(&server, &trial.writer.hold());
    assert!(server.stop());
    let mut killed = trial.writer.hold().step;
    trial.writer.start(seed.wrapping_add(2));
    for number in 0..KILLS {
        match number % 5 {
            0 => trial.kill_unheard(killed),
            1 => trial.kill_at_the_start(),
            kind => {
                let started = trial.writer.hold().step;
                let server = trial.start();
                trial.ask_and_kill(server, started, kind == 2);
            }
        }
        killed = trial.writer.hold().step;
        assert!(!set_aside(trial.data.path()), "what was known is damaged");
        let down = trial.random.below(DOWN_MAX_MS);
        std::thread::sleep(Duration::from_millis(down));
        let deleted = if down.is_multiple_of(2) {
            SETTINGS
        } else {
            CHILD
        };
        trial.writer.hold().delete(deleted);
    }
    let server = trial.start();
    let written = trial.writer.hold();
    wait_for_true_states(&server, &written);
    check_history(&server, &written);
    assert!(
        trial.seen.iter().all(|count| *count > 0),
        "{:?}",
        trial.seen
    );
}
