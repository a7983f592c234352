//! The executable of kindsight, which Cargo builds as for `cargo test --workspace`.

use std::env;
use std::io::{Write as _, stderr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kindsight_cluster::Container;
use serde_json::Value;

/// A command with the crates and features of `cargo test --workspace`, after which it has nothing to do. Cargo builds the
/// executable for the tests of its crate.
const BUILD: [&str; 7] = [
    "test",
    "--workspace",
    "--locked",
    "--no-run",
    "--test=install",
    "--quiet",
    "--message-format=json",
];

/// Variables that Cargo sets for these tests. A build script that reads one of them would run again.
const OF_TESTS: [&str; 6] = [
    "CARGO_BIN_",
    "CARGO_CRATE_",
    "CARGO_MANIFEST_",
    "CARGO_PKG_",
    "CARGO_PRIMARY_",
    "OUT_DIR",
];

/// Returns the executable. If it cannot be built or cannot start in a container, one line says so.
///
/// # Panics
/// With the same line if `CI` is `true`.
pub(super) fn executable_or_tell() -> Option<PathBuf> {
    if !Container::can_start() {
        return None;
    }
    let executable = build();
    if executable.is_none() {
        let line = "the hostile clients attack a server in their own process over HTTPS, because Cargo cannot build kindsight";
        assert!(env::var("CI").as_deref() != Ok("true"), "{line}");
        let _ = writeln!(stderr(), "{line}");
    }
    executable
}

/// Builds the executable with the profile and the target folder of these tests.
fn build() -> Option<PathBuf> {
    let own = env::current_exe().ok()?;
    // This executable is in `TARGET/PROFILE/deps`.
    let mut folders = own.ancestors().skip(2);
    let (profile, target) = (folders.next()?, folders.next()?);
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        if OF_TESTS.iter().any(|begin| name.starts_with(begin)) {
            cargo.env_remove(&*name);
        }
    }
    cargo.args(BUILD).arg("--target-dir").arg(target);
    if profile.file_name()? != "debug" {
        cargo.arg("--profile").arg(profile.file_name()?);
    }
    cargo.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    let output = cargo.stderr(Stdio::inherit()).output().ok()?;
    let messages = String::from_utf8(output.stdout).ok()?;
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let mut artifacts = messages.filter(|message: &Value| {
        message["target"]["name"] == "kindsight" && message["target"]["kind"][0] == "bin"
    });
    let executable =
        artifacts.find_map(|artifact| Some(PathBuf::from(artifact["executable"].as_str()?)));
    executable.filter(|_| output.status.success())
}
