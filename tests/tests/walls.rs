//! Rules of the architecture that Cargo cannot enforce.
//!
//! A crate can use only the dependencies in its `Cargo.toml`. These tests restrict the dependencies.

use std::fs;
use std::path::{Path, PathBuf};

/// Libraries, and the only crates that may name them. These tests may name all of them.
const NAMED_BY: &[(&str, &[&str])] = &[
    (
        "fastrand",
        &["kindsight-aai", "kindsight-clusters", "kindsight-push"],
    ),
    (
        "backon",
        &["kindsight-clusters", "kindsight-notify", "kindsight-push"],
    ),
    (
        "flate2",
        &[
            "kindsight",
            "kindsight-authoring",
            "kindsight-push",
            "kindsight-replication",
        ],
    ),
    ("hashbrown", &["kindsight-cluster-index"]),
    ("kube", &["kindsight-clusters"]),
    ("k8s-openapi", &["kindsight-clusters"]),
    ("ipnet", &["kindsight-outgoing"]),
    ("notify", &["kindsight-folder"]),
    ("etcd-client", &["kindsight-store"]),
    ("mongodb", &["kindsight-mongodb", "kindsight-cluster"]),
    ("rcgen", &["kindsight-cluster"]),
    ("redb", &["kindsight-store"]),
    (
        "rustls",
        &[
            "kindsight",
            // The server of an inventory that demands client certificates.
            "kindsight-cluster",
            "kindsight-outgoing",
            "kindsight-push",
            "kindsight-registry",
            "kindsight-replication",
        ],
    ),
    ("wasmtime", &["kindsight-interpreter"]),
    (
        "wit-component",
        &[
            "kindsight-authoring",
            "kindsight-interpreter",
            "kindsight-guest-build",
        ],
    ),
    ("wasm-encoder", &["kindsight-conversion"]),
    (
        "wasmparser",
        &[
            "kindsight-interpreter",
            "kindsight-conversion",
            "kindsight-registry",
        ],
    ),
    ("jsonschema", &["kindsight-settings"]),
    ("hmac", &["kindsight-code-cache", "kindsight-notify"]),
    ("hyper", &["kindsight-rest", "kindsight-simulator"]),
    (
        "hyper-rustls",
        &[
            "kindsight-clusters",
            "kindsight-access",
            "kindsight-push",
            "kindsight-replication",
        ],
    ),
    (
        "hyper-util",
        &[
            "kindsight-rest",
            "kindsight-clusters",
            "kindsight-access",
            "kindsight-push",
            "kindsight-simulator",
            "kindsight-replication",
        ],
    ),
    ("jsonwebtoken", &["kindsight-access"]),
    ("ring", &["kindsight-access", "kindsight-registry"]),
    ("getrandom", &["kindsight-code-cache", "kindsight-access"]),
    ("arc-swap", &["kindsight-interpreter", "kindsight-access"]),
    ("axum", &["kindsight-rest"]),
    (
        "utoipa",
        &["kindsight-model", "kindsight-api", "kindsight-rest"],
    ),
    ("utoipa-axum", &["kindsight-rest"]),
    ("tonic", &["kindsight-grpc", "kindsight-status-notify"]),
    (
        "tonic-prost",
        &["kindsight-grpc", "kindsight-status-notify"],
    ),
    (
        "tonic-prost-build",
        &["kindsight-grpc", "kindsight-status-notify"],
    ),
    ("tokio-rustls", &["kindsight-access", "kindsight-simulator"]),
    ("anstream", &["kindsight"]),
    ("anstyle", &["kindsight"]),
    ("clap", &["kindsight", "kindsight-monitor"]),
    ("clap_complete", &["kindsight"]),
    ("clap_mangen", &["kindsight"]),
    ("indicatif", &["kindsight"]),
    ("mimalloc", &["kindsight"]),
    ("prost", &["kindsight-grpc", "kindsight-status-notify"]),
    ("prometheus-client", &["kindsight-server"]),
    (
        "tracing-subscriber",
        &["kindsight-server", "kindsight-monitor"],
    ),
    ("x509-parser", &["kindsight-access"]),
];

