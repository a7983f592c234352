//! Programs and data of other projects, from Go's module cache. Tests and benchmarks use them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Flux's package, and its files that the peer needs. Its reader of statuses needs the client of Kubernetes, whose build
/// takes minutes.
const FLUX: &str = "github.com/fluxcd/pkg/runtime";
const FLUX_FILES: [&str; 4] = [
    "go.mod",
    "cel/doc.go",
    "cel/expression.go",
    "cel/status_evaluator.go",
];

/// Builds `tests/peers/flux`, a program around Flux's CEL engine, into a folder, and returns its path. The first build
/// takes about a minute of processor time. `None` without Go.
///
/// # Panics
/// If Go is installed and the build fails.
pub fn flux_peer(folder: &Path) -> Option<PathBuf> {
    Command::new("go").arg("version").output().ok()?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/flux");
    fs::create_dir_all(folder.join("runtime/cel")).expect("a folder");
    for file in ["go.mod", "go.sum", "main.go"] {
        fs::copy(source.join(file), folder.join(file)).expect("a copy");
    }
    go(folder, &["mod", "download", FLUX]);
    let cached = go(folder, &["list", "-m", "-f", "{{.Dir}}", FLUX]);
    for file in FLUX_FILES {
        let text = fs::read(Path::new(&cached).join(file)).expect("a file of the module");
        fs::write(folder.join("runtime").join(file), text).expect("a copy");
    }
    let replace = format!("{FLUX}=./runtime");
    go(folder, &["mod", "edit", "-replace", &replace]);
    go(folder, &["build", "-o", "peer", "."]);
    Some(folder.join("peer"))
}

/// The tree of health scripts of the Argo CD in `tests/benches/peers/go.mod`. `None` without Go or its module proxy.
pub fn argo_scripts() -> Option<PathBuf> {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers");
    let module = "github.com/argoproj/argo-cd/v3";
    let downloaded = Command::new("go")
        .args(["mod", "download", module])
        .current_dir(&peers)
        .status();
    downloaded.ok().filter(std::process::ExitStatus::success)?;
    let folder = go(&peers, &["list", "-m", "-f", "{{.Dir}}", module]);
    Some(Path::new(&folder).join("resource_customizations"))
}

/// Runs Go in a folder, and returns its output.
fn go(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("go")
        .args(arguments)
        .current_dir(folder)
        .output();
    let output = output.unwrap_or_else(|error| panic!("go {arguments:?}: {error}"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "go {arguments:?}: {error}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
