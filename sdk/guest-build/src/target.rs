//! The target of guests.

use std::path::Path;
use std::process::Command;

use crate::{Error, Result, variable};

/// A target without an operating system: a guest can only call the functions that the contract lets
/// it import.
pub(crate) const TRIPLE: &str = "wasm32-unknown-unknown";

/// Installs the target's standard library if it is missing and rustup can install it.
/// `rust-toolchain.toml` names the target, but rustup installs it automatically only together with
/// the toolchain.
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
