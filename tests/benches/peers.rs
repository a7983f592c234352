//! Cost of judging an object from end to end, compared with other projects: `kindsight interpret` including its
//! start, and small programs around kstatus and around Argo CD's Lua scripts (`benches/peers`).
//!
//! All programs read the same file of JSON lines and print a line for each object, on one core. The objects are
//! recorded. All statuses differ, so no verdict is taken from a memo. The programs run in turns, and the shortest
//! processor time of each counts. The time of a run with one object is the cost of the start.
//!
//! A last table compares the same rule in several languages: the native rule, Argo CD's unchanged script and Flux's
//! checks as interpreters, and the engines of Argo CD and Flux.
//!
//! `cargo bench -p kindsight-tests --bench peers`; the peers need Go. Without Go, a line says so.
//! `-- verdicts` compares the verdicts of these and other tools instead of their cost.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kindsight_model::decode_bundle;
use serde_json::{Value, json};

#[path = "peers/rule_engines.rs"]
mod rule_engines;
#[path = "peers/verdicts.rs"]
mod verdicts;

const OBJECTS: u32 = 20_000;
/// Turns of the programs; the least times count.
const TURNS: usize = 5;
/// Runs of a program in a row for its start: shells count hundredths of a second.
const STARTS: u32 = 20;
const MICROSECONDS: f64 = 1e6;

/// Report of one app by the monitor of a cluster in the recording.
macro_rules! bundle {
    ($cluster:literal, $app:literal) => {
        include_bytes!(concat!(
            "../../host/server/recording/clusters/vfw-cluster-provider+",
            $cluster,
            "/2755581958183303505-",
            $app,
            ".json"
        ))
    };
}

const BUNDLES: [&[u8]; 6] = [
    bundle!("edge01", "firewall"),
    bundle!("edge01", "packetgen"),
    bundle!("edge01", "sink"),
    bundle!("edge02", "firewall"),
    bundle!("edge02", "packetgen"),
    bundle!("edge02", "sink"),
];

/// Name of a program, and its command without the file of objects.
type Engine = (&'static str, Vec<PathBuf>);

/// Name, Kinds of the objects in a file, and the peers that judge all these Kinds.
type Mix = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const MIXES: &[Mix] = &[
    (
        "Deployment, Pod, Job, Gateway, Network",
        &["Deployment", "Pod", "Job", "Gateway", "Network"],
        &["kstatus"],
    ),
    // Argo CD judges the other Kinds in Go or not at all.
    ("Gateway", &["Gateway"], &["kstatus", "argo-lua"]),
];

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let kindsight = build_kindsight();
    let peers = build_peers(folder.path());
    if std::env::args().any(|argument| argument == "verdicts") {
        if let Some(peers) = peers {
            verdicts::compare(&kindsight, &peers, folder.path());
        }
        return;
    }
    let objects = recorded();
    let one = folder.path().join("one.jsonl");
    for (name, kinds, judges) in MIXES {
        let file = folder.path().join("objects.jsonl");
        write(&file, &objects, kinds, OBJECTS);
        write(&one, &objects, kinds, 1);
        let mut commands = vec![("kindsight interpret", interpret(&kindsight))];
        for peer in judges.iter().filter(|_| peers.is_some()) {
            let program = peers.as_deref().unwrap_or(Path::new("peers"));
            commands.push((peer, vec![program.into(), (*peer).into()]));
        }
        print(name, &file, &one, &commands);
    }
    if let Some(peers) = peers {
        let [file, one] = ["objects.jsonl", "one.jsonl"].map(|name| folder.path().join(name));
        let engines = rule_engines::commands(&kindsight, &peers, folder.path());
        print("Gateway, by rules in Lua and CEL", &file, &one, &engines);
    }
}

/// Runs the programs in turns and prints a table of their least times.
fn print(name: &str, file: &Path, one: &Path, commands: &[Engine]) {
    // The first run fills the cache of compiled interpreters.
    for (_, command) in commands {
        processor_time(command, one, 1);
    }
    let mut times = vec![[f64::MAX; 2]; commands.len()];
    for _ in 0..TURNS {
        for (times, (_, command)) in times.iter_mut().zip(commands) {
            times[0] = times[0].min(processor_time(command, file, 1));
            times[1] = times[1].min(processor_time(command, one, STARTS));
        }
    }
    let bytes = fs::metadata(file).expect("its size").len();
    println!(
        "\n{OBJECTS} objects of {} bytes: {name}",
        bytes / u64::from(OBJECTS)
    );
    println!(
        "{:<22} {:>12} {:>14} {:>12}",
        "", "us an object", "start, in ms", "of kindsight"
    );
    let ours = times[0][0];
    for ([all, start], (name, _)) in times.iter().zip(commands) {
        println!(
            "{name:<22} {:>12.1} {:>14.1} {:>11.1}x",
            all * MICROSECONDS / f64::from(OBJECTS),
            start * 1e3,
            all / ours
        );
    }
}

