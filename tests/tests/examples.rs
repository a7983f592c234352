//! The examples for authors under `sdk/examples`, which use no SDK: each is built and loaded, and judges objects. An
//! example that needs other tools than Rust's runs only if they are installed.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use kindsight_interpreter::{Interpreters, Limits, Siblings};
use kindsight_model::{Coverage, Object, Source};
use serde_json::{Value, json};

/// The verdicts on [`objects`], which are the same for every example.
const VERDICTS: &[&str] = &[
    "Ready Running: ",
    "Pending NoPods: says that it runs, and owns no Pod",
    "Draining Draining: it finishes its work",
    "Pending NotRunning: no phase yet",
    "Pending NotRunning: its phase is Größe 🙂",
    "Unknown InvalidObject: status.phase is not a string",
];

/// Widgets of one report. The first Widget owns a Pod.
fn objects() -> Vec<Value> {
    let widget = |name: &str, status: Value| json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "status": status});
    let owner = json!({"apiVersion": "example.com/v1", "kind": "Widget", "name": "owner"});
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "owner-0", "ownerReferences": [owner]},
    });
    vec![
        widget("owner", json!({"phase": "Running"})),
        widget("alone", json!({"phase": "Running"})),
        widget("draining", json!({"phase": "Draining"})),
        widget("new", json!({})),
        widget("other", json!({"phase": "Größe 🙂"})),
        widget("odd", json!({"phase": 1})),
        pod,
    ]
}

/// Loads a component, which runs its fixtures, and checks its verdicts.
fn check(name: &str, wasm: &[u8]) {
    let interpreters = Interpreters::start(Limits::default(), None).expect("an engine");
    let loaded = interpreters.load(wasm);
    let loaded = loaded.unwrap_or_else(|error| panic!("{name}: {}", error.with_step()));
    assert_eq!(loaded.description().warnings, [""; 0], "{name}");
    interpreters
        .publish(vec![(Source::Upload, loaded)])
        .expect("a set");
    let objects = objects().into_iter().map(|object| object.to_string());
    let objects: Arc<[Object]> = objects
        .map(|json| Object::from_json(json).expect("an object"))
        .collect();
    let kinds = objects.iter();
    let kinds = kinds.map(|object| (&*object.gvk.group, &*object.gvk.kind));
    let covered = Coverage::complete_for(kinds.chain([("", "Pod")]));
    let siblings = Siblings::of(&objects).covered(covered);
    let set = interpreters.published();
    let verdicts = interpreters.judge_among(&set, &objects, &Arc::new(siblings), 0);
    for (verdict, expected) in verdicts.iter().zip(VERDICTS) {
        // A failure's message begins with the name and digest of the interpreter.
        let message = verdict.message.rsplit("this object: ").next();
        let message = message.unwrap_or_default();
        let line = format!("{} {}: {message}", verdict.state, verdict.reason);
        assert_eq!(line, *expected, "{name}");
    }
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../sdk/examples")
        .join(name)
}

/// Prints to standard error that an example was not tried. Bypasses the harness, which hides the output of passing tests.
///
/// # Panics
/// With `CI=true`, where every example must run.
fn not_run(example: &str, why: &str) {
    let line = format!("\nexamples: {example} NOT RUN, {why}\n");
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{line}");
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Runs a command to its end. If the command fails, the panic contains its output.
fn run(command: &mut Command) {
    let output = command.output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    assert!(output.status.success(), "{command:?}: {printed}");
}

/// Returns whether a program is there and runs.
fn is_found(program: impl AsRef<OsStr>) -> bool {
    let output = Command::new(program).arg("--version").output();
    output.is_ok_and(|output| output.status.success())
}

/// Installs the tools of the example once, outside of the sources. Returns the compiler.
fn installed(example: &Path) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("javascript-example");
    let tool = folder.join("node_modules/.bin/componentize-qjs");
    std::fs::create_dir_all(&folder).expect("a folder");
    let (from, to) = (example.join("package.json"), folder.join("package.json"));
    let package = std::fs::read(from).expect("a package");
    if std::fs::read(&to).is_ok_and(|earlier| earlier == package) && tool.exists() {
        return tool;
    }
    std::fs::write(to, package).expect("a package");
    run(Command::new("npm").current_dir(folder).arg("install"));
    tool
}

#[test]
fn rust_without_the_sdk_judges_objects() {
    let name = "rust-without-sdk";
    let mut guests = kindsight_tests::GUESTS.iter();
    let guest = guests.find(|guest| guest.name == name).expect("a guest");
    check(name, guest.wasm);
}

#[test]
fn javascript_judges_objects_where_its_tool_is_installed() {
    let folder = example("javascript");
    if !is_found("node") || !is_found("npm") {
        not_run("javascript", "needs `node` and `npm`");
        return;
    }
    let tool = installed(&folder);
    // The command of `npm run build`, with an output that is not in the sources.
    let package = std::fs::read_to_string(folder.join("package.json")).expect("a package");
    let package: Value = serde_json::from_str(&package).expect("JSON");
    let build = package["scripts"]["build"].as_str().expect("a command");
    let (program, arguments) = build.split_once(' ').expect("arguments");
    assert_eq!(program, "componentize-qjs");
    let output = tempfile::tempdir().expect("a folder");
    let wasm = output.path().join("widgets.wasm");
    let arguments = arguments.split(' ').map(|argument| match argument {
        "widgets.wasm" => wasm.as_os_str(),
        _ => OsStr::new(argument),
    });
    run(Command::new(tool).current_dir(folder).args(arguments));
    check("javascript", &std::fs::read(wasm).expect("a component"));
}

#[test]
fn a_reader_of_the_view_in_python_reads_every_vector_where_there_is_python() {
    let script = example("view-reader").join("read_view.py");
    if is_found("python3") {
        // Without writing compiled code beside the script.
        run(Command::new("python3").arg("-B").arg(script));
    } else {
        not_run("view-reader", "needs `python3`");
    }
}