/// Crates of the workspace that each host crate may use. A new host crate must be added here.
const CRATES: &[(&str, &[&str])] = &[
    ("kindsight-model", &["kindsight-contract"]),
    ("kindsight-store", &[]),
    ("kindsight-folder", &[]),
    ("kindsight-access", &["kindsight-model"]),
    ("kindsight-api", &["kindsight-model"]),
    (
        "kindsight-cluster-index",
        &["kindsight-contract", "kindsight-model"],
    ),
    (
        "kindsight-clusters",
        &[
            "kindsight-cluster-index",
            "kindsight-contract",
            "kindsight-folder",
            "kindsight-model",
        ],
    ),
    (
        "kindsight-push",
        &["kindsight-api", "kindsight-clusters", "kindsight-model"],
    ),
    (
        "kindsight-appcontext",
        &["kindsight-model", "kindsight-store"],
    ),
    (
        "kindsight-lifecycle",
        &["kindsight-appcontext", "kindsight-model"],
    ),
    ("kindsight-code-cache", &["kindsight-model"]),
    (
        "kindsight-conversion",
        &[
            "kindsight-cel",
            "kindsight-contract",
            "kindsight-guest-build",
            "kindsight-lua",
        ],
    ),
    ("kindsight-grpc", &["kindsight-access", "kindsight-model"]),
    ("kindsight-leases", &["kindsight-model", "kindsight-store"]),
    ("kindsight-outgoing", &["kindsight-model"]),
    (
        "kindsight-aai",
        &[
            "kindsight-api",
            "kindsight-model",
            "kindsight-outgoing",
            "kindsight-read-model",
            "kindsight-status",
            "kindsight-store",
        ],
    ),
    (
        "kindsight-health-scope",
        &[
            "kindsight-api",
            "kindsight-model",
            "kindsight-read-model",
            "kindsight-status",
        ],
    ),
    ("kindsight-registry", &["kindsight-model"]),
    ("kindsight-mongodb", &["kindsight-model"]),
    (
        "kindsight-interpreter",
        &[
            "kindsight-code-cache",
            "kindsight-contract",
            "kindsight-model",
            "kindsight-settings",
        ],
    ),
    (
        "kindsight-catalog",
        &[
            "kindsight-api",
            "kindsight-folder",
            "kindsight-interpreter",
            "kindsight-model",
            "kindsight-registry",
            "kindsight-settings",
            "kindsight-store",
        ],
    ),
    ("kindsight-status", &["kindsight-api", "kindsight-model"]),
    (
        "kindsight-read-model",
        &["kindsight-model", "kindsight-status"],
    ),
    (
        "kindsight-replication",
        &[
            "kindsight-api",
            "kindsight-model",
            "kindsight-read-model",
            "kindsight-status",
        ],
    ),
    (
        "kindsight-notify",
        &[
            "kindsight-api",
            "kindsight-model",
            "kindsight-outgoing",
            "kindsight-read-model",
            "kindsight-status",
            "kindsight-store",
        ],
    ),
    (
        "kindsight-k8splugin",
        &[
            "kindsight-api",
            "kindsight-model",
            "kindsight-read-model",
            "kindsight-status",
        ],
    ),
    (
        "kindsight-status-notify",
        &[
            "kindsight-access",
            "kindsight-api",
            "kindsight-grpc",
            "kindsight-model",
            "kindsight-read-model",
            "kindsight-status",
        ],
    ),
    (
        "kindsight-pipeline",
        &[
            "kindsight-appcontext",
            "kindsight-clusters",
            "kindsight-interpreter",
            "kindsight-leases",
            "kindsight-model",
            "kindsight-read-model",
            "kindsight-replication",
            "kindsight-status",
            "kindsight-store",
        ],
    ),
    (
        "kindsight-rest",
        &[
            "kindsight-access",
            "kindsight-api",
            "kindsight-model",
            "kindsight-read-model",
            "kindsight-replication",
            "kindsight-status",
        ],
    ),
    (
        "kindsight-server",
        &[
            "kindsight-aai",
            "kindsight-access",
            "kindsight-api",
            "kindsight-appcontext",
            "kindsight-catalog",
            "kindsight-clusters",
            "kindsight-conversion",
            "kindsight-grpc",
            "kindsight-health-scope",
            "kindsight-interpreter",
            "kindsight-k8splugin",
            "kindsight-leases",
            "kindsight-lifecycle",
            "kindsight-model",
            "kindsight-mongodb",
            "kindsight-notify",
            "kindsight-outgoing",
            "kindsight-pipeline",
            "kindsight-plugins",
            "kindsight-push",
            "kindsight-read-model",
            "kindsight-registry",
            "kindsight-replication",
            "kindsight-rest",
            "kindsight-status",
            "kindsight-status-notify",
            "kindsight-store",
        ],
    ),
    (
        "kindsight-authoring",
        &[
            "kindsight-contract",
            "kindsight-interpreter",
            "kindsight-model",
        ],
    ),
    (
        "kindsight-monitor",
        &[
            "kindsight-access",
            "kindsight-cluster-index",
            "kindsight-clusters",
            "kindsight-model",
            "kindsight-push",
        ],
    ),
    (
        COMMAND_LINE,
        &[
            "kindsight-access",
            "kindsight-api",
            "kindsight-authoring",
            "kindsight-conversion",
            "kindsight-model",
            "kindsight-server",
        ],
    ),
];

