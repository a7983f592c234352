//! Verdicts of kindsight and of other tools on the same objects: the conformance cases beside the checkout, which are
//! objects of other projects' tests with the states that those tests accept.
//!
//! A tool's own words are mapped to kindsight's states. The table asks two questions that every tool answers: how many
//! healthy objects does the tool recognize, and how many other objects does it call healthy?

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The folder of the cases, from the root of the repository.
const CASES: &str = "../shared/conformance";
/// The placeholder for the current time in an object, and a time later than all times in the cases.
const NOW: [&str; 2] = ["{{NOW}}", "2027-01-01T00:00:00Z"];
const GREEN: [&str; 2] = ["Ready", "Succeeded"];
const NO_CLAIM: [&str; 2] = ["Present", "Unknown"];

/// A tool, the suites of its own project, and the states that its words stand for.
struct Tool {
    name: &'static str,
    own: &'static [&'static str],
    states: fn(&str) -> &'static [&'static str],
}

const TOOLS: [Tool; 6] = [
    Tool {
        name: "kindsight",
        own: &[],
        states: |_| &[],
    },
    Tool {
        name: "argo-cd",
        own: &["argocd", "gitops_engine"],
        states: argo_cd,
    },
    Tool {
        name: "kstatus",
        own: &["kstatus"],
        states: kstatus,
    },
    Tool {
        name: "karmada",
        own: &["karmada"],
        states: karmada,
    },
    Tool {
        name: "is-healthy",
        own: &[],
        states: is_healthy,
    },
    Tool {
        name: "kubectl-rollout",
        own: &[],
        states: rollout,
    },
];

struct Case {
    suite: String,
    allowed: Vec<String>,
    object: Value,
}

/// Numbers of cases.
#[derive(Default)]
struct Tally {
    /// Objects that the tests of their project accept as healthy, and those that the tool calls healthy.
    healthy: [usize; 2],
    /// Objects that those tests do not accept as healthy, and those that the tool calls healthy.
    unhealthy: [usize; 2],
    no_claim: usize,
}

/// Prints a table of the outcomes of every tool, on all cases and on those of other projects.
pub(crate) fn compare(kindsight: &Path, peers: &Path, folder: &Path) {
    let Some(cases) = cases() else {
        println!("verdicts were not compared: {CASES} is missing beside the checkout");
        return;
    };
    let file = folder.join("cases.jsonl");
    let lines = cases.iter().map(|case| format!("{}\n", case.object));
    fs::write(&file, lines.collect::<String>()).expect("the file of objects");
    println!("{} cases with an expected state", cases.len());
    println!(
        "{:<16} {:>6} {:>24} {:>26} {:>18}",
        "", "cases", "healthy, called healthy", "unhealthy, called healthy", "no claim"
    );
    for tool in &TOOLS {
        let answers = if tool.name == "kindsight" {
            own_answers(kindsight, &file)
        } else {
            answers(peers, tool, &file)
        };
        assert_eq!(
            answers.len(),
            cases.len(),
            "one answer for each object: {}",
            tool.name
        );
        let pairs = || cases.iter().zip(&answers);
        print(tool.name, "all", pairs());
        if !tool.own.is_empty() {
            let of_others = pairs().filter(|(case, _)| !tool.own.contains(&case.suite.as_str()));
            print("", "others", of_others);
        }
    }
}

/// The cases with an expected state; `None` without their folder.
fn cases() -> Option<Vec<Case>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(CASES);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .ok()?
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "jsonl")
    });
    paths.sort();
    Some(paths.iter().flat_map(|path| suite(path)).collect())
}

fn suite(path: &Path) -> Vec<Case> {
    let suite = path
        .file_stem()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let text = fs::read_to_string(path)
        .expect("the cases")
        .replace(NOW[0], NOW[1]);
    let cases = text.lines().map(|line| {
        let case: Value = serde_json::from_str(line).expect("JSON");
        let allowed = case["allowed"].as_array().into_iter().flatten();
        Case {
            suite: suite.clone(),
            allowed: allowed
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            object: case["object"].clone(),
        }
    });
    cases.filter(|case| !case.allowed.is_empty()).collect()
}

