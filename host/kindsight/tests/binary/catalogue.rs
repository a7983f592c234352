//! The catalogue of rules: made by `plugin catalogue`, served, and used by `interpret`; and the Kinds without a rule.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::interpreters::stage::{Stage, crane, judged, wait_for, wait_for_generic, wait_until};
use crate::process::{Server, run, text};

/// The private key of the example in RFC 8410, and its public key.
const PRIVATE_KEY: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n";
const PUBLIC_KEY: &str = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n";

/// The rule of a crane: its state is Parked, which no other interpreter returns for a draining crane.
const CRANE: &str = "
name: crane
version: 1.0.0
states:
- {name: Parked, phase: suspended, summary: Waits}
rules:
- group: example.com
  kind: Crane
  cases:
  - {if: status.?phase.orValue('') == 'Draining', state: Parked}
";
/// A rule for a Kind that a built-in interpreter judges.
const DEPLOYMENT: &str = "
name: deployment
version: 1.0.0
rules:
- {group: apps, kind: Deployment, cases: [{if: 'true', state: Succeeded}]}
- {group: example.com, kind: Boat, cases: [{if: 'true', state: Succeeded}]}
";

/// A folder with the rules of two projects, and the catalogue that is made of them.
struct Release {
    folder: tempfile::TempDir,
}

impl Release {
    fn new() -> Self {
        // In the file system of the executable, which is linked into this folder.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let release = Self { folder };
        for (project, file) in [("docks", CRANE), ("harbour", DEPLOYMENT)] {
            let folder = release.at("rules").join(project);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("rule.yaml"), file).unwrap();
        }
        fs::write(release.at("rules/README.md"), "A file beside the projects.").unwrap();
        fs::write(release.at("key"), PRIVATE_KEY).unwrap();
        fs::write(release.at("pub"), PUBLIC_KEY).unwrap();
        release
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn path(&self, path: &str) -> String {
        self.at(path).to_str().unwrap().to_owned()
    }

    /// Makes the catalogue in a folder. Returns the output.
    fn make(&self, layout: &str, more: &[&str]) -> String {
        let (rules, layout) = (self.path("rules"), self.path(layout));
        let output = run(
            &[&["plugin", "catalogue", &rules, "-o", &layout], more].concat(),
            "",
        );
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    }
}

/// The line about the crane in the list of Kinds without a rule.
fn crane_without_rule(list: &Value) -> Option<&Value> {
    let mut kinds = list["kinds"].as_array().unwrap().iter();
    kinds.find(|kind| kind["kind"] == "Crane")
}

/// Without the catalogue, the server and the command list the Kind of the cranes.
fn check_cranes_without_rule(server: &Server) {
    let list = server.get("/v2/missing-rules").1;
    let found = crane_without_rule(&list).unwrap();
    let expected = serde_json::json!({
        "group": "example.com", "kind": "Crane", "objects": 2, "clusters": 1,
        "states": [{"state": "Pending", "phase": "pending", "objects": 2}],
    });
    assert_eq!(*found, expected);
    let shown = run(&["interpreters", "missing", "--server", &server.url], "");
    let shown = text(&shown.stdout);
    assert!(
        shown.contains("Crane  example.com  2        1         2 Pending"),
        "{shown}"
    );
}

#[test]
fn a_signed_catalogue_ranks_below_every_other_rule() {
    let (release, stage) = (Release::new(), Stage::new(2));
    let made = release.make("layout", &["--key", &release.path("key")]);
    assert!(made.contains("harbour 0.1.0 "), "{made}");
    assert!(made.ends_with("bytes, signed\n"), "{made}");
    let (layout, key) = (release.path("layout"), release.path("pub"));
    let verified = run(
        &[
            "plugin",
            "verify",
            &format!("oci-layout:{layout}:docks"),
            "--key",
            &key,
        ],
        "",
    );
    assert!(verified.status.success(), "{}", text(&verified.stderr));

    let server = stage.serve_with(&[]);
    wait_for_generic(&server);
    check_cranes_without_rule(&server);
    assert!(server.stop());

    // One project, with a required signature.
    let chosen = [
        "--catalogue",
        &layout,
        "--catalogue-projects",
        "docks",
        "--require-signature",
        &key,
    ];
    let server = stage.serve_with(&chosen);
    wait_until("judged by the catalogue", || {
        judged(&server).interpreter == "docks"
    });
    assert_eq!(judged(&server).state, "Parked");
    assert_eq!(
        server.get("/v2/interpreters/docks").1["source"],
        "catalogue"
    );
    assert_eq!(server.get("/v2/interpreters/harbour").0, 404);
    assert_eq!(crane_without_rule(&server.get("/v2/missing-rules").1), None);
    // An upload for the same Kind comes first.
    assert_eq!(server.put("/v2/interpreters/crane", crane()).0, 200);
    wait_for(&server, crane());
    assert_eq!(server.delete("/v2/interpreters/crane").0, 200);
    wait_until("judged by the catalogue", || {
        judged(&server).interpreter == "docks"
    });
    assert!(server.stop());

    // Without a valid signature, and without the flag, the project is taken out at the start.
    release.make("unsigned", &[]);
    let unsigned = release.path("unsigned");
    let server = stage.serve_with(&["--catalogue", &unsigned, "--require-signature", &key]);
    wait_for_generic(&server);
    wait_until("the refusal", || {
        let list = server.get("/v2/interpreters").1.to_string();
        list.contains("no signature was found")
    });
    assert!(server.stop());
    let server = stage.serve_with(&["--catalogue", &layout]);
    wait_until("judged by the catalogue", || {
        judged(&server).interpreter == "docks"
    });
    assert!(server.stop());
    let server = stage.serve_with(&[]);
    wait_for_generic(&server);
    assert!(server.stop());
}