/// The command line, which has no library.
const COMMAND_LINE: &str = "kindsight";

/// Real clusters for the tests of other crates.
const CLUSTERS: &str = "tests/cluster";

/// Simulated clusters for the tests of other crates.
const SIMULATOR: &str = "tests/simulator";

/// Folders with all source files except these tests.
const SOURCES: &[&str] = &[
    "host",
    "sdk",
    "plugins",
    "tests/guests",
    CLUSTERS,
    SIMULATOR,
];

/// Most lines of a file of the host, without tests.
const LINES_MAX: usize = 400;

/// The one file that may trust bytes to be machine code.
const UNSAFE_FILE: &str = "host/interpreter/src/aot.rs";

/// The type that writes the read model, and the files that may name it.
const WRITER: (&str, &[&str]) = (
    "ReadModelWriter",
    &["host/read-model/src/", "host/pipeline/src/publisher.rs"],
);

struct Member {
    name: String,
    /// Folder, from the root.
    folder: String,
    manifest: toml::Table,
}

impl Member {
    /// Names in one of its tables, also below `[target.…]`.
    fn names(&self, table: &str) -> Vec<String> {
        let targets = self.manifest.get("target").and_then(toml::Value::as_table);
        let targets = targets.into_iter().flat_map(toml::Table::values);
        let tables = targets
            .filter_map(toml::Value::as_table)
            .chain([&self.manifest]);
        let named = tables.filter_map(|section| section.get(table)?.as_table());
        named.flat_map(toml::Table::keys).cloned().collect()
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn folders(of: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(of)).expect("a folder");
    let entries = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries
        .map(|name| format!("{of}/{}", name.to_string_lossy()))
        .filter(|folder| root().join(folder).join("Cargo.toml").is_file())
        .collect();
    names.sort();
    names
}

/// Every crate except the crate of these tests.
fn members() -> Vec<Member> {
    let parents = ["host", "sdk", "sdk/templates", "plugins", "tests/guests"];
    let folders = parents.iter().flat_map(|parent| folders(parent));
    let folders = folders.chain([CLUSTERS, SIMULATOR].map(str::to_owned));
    folders.map(|folder| member(&folder)).collect()
}

fn member(folder: &str) -> Member {
    let path = root().join(folder).join("Cargo.toml");
    let text = fs::read_to_string(&path).expect("a manifest");
    let manifest: toml::Table = text.parse().expect("TOML");
    let name = manifest["package"]["name"]
        .as_str()
        .expect("a name")
        .to_owned();
    Member {
        name,
        folder: folder.to_owned(),
        manifest,
    }
}

/// Rust files below a folder, with their paths from the root.
fn sources(of: &str, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(root().join(of)).expect("a folder") {
        let entry = entry.expect("an entry");
        let path = format!("{of}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            sources(&path, found);
        } else if Path::new(&path).extension() == Some("rs".as_ref()) {
            found.push((path, fs::read_to_string(entry.path()).expect("text")));
        }
    }
}

fn sources_of(folders: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in folders {
        sources(folder, &mut found);
    }
    assert!(!found.is_empty());
    found
}

#[test]
fn a_library_is_named_by_its_crates_alone() {
    for member in members() {
        for table in ["dependencies", "build-dependencies", "dev-dependencies"] {
            for named in member.names(table) {
                let rule = NAMED_BY.iter().find(|(library, _)| *library == named);
                assert!(
                    rule.is_none_or(|(_, by)| by.contains(&member.name.as_str())),
                    "{} names {named} in its {table}; only {:?} may",
                    member.folder,
                    rule.map(|(_, by)| by)
                );
            }
        }
    }
}

#[test]
fn host_crates_name_only_those_in_the_table() {
    for member in members()
        .iter()
        .filter(|member| member.folder.starts_with("host/"))
    {
        let rule = CRATES.iter().find(|(name, _)| *name == member.name);
        let (_, crates) = rule.unwrap_or_else(|| panic!("enter {} in `CRATES`", member.name));
        for table in ["dependencies", "build-dependencies"] {
            for named in member
                .names(table)
                .iter()
                .filter(|named| named.starts_with("kindsight"))
            {
                assert!(
                    crates.contains(&named.as_str()),
                    "{} names {named}: not in `CRATES`",
                    member.folder
                );
            }
        }
    }
}

/// The built-in interpreters that are a library for authors: all of them.
const RULES: [&str; 15] = [
    "kindsight-plugin-apiextensions",
    "kindsight-plugin-apiregistration",
    "kindsight-plugin-apps",
    "kindsight-plugin-autoscaling",
    "kindsight-plugin-batch",
    "kindsight-plugin-certificates",
    "kindsight-plugin-core",
    "kindsight-plugin-gateway",
    "kindsight-plugin-generic",
    "kindsight-plugin-networking",
    "kindsight-plugin-nodus",
    "kindsight-plugin-oam",
    "kindsight-plugin-policy",
    "kindsight-plugin-rbac",
    "kindsight-plugin-storage",
];

#[test]
fn interpreters_depend_on_the_sdk_and_not_on_the_host() {
    let built_in = "plugins/built-in";
    for member in members()
        .iter()
        .filter(|member| !member.folder.starts_with("host/"))
    {
        let expected: &[&str] = match member.folder.as_str() {
            folder if folder == built_in => &["kindsight-guest-build"],
            "sdk/macros" => &["kindsight-contract"],
            "sdk/rust" => &[
                "kindsight-contract",
                "kindsight-sdk-macros",
                "kindsight-settings",
            ],
            folder if folder.starts_with("sdk/templates/") => &[
                "kindsight-cel",
                "kindsight-contract",
                "kindsight-lua",
                "kindsight-sdk",
            ],
            "sdk/cel" | "sdk/lua" => &["kindsight-contract"],
            "sdk/rules" => &RULES,
            SIMULATOR => &["kindsight-cluster"],
            "tests/guests/parked" => &["kindsight-rules", "kindsight-sdk"],
            folder if folder.starts_with("sdk/") || folder == CLUSTERS => &[],
            _ => &["kindsight-sdk"],
        };
        for table in ["dependencies", "build-dependencies", "dev-dependencies"] {
            for named in member
                .names(table)
                .iter()
                .filter(|named| named.starts_with("kindsight"))
            {
                assert!(
                    expected.contains(&named.as_str()),
                    "{} names {named}",
                    member.folder
                );
            }
        }
    }
}

#[test]
fn only_the_cache_of_compiled_code_is_unsafe() {
    for (path, text) in sources_of(SOURCES) {
        let is_named = text
            .lines()
            .any(|line| line.trim_start().starts_with("unsafe_code"))
            || text.contains("(unsafe_code");
        assert_eq!(is_named, path == UNSAFE_FILE, "{path}");
    }
}

#[test]
fn lints_are_silenced_with_a_reason() {
    let silenced = ["#[allow(", "#![allow("];
    for (path, text) in sources_of(SOURCES) {
        for silenced in silenced {
            assert!(
                !text.contains(silenced),
                "{path}: use `#[expect(…, reason = …)]`"
            );
        }
    }
}

#[test]
fn every_host_crate_refuses_to_panic_and_to_print() {
    let lints = [
        "expect_used",
        "indexing_slicing",
        "panic",
        "print_stderr",
        "print_stdout",
    ];
    for folder in folders("host") {
        let source = root().join(&folder).join("src");
        let (file, lints) = if member(&folder).name == COMMAND_LINE {
            // The command line prints.
            (source.join("main.rs"), &lints[..3])
        } else {
            (source.join("lib.rs"), &lints[..])
        };
        let text = fs::read_to_string(file).expect("a root file");
        for lint in lints {
            let warned = text.contains(&format!("clippy::{lint}"));
            assert!(warned, "{folder} does not warn of {lint}");
        }
    }
}

#[test]
fn every_crate_keeps_the_lints_of_the_workspace() {
    for member in members() {
        let lints = member
            .manifest
            .get("lints")
            .and_then(|lints| lints.get("workspace"));
        assert_eq!(
            lints.and_then(toml::Value::as_bool),
            Some(true),
            "{}",
            member.folder
        );
    }
}

/// rustdoc compiles the documentation of a crate for its tests, which takes seconds. So a crate without such tests says
/// `doctest = false`.
#[test]
fn a_crate_tests_its_documentation_if_it_has_examples() {
    for member in members() {
        let has_library = root().join(&member.folder).join("src/lib.rs").is_file();
        let tests = member
            .manifest
            .get("lib")
            .and_then(|lib| lib.get("doctest"));
        let tests = tests.and_then(toml::Value::as_bool).unwrap_or(has_library);
        let mut examples = Vec::new();
        for (path, text) in sources_of(&[&format!("{}/src", member.folder)]) {
            if has_examples(&text) {
                examples.push(path);
            }
        }
        let folder = &member.folder;
        assert_eq!(
            tests,
            !examples.is_empty(),
            "{folder} has examples in {examples:?}: set `doctest` of `[lib]` accordingly"
        );
    }
}

/// Returns whether rustdoc runs a block of code in the documentation of this source.
fn has_examples(source: &str) -> bool {
    let docs = source.lines().map(str::trim_start);
    let docs = docs.filter_map(|line| line.strip_prefix("///").or(line.strip_prefix("//!")));
    let fences = docs.filter_map(|line| line.trim().strip_prefix("```"));
    // Every second fence ends a block.
    let mut languages = fences.step_by(2);
    languages.any(|language| {
        let words = ["", "rust", "no_run", "should_panic", "compile_fail"];
        let is_rust = |word: &str| words.contains(&word) || word.starts_with("edition");
        language.split(',').map(str::trim).all(is_rust)
    })
}

#[test]
fn only_the_publisher_names_the_writer_of_the_read_model() {
    let (writer, places) = WRITER;
    for (path, text) in sources_of(&["host"]) {
        let is_test = path.ends_with("/tests.rs") || path.contains("/tests/");
        let may_name = is_test || places.iter().any(|place| path.starts_with(place));
        assert!(may_name || !text.contains(writer), "{path} names {writer}");
    }
}

#[test]
fn files_of_the_host_are_short() {
    for (path, text) in sources_of(&["host"]) {
        let code = text.lines().take_while(|line| *line != "#[cfg(test)]");
        let lines = if path.ends_with("/tests.rs") {
            0
        } else {
            code.count()
        };
        assert!(lines <= LINES_MAX, "{path} has {lines} lines: split it");
    }
}

/// `.ci/run` packs each crate that is published, so that a missing file or version is found before a release.
#[test]
fn every_published_crate_is_packed() {
    let script = fs::read_to_string(root().join(".ci/run")).expect("the script");
    let mut lines = script.lines();
    let packs = lines.find(|line| line.starts_with("step \"packages\""));
    let packs = packs.expect("the step of the packages");
    let mut words = packs.split_whitespace();
    let mut packed = Vec::new();
    while let Some(word) = words.next() {
        if word == "-p" {
            packed.extend(words.next().map(str::to_owned));
        }
    }
    packed.sort();
    let is_published = |member: &Member| {
        let publish = member.manifest["package"].get("publish");
        publish.and_then(toml::Value::as_bool) == Some(true)
    };
    let members = members();
    let published = members.iter().filter(|member| is_published(member));
    let mut published: Vec<String> = published.map(|member| member.name.clone()).collect();
    published.sort();
    assert_eq!(packed, published);
}