/// Seconds of processor time of a run on one core, as the shell counts them; of so many in a row, the
/// mean.
fn processor_time(command: &[PathBuf], file: &Path, runs: u32) -> f64 {
    let output = Command::new("sh")
        .args(["-c", SCRIPT, "sh", &runs.to_string()])
        .args(command)
        .arg(file)
        .env("GOMAXPROCS", "1")
        .env("XDG_CACHE_HOME", file.with_file_name("cache"))
        .stderr(Stdio::inherit())
        .output()
        .expect("a POSIX shell");
    assert!(output.status.success(), "{command:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    // The second line is about children: `0m1.234s 0m0.056s`.
    let line = text.lines().nth(1).expect("two lines");
    line.split_whitespace().map(seconds).sum::<f64>() / f64::from(runs)
}

/// Runs a command some times, on one core where the system can pin it there.
const SCRIPT: &str = r#"
left=$1; shift
if command -v taskset >/dev/null; then set -- taskset -c 0 "$@"; fi
while [ "$left" -gt 0 ]; do "$@" >/dev/null || exit; left=$((left - 1)); done
times
"#;

fn seconds(text: &str) -> f64 {
    let (minutes, seconds) = text.split_once('m').expect("minutes");
    let seconds = seconds.trim_end_matches('s').replace(',', ".");
    let number = |text: &str| text.parse::<f64>().expect("a number");
    60.0 * number(minutes) + number(&seconds)
}

fn interpret(kindsight: &Path) -> Vec<PathBuf> {
    let arguments = ["interpret", "--output", "jsonl"].map(PathBuf::from);
    [kindsight.to_owned()]
        .into_iter()
        .chain(arguments)
        .collect()
}

/// Builds the binary in the profile of this executable, which is `<target>/<profile>/deps/peers-…`.
fn build_kindsight() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let own = std::env::current_exe().expect("this executable");
    let folder = own.ancestors().nth(2).expect("its folder");
    let profile = if folder.ends_with("debug") {
        "dev"
    } else {
        "release"
    };
    let built = Command::new(env!("CARGO"))
        .args(["build", "--bin", "kindsight", "--profile", profile])
        .current_dir(root)
        .status();
    assert!(
        built.is_ok_and(|status| status.success()),
        "cargo build failed"
    );
    folder.join("kindsight")
}

/// Builds the program around the peers, if Go is installed.
fn build_peers(folder: &Path) -> Option<PathBuf> {
    let program = folder.join("peers");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers");
    let built = Command::new("go")
        .args(["build", "-mod=readonly", "-trimpath", "-o"])
        .arg(&program)
        .arg(".")
        .current_dir(source)
        .status();
    if built.is_ok_and(|status| status.success()) {
        return Some(program);
    }
    println!("the peers did not run: no Go toolchain on the PATH that can build benches/peers");
    None
}

fn recorded() -> Vec<Value> {
    let bundles = BUNDLES.map(|bytes| decode_bundle(bytes).expect("a bundle"));
    let objects = bundles.iter().flat_map(|bundle| &bundle.report.objects);
    let objects = objects.map(|object| serde_json::from_str(&object.json).expect("JSON"));
    objects.collect()
}

/// Writes objects of these Kinds in turns, each with a unique name, label and times.
fn write(file: &Path, recorded: &[Value], kinds: &[&str], count: u32) {
    let of_kind = kinds.iter().map(|kind| {
        recorded
            .iter()
            .filter(move |object| object["kind"] == **kind)
            .cycle()
    });
    let mut originals: Vec<_> = of_kind.collect();
    let mut text = String::new();
    for number in 0..count {
        let (group, at) = (number as usize / kinds.len(), number as usize % kinds.len());
        let original = originals[at].next();
        let mut object = original.expect("the Kind was recorded").clone();
        object["metadata"]["name"] = json!(format!("object-{number}"));
        // A Deployment and a Job have one Pod each.
        let labels = json!({"app": format!("app-{group}")});
        if matches!(object["kind"].as_str(), Some("Deployment" | "Job")) {
            object["spec"]["selector"] = json!({"matchLabels": labels});
        }
        object["metadata"]["labels"] = labels;
        object["status"]["message"] = json!(format!("variant {number}"));
        change_times(&mut object["status"], number);
        text.push_str(&object.to_string());
        text.push('\n');
    }
    fs::write(file, text).expect("a file of objects");
}

/// Replaces every time in a status with a time for this number.
fn change_times(value: &mut Value, number: u32) {
    match value {
        Value::String(text)
            if text.len() == 20 && text.starts_with("20") && text.ends_with('Z') =>
        {
            let (hours, seconds) = (number / 3600, number % 3600);
            *text = format!(
                "2026-11-20T{hours:02}:{:02}:{:02}Z",
                seconds / 60,
                seconds % 60
            );
        }
        Value::Array(items) => items.iter_mut().for_each(|item| change_times(item, number)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| change_times(member, number)),
        _ => {}
    }
}
