//! Executables that are built once from the Go modules beside this crate.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::binaries::{Binary, Unavailable, tell};

/// Number of digits of a digest that form the name of a folder in the cache.
const DIGEST_DIGITS: usize = 16;

/// Build instructions of an executable.
struct Recipe {
    /// The folder of the module that pins its version, in this crate.
    module: &'static str,
    package: &'static str,
    /// The file name that Go gives it.
    built_as: &'static str,
}

fn recipe(binary: Binary) -> Recipe {
    let (module, package) = match binary {
        Binary::Etcd => ("control-plane", "go.etcd.io/etcd/server/v3"),
        Binary::ApiServer => ("control-plane", "k8s.io/kubernetes/cmd/kube-apiserver"),
        Binary::ControllerManager => (
            "control-plane",
            "k8s.io/kubernetes/cmd/kube-controller-manager",
        ),
        Binary::Scheduler => ("control-plane", "k8s.io/kubernetes/cmd/kube-scheduler"),
        Binary::Kwok => ("nodes", "sigs.k8s.io/kwok/cmd/kwok"),
        Binary::Helm => ("helm", "helm.sh/helm/v3/cmd/helm"),
        Binary::Kubectl => ("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
        Binary::BundleReader => ("bundles", "."),
    };
    let built_as = match binary {
        Binary::Etcd => "server",
        _ => binary.name(),
    };
    Recipe {
        module,
        package,
        built_as,
    }
}

/// Returns the paths of executables in the cache. Builds missing ones there.
pub(crate) fn find_or_build(binaries: &[Binary]) -> Result<BTreeMap<Binary, PathBuf>, Unavailable> {
    let mut paths = BTreeMap::new();
    let modules: BTreeSet<&str> = binaries
        .iter()
        .map(|binary| recipe(*binary).module)
        .collect();
    for module in modules {
        let of_module = |binary: &&Binary| recipe(**binary).module == module;
        let wanted: Vec<Binary> = binaries.iter().filter(of_module).copied().collect();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(module);
        let cache = cache(&source).map_err(|error| Unavailable(error.to_string()))?;
        if missing(&cache, &wanted).next().is_some() {
            build(&source, &cache, &wanted)?;
        }
        paths.extend(
            wanted
                .iter()
                .map(|binary| (*binary, cache.join(binary.name()))),
        );
    }
    Ok(paths)
}

fn missing(cache: &Path, wanted: &[Binary]) -> impl Iterator<Item = Binary> {
    let absent = |binary: &Binary| !cache.join(binary.name()).is_file();
    wanted.iter().copied().filter(absent)
}

/// The folder of the cache for the versions that a module pins, and for its own source.
fn cache(module: &Path) -> io::Result<PathBuf> {
    let mut digest = Sha256::new();
    for file in ["go.mod", "go.sum", "main.go"] {
        match fs::read(module.join(file)) {
            Ok(bytes) => digest.update(bytes),
            // Most modules only pin the executables of others.
            Err(error) if file == "main.go" && error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    let mut digest = hex(&digest.finalize());
    digest.truncate(DIGEST_DIGITS);
    Ok(cache_root().join("kubernetes").join(digest))
}

/// The folder of the cache for everything that tests download or build once.
pub(crate) fn cache_root() -> PathBuf {
    let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let root = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let root = root.or_else(home).unwrap_or_else(env::temp_dir);
    root.join("kindsight")
}

/// Builds missing executables. Another process that needs the same executables waits during this
/// time.
fn build(module: &Path, cache: &Path, wanted: &[Binary]) -> Result<(), Unavailable> {
    let name = |error: io::Error| Unavailable(format!("{}: {error}", cache.display()));
    fs::create_dir_all(cache).map_err(name)?;
    let lock = File::create(cache.join("lock")).map_err(name)?;
    lock.lock().map_err(name)?;
    // Another process may have built it.
    let missing: Vec<Binary> = missing(cache, wanted).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let fresh = cache.join("building");
    install(module, &fresh, &missing)?;
    for binary in missing {
        // The rename is atomic, also for a process that does not use the lock.
        fs::rename(
            fresh.join(recipe(binary).built_as),
            cache.join(binary.name()),
        )
        .map_err(name)?;
    }
    // The folder is empty now. Another process creates it again if necessary.
    let _ = fs::remove_dir(fresh);
    Ok(())
}

fn install(module: &Path, into: &Path, binaries: &[Binary]) -> Result<(), Unavailable> {
    let names: Vec<&str> = binaries.iter().map(|binary| binary.name()).collect();
    let names = names.join(", ");
    let version = Command::new("go").arg("version").output();
    if !version.is_ok_and(|output| output.status.success()) {
        let them = if binaries.len() == 1 { "it" } else { "them" };
        return Err(Unavailable(format!(
            "no Go toolchain on the PATH to build {names} with, and KUBEBUILDER_ASSETS does not have \
             {them}; install Go from https://go.dev/dl"
        )));
    }
    tell(&format!(
        "building {names} once, about {} minutes the first time, into {}",
        minutes(binaries),
        into.parent().unwrap_or(into).display()
    ));
    let flags = env::var("GOFLAGS").unwrap_or_default();
    let output = Command::new("go")
        .args(["install", "-trimpath", "-ldflags", "-s -w"])
        .args(binaries.iter().map(|binary| recipe(*binary).package))
        .env("GOFLAGS", format!("{flags} -mod=readonly").trim())
        .env("GOBIN", into)
        .current_dir(module)
        .output()
        .map_err(|error| Unavailable(format!("go: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let last = errors.lines().rfind(|line| !line.trim().is_empty());
    let last = last.unwrap_or("it did not say why");
    Err(Unavailable(format!("go install failed: {last}")))
}

/// The duration of a build on two cores with an empty Go cache.
fn minutes(binaries: &[Binary]) -> u32 {
    let has = |binary| binaries.contains(&binary);
    let control_plane = [
        Binary::ApiServer,
        Binary::ControllerManager,
        Binary::Scheduler,
    ];
    let control_plane = control_plane.into_iter().any(has);
    let first = if control_plane { 9 } else { 0 };
    let kwok = if has(Binary::Kwok) { 2 } else { 0 };
    let helm = if has(Binary::Helm) { 3 } else { 0 };
    (first + kwok + helm).max(1)
}

/// Bytes as text.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let text = String::with_capacity(2 * bytes.len());
    bytes
        .iter()
        .fold(text, |text, byte| format!("{text}{byte:02x}"))
}
