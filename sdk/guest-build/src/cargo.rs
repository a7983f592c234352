//! The nested run of Cargo that builds the guests.
//!
//! It uses a separate target folder, `<target>/plugins`, because the outer Cargo holds the lock on
//! `<target>`, and because both profiles of the host share the result. Toolchain and lock file are
//! the same. Flags, wrappers and targets for the host are not passed on.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Error, Guest, Result, target, variable};

/// The profile of guests in the root manifest.
const PROFILE: &str = "plugin";

/// Flags for guests. Every call in a component checks its stack and its deadline, so calls are more
/// expensive than in native code. With more inlining, a verdict takes about 6 % less time, and a
/// component has 2 % more bytes.
const FLAGS: &str = "-Cllvm-args=--inline-threshold=800";

/// Builds the guests and returns their core modules, in the same order.
pub(crate) fn build(root: &Path, out: &Path, guests: &[Guest]) -> Result<Vec<Vec<u8>>> {
    let folder = target_folder(out)?.join("plugins");
    let _lock = lock(&folder)?;
    let mut cargo = command(root, &folder)?;
    for guest in guests {
        cargo.args(["--package", &guest.package]);
    }
    let output = cargo
        .output()
        .map_err(|error| Error::Io("failed to run cargo".to_owned(), error))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Error::Cargo(output.status, stderr));
    }
    let modules = folder.join(target::TRIPLE).join(PROFILE);
    guests.iter().map(|guest| module(&modules, guest)).collect()
}

fn module(modules: &Path, guest: &Guest) -> Result<Vec<u8>> {
    let path = modules.join(format!("{}.wasm", guest.package.replace('-', "_")));
    fs::read(&path).map_err(|error| Error::Io(format!("failed to read {}", path.display()), error))
}

/// Acquires a lock that is held until the modules are read. Cargo's own lock ends with its run, and
/// another build script could then overwrite the files before this one has read them.
fn lock(folder: &Path) -> Result<File> {
    let failed = |error| Error::Io(format!("failed to lock {}", folder.display()), error);
    fs::create_dir_all(folder).map_err(failed)?;
    let file = File::create(folder.join("guest-build.lock")).map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(file)
}

fn command(root: &Path, folder: &Path) -> Result<Command> {
    let mut cargo = Command::new(variable("CARGO")?);
    cargo.current_dir(root);
    cargo.args([
        "build",
        "--locked",
        "--profile",
        PROFILE,
        "--target",
        target::TRIPLE,
    ]);
    cargo.arg("--target-dir").arg(folder);
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(is_for_the_host) {
            cargo.env_remove(&name);
        }
    }
    // Set instead of removed, so that it also overrides flags in the user's Cargo configuration.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", FLAGS);
    Ok(cargo)
}

/// Returns whether an environment variable configures the outer build and must not affect the
/// nested one.
fn is_for_the_host(name: &str) -> bool {
    const NAMES: [&str; 7] = [
        // The jobs of the outer Cargo. A build script that waits for the lock occupies one of them, so the nested Cargo
        // would have one core less.
        "CARGO_MAKEFLAGS",
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_WRAPPER",
        "RUSTC",
        "RUSTDOCFLAGS",
    ];
    const PREFIXES: [&str; 5] = [
        "CARGO_BUILD_",
        "CARGO_PROFILE_",
        "CARGO_CFG_",
        "CARGO_TARGET_",
        "CARGO_FEATURE_",
    ];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The outer build's target folder, which contains `<profile>/build/<package>/out`.
fn target_folder(out: &Path) -> Result<PathBuf> {
    let build = out.ancestors().find(|path| path.ends_with("build"));
    let folder = build.and_then(|build| build.ancestors().nth(2));
    folder
        .map(Path::to_owned)
        .ok_or(Error::Layout("OUT_DIR is not below a target folder"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_folder_is_found_with_and_without_a_target_triple() {
        for (out, expected) in [
            ("/p/target/debug/build/x-1/out", "/p/target"),
            (
                "/p/target/x86_64-unknown-linux-gnu/debug/build/x-1/out",
                "/p/target/x86_64-unknown-linux-gnu",
            ),
        ] {
            assert_eq!(target_folder(Path::new(out)).unwrap(), Path::new(expected));
        }
        assert!(target_folder(Path::new("/elsewhere")).is_err());
    }

    #[test]
    fn settings_of_the_host_build_are_not_passed_on() {
        for name in [
            "RUSTFLAGS",
            "CARGO_TARGET_DIR",
            "CARGO_PROFILE_RELEASE_LTO",
            "RUSTC_WRAPPER",
            "CARGO_MAKEFLAGS",
        ] {
            assert!(is_for_the_host(name), "{name}");
        }
        for name in ["PATH", "HOME", "CARGO_HOME", "RUSTUP_TOOLCHAIN"] {
            assert!(!is_for_the_host(name), "{name}");
        }
    }
}
