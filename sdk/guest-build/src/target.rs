//! The target that guests are built for.

use std::path::Path;
use std::process::Command;

use crate::{Error, Result, variable};

/// Target without an operating system: a guest can call only what the contract lets it import.
pub(crate) const TRIPLE: &str = "wasm32-unknown-unknown";

/// Installs the target's standard library where rustup can and it is missing: `rust-toolchain.toml`
/// names it, but rustup adds it by itself only together with the toolchain.
pub(crate) fn require() -> Result<()> {
    if is_installed()? {
        return Ok(());
    }
    let added = Command::new("rustup")
        .args(["target", "add", TRIPLE])
        .status();
    if added.is_ok_and(|status| status.success()) && is_installed()? {
        return Ok(());
    }
    Err(Error::NoTarget)
}

fn is_installed() -> Result<bool> {
    let output = Command::new(variable("RUSTC")?)
        .args(["--print", "target-libdir", "--target", TRIPLE])
        .output()
        .map_err(|error| Error::Io("failed to run rustc".to_owned(), error))?;
    let folder = String::from_utf8_lossy(&output.stdout);
    Ok(output.status.success() && Path::new(folder.trim()).is_dir())
}