/// The states of kindsight for the objects of a file.
fn own_answers(kindsight: &Path, file: &Path) -> Vec<Vec<String>> {
    let output = Command::new(kindsight)
        .args(["interpret", "--output", "jsonl"])
        .arg(file)
        .output();
    let output = output.expect("kindsight");
    let text = String::from_utf8(output.stdout).expect("text");
    let states = text.lines().map(|line| {
        let answer: Value = serde_json::from_str(line).expect("JSON");
        vec![answer["state"].as_str().expect("a state").to_owned()]
    });
    states.collect()
}

/// The states that the words of a tool stand for, for each object of a file.
fn answers(peers: &Path, tool: &Tool, file: &Path) -> Vec<Vec<String>> {
    let output = Command::new(peers)
        .arg(tool.name)
        .arg(file)
        .output()
        .expect("the peers");
    assert!(
        output.status.success(),
        "{}: {}",
        tool.name,
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).expect("text");
    let states = text.lines().map(|line| {
        let [_, word, _]: [String; 3] =
            serde_json::from_str(line).expect("name, status and message");
        let states = (tool.states)(&word);
        assert!(!states.is_empty(), "{}: unknown word {word:?}", tool.name);
        states.iter().map(|state| (*state).to_owned()).collect()
    });
    states.collect()
}

fn print<'a>(name: &str, of: &str, pairs: impl Iterator<Item = (&'a Case, &'a Vec<String>)>) {
    let mut tally = Tally::default();
    for (case, states) in pairs {
        tally.add(case, states);
    }
    let [healthy, found] = tally.healthy;
    let [unhealthy, false_healthy] = tally.unhealthy;
    println!(
        "{name:<16} {of:>6} {:>24} {:>26} {:>18}",
        share(found, healthy),
        share(false_healthy, unhealthy),
        share(tally.no_claim, healthy + unhealthy),
    );
}

fn share(count: usize, all: usize) -> String {
    let tenths = count * 1000 / all.max(1);
    format!("{}.{} % ({count}/{all})", tenths / 10, tenths % 10)
}

impl Tally {
    fn add(&mut self, case: &Case, states: &[String]) {
        let all_in = |set: &[&str]| states.iter().all(|state| set.contains(&state.as_str()));
        let is_healthy = case
            .allowed
            .iter()
            .any(|state| GREEN.contains(&state.as_str()));
        let [all, called_healthy] = if is_healthy {
            &mut self.healthy
        } else {
            &mut self.unhealthy
        };
        *all += 1;
        *called_healthy += usize::from(all_in(&GREEN));
        self.no_claim += usize::from(all_in(&NO_CLAIM));
    }
}

fn argo_cd(word: &str) -> &'static [&'static str] {
    match word {
        "Healthy" => &["Ready", "Succeeded"],
        "Progressing" => &["Pending", "Terminating"],
        "Degraded" => &["Failed"],
        "Suspended" => &["Suspended"],
        "Missing" => &["NotPresent"],
        "Unknown" | "NoRule" | "" => &["Unknown", "Present"],
        _ => &[],
    }
}

fn kstatus(word: &str) -> &'static [&'static str] {
    match word {
        "Current" => &["Ready", "Succeeded"],
        "InProgress" => &["Pending"],
        "Failed" => &["Failed"],
        "Terminating" => &["Terminating"],
        "NotFound" => &["NotPresent"],
        "Unknown" => &["Unknown", "Present"],
        _ => &[],
    }
}

fn karmada(word: &str) -> &'static [&'static str] {
    match word {
        "Healthy" => &["Ready", "Succeeded"],
        "Unhealthy" => &["Failed", "Pending", "Suspended", "Terminating", "Degraded"],
        "Unknown" | "NoRule" => &["Unknown", "Present"],
        _ => &[],
    }
}

fn is_healthy(word: &str) -> &'static [&'static str] {
    match word {
        "healthy" => &["Ready", "Succeeded"],
        "healthy-not-ready" => &["Pending"],
        "warning" => &["Degraded", "Pending", "Failed"],
        "unhealthy" => &["Failed"],
        "Suspended" => &["Suspended"],
        "Terminating" | "Deleting" => &["Terminating"],
        "unknown" | "NoRule" | "" => &["Unknown", "Present"],
        _ => &[],
    }
}

fn rollout(word: &str) -> &'static [&'static str] {
    match word {
        "Done" => &["Ready"],
        "Waiting" => &["Pending"],
        "Error" => &["Failed"],
        "NoRule" => &["Unknown", "Present"],
        _ => &[],
    }
}
