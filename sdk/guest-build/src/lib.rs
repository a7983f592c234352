//! Builds interpreters to Wasm components, for the build scripts of crates that contain them.
//!
//! ```text
//! build script ─▶ build ─▶ nested Cargo, wasm32-unknown-unknown ─▶ core modules ─▶ components
//!                                                              OUT_DIR/<name>.wasm, OUT_DIR/guests.rs
//! ```
//!
//! `cargo run` and `cargo test` need no preparation, even with an empty target folder. A crate that
//! contains guests has this crate in its `[build-dependencies]`, calls [`build`] from its build
//! script and includes the list:
//!
//! ```text
//! pub static BUILT_IN: &[BuiltIn] = include!(concat!(env!("OUT_DIR"), "/guests.rs"));
//! ```

mod cargo;
mod target;

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// A crate that is built to a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guest {
    /// Name in the list, and of the file in `OUT_DIR` (`<name>.wasm`).
    pub name: String,
    /// The package that is built. It must have one `cdylib` with the same name.
    pub package: String,
    /// Folder, relative to the root of the workspace. Changes in it cause a rebuild.
    pub folder: String,
}

/// Error that the build script returns and Cargo shows.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A variable that Cargo sets for build scripts is missing.
    #[error("`{0}` is not set: run this from a build script, through Cargo")]
    NotABuildScript(&'static str),
    /// A folder has an unexpected path.
    #[error("{0}")]
    Layout(&'static str),
    /// The standard library of the guests' target is missing.
    #[error(
        "the Rust target {} is not installed and rustup could not add it: run `rustup target add {}`",
        target::TRIPLE,
        target::TRIPLE
    )]
    NoTarget,
    /// The nested Cargo failed. Contains its output.
    #[error("failed to build the guests ({0}):\n{1}")]
    Cargo(ExitStatus, String),
    /// A built module is not a guest.
    #[error("failed to convert {0} to a component: {1}")]
    Component(String, String),
    /// A file or process operation failed.
    #[error("{0}")]
    Io(String, #[source] io::Error),
}

/// Result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Builds all guests in one run, and writes `OUT_DIR/guests.rs`: an expression, a slice with one
/// `<row> { name, wasm }` for each guest, in the given order.
///
/// Cargo runs the build script again when a guest, the SDK or the contract changes.
///
/// # Errors
/// Cargo shows the error. No partial result is written.
pub fn build(guests: &[Guest], row: &str) -> Result<()> {
    let out = PathBuf::from(variable("OUT_DIR")?);
    let root = workspace_root()?;
    watch(&root, guests);
    target::require()?;
    let modules = cargo::build(&root, &out, guests)?;
    let mut list = String::from("&[\n");
    for (guest, module) in guests.iter().zip(modules) {
        let file = format!("{}.wasm", guest.name);
        write(&out.join(&file), &componentize(guest, &module)?)?;
        // Writing to a String does not fail.
        let _ = writeln!(
            list,
            "    {row} {{ name: {:?}, wasm: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}\")) }},",
            guest.name
        );
    }
    list.push_str("]\n");
    write(&out.join("guests.rs"), list.as_bytes())
}

/// The crates in one folder of the workspace, in order of name. Each is a guest with the name of
/// its folder and the package `<prefix><folder>`.
///
/// # Errors
/// If the folder cannot be read.
pub fn guests_in(folder: &str, prefix: &str) -> Result<Vec<Guest>> {
    let path = workspace_root()?.join(folder);
    let failed = |error| Error::Io(format!("failed to list {}", path.display()), error);
    let mut guests = Vec::new();
    for entry in fs::read_dir(&path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().join("Cargo.toml").is_file() {
            guests.push(Guest {
                package: format!("{prefix}{name}"),
                folder: format!("{folder}/{name}"),
                name,
            });
        }
    }
    guests.sort_by(|a, b| a.name.cmp(&b.name));
    println!("cargo::rerun-if-changed={}", path.display());
    Ok(guests)
}

/// The nearest folder above the crate that contains the lock file.
fn workspace_root() -> Result<PathBuf> {
    let manifest = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let mut above = manifest.ancestors();
    let root = above.find(|folder| folder.join("Cargo.lock").is_file());
    root.map(Path::to_owned).ok_or(Error::Layout(
        "no Cargo.lock in any folder above this crate",
    ))
}

fn watch(root: &Path, guests: &[Guest]) {
    let shared = [
        "wit",
        "sdk/contract",
        "sdk/macros",
        // A guest may amend a built-in rule.
        "plugins",
        "sdk/rules/src",
        "sdk/rust/src",
        "sdk/rust/Cargo.toml",
        "Cargo.toml",
        "Cargo.lock",
    ];
    let shared = shared.iter().map(ToString::to_string);
    let own = guests.iter().flat_map(|guest| {
        ["src", "fixtures", "Cargo.toml"].map(|part| format!("{}/{part}", guest.folder))
    });
    // A path that does not exist would cause Cargo to run the script every time.
    let own = own.filter(|path| root.join(path).exists());
    for path in shared.chain(own) {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
}

fn componentize(guest: &Guest, module: &[u8]) -> Result<Vec<u8>> {
    let encoder = wit_component::ComponentEncoder::default();
    let component = encoder
        .validate(true)
        .module(module)
        .and_then(|mut encoder| encoder.encode());
    component.map_err(|error| Error::Component(guest.package.clone(), format!("{error:#}")))
}

fn variable(name: &'static str) -> Result<String> {
    env::var(name).map_err(|_| Error::NotABuildScript(name))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |error| Error::Io(format!("failed to write {}", path.display()), error);
    fs::write(path, bytes).map_err(failed)
}