const OBJECTS: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, generation: 1}
spec: {replicas: 1}
---
apiVersion: example.com/v1
kind: Crane
metadata: {name: c}
status: {phase: Draining}
---
apiVersion: example.com/v1
kind: Sail
metadata: {name: a}
status: {conditions: [{type: Ready, status: 'True'}]}
---
apiVersion: example.com/v2
kind: Sail
metadata: {name: b}
status: {phase: Broken}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: c}
status: {}
---
no object
";

/// `INTERPRETER STATE` of each verdict.
fn verdicts(output: &Output) -> Vec<String> {
    let output = text(&output.stdout);
    let lines = output.lines().map(|line| {
        let verdict: Value = serde_json::from_str(line).unwrap();
        let by = verdict["interpreter"]["name"].as_str().unwrap_or("-");
        format!("{by} {}", verdict["state"].as_str().unwrap())
    });
    lines.collect()
}

/// Runs `interpret` of an executable.
fn interpret(executable: &Path, arguments: &[&str]) -> Output {
    let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");
    let mut command = Command::new(executable);
    command.env("XDG_CACHE_HOME", cache).arg("interpret");
    command.args(arguments).output().unwrap()
}

#[test]
fn interpret_uses_the_catalogue_of_the_release() {
    let release = Release::new();
    release.make("share/kindsight/catalogue", &[]);
    let executable = release.at("bin/kindsight");
    fs::create_dir(release.at("bin")).unwrap();
    fs::hard_link(env!("CARGO_BIN_EXE_kindsight"), &executable).unwrap();
    fs::write(release.at("objects.yaml"), OBJECTS).unwrap();
    let objects = release.path("objects.yaml");
    let judged = interpret(&executable, &[&objects, "-o", "jsonl", "--catalogue"]);
    let expected = [
        "apps Pending",
        "docks Parked",
        "generic Ready",
        "generic Failed",
        "generic Present",
        "- Unknown",
    ];
    assert_eq!(verdicts(&judged), expected, "{}", text(&judged.stderr));

    let missing = interpret(
        &executable,
        &[
            "--missing",
            "--catalogue-projects",
            "docks",
            &objects,
            "--catalogue",
        ],
    );
    let table = text(&missing.stdout);
    let lines: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert_eq!(lines[1][..3], ["Sail", "example.com", "2"], "{table}");
    assert_eq!(
        lines[2],
        [
            "Certificate",
            "cert-manager.io",
            "1",
            "-",
            "1",
            "Present",
            "cert-manager"
        ],
        "{table}"
    );
}

#[test]
fn a_wrong_use_of_the_catalogue_is_corrected() {
    let release = Release::new();
    release.make("share/kindsight/catalogue", &[]);
    fs::write(release.at("objects.yaml"), OBJECTS).unwrap();
    let objects = release.path("objects.yaml");
    let built = Path::new(env!("CARGO_BIN_EXE_kindsight"));
    let rules = release.path("rules");
    for (arguments, expected) in [
        (
            vec!["--catalogue", objects.as_str()],
            "is a file, not a folder in OCI layout: write `--catalogue=DIR`",
        ),
        (
            vec!["--catalogue", rules.as_str()],
            "--catalogue needs a folder that `kindsight plugin catalogue` made",
        ),
        (
            vec![objects.as_str(), "--catalogue"],
            "there is no catalogue of a release in",
        ),
    ] {
        let failed = interpret(built, &arguments);
        let error = text(&failed.stderr);
        assert_eq!(failed.status.code(), Some(1), "{error}");
        assert!(error.contains(expected), "{error}");
    }
    let layout = release.path("share/kindsight/catalogue");
    let failed = interpret(
        built,
        &[
            &objects,
            "--catalogue",
            &layout,
            "--catalogue-projects",
            "ships",
        ],
    );
    let error = text(&failed.stderr);
    assert!(
        error.contains("has no project `ships`; it has docks, harbour"),
        "{error}"
    );
}

#[test]
fn a_wrong_rule_makes_no_catalogue() {
    let release = Release::new();
    let rules = release.path("rules");
    let layout = release.path("layout");
    let fail = |arguments: &[&str]| {
        let output = run(&[&["plugin", "catalogue"], arguments].concat(), "");
        assert_eq!(output.status.code(), Some(1));
        text(&output.stderr)
    };
    fs::write(
        release.at("rules/harbour/rule.yaml"),
        CRANE.replace("==", "="),
    )
    .unwrap();
    let error = fail(&[&rules, "-o", &layout]);
    assert!(error.contains("project harbour: "), "{error}");
    assert!(error.contains("cases[0].if: column"), "{error}");
    let error = fail(&[&release.path("rules/docks"), "-o", &layout]);
    assert!(
        error.contains("expected a folder for each project"),
        "{error}"
    );

    // A project that is not there any more leaves the catalogue.
    fs::remove_dir_all(release.at("rules/harbour")).unwrap();
    let made = release.make("layout", &[]);
    assert!(made.contains(": 1 projects, "), "{made}");
}
