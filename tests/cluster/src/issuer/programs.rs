//! The programs of an issuer, and where they are found.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

use sha2::{Digest, Sha256};

use crate::binaries::{Unavailable, on_path, or_skip, tell};
use crate::build::hex;

/// The sources of the issuer, from the folder of this crate.
const SOURCES: &str = "../issuer";
/// The sources that are copied beside the libraries, because Node finds libraries from there.
const FILES: [&str; 3] = ["issuer.mjs", "package.json", "package-lock.json"];
/// The folder below which the libraries are installed, from the folder of this crate.
const INSTALLED: &str = "../../target/issuer";

/// The programs of an issuer: Node, and a script with its libraries.
#[derive(Debug, Clone)]
pub struct IssuerPrograms {
    node: PathBuf,
    script: PathBuf,
}

impl IssuerPrograms {
    /// Finds Node on the `PATH`. `npm ci` installs the libraries once, below `target`.
    ///
    /// # Errors
    /// If Node or npm is not found, or the libraries cannot be installed.
    pub fn find() -> Result<Self, Unavailable> {
        let (Some(node), Some(npm)) = (on_path("node"), on_path("npm")) else {
            let line =
                "node and npm are not both on the PATH; install Node from https://nodejs.org";
            return Err(Unavailable(line.to_owned()));
        };
        let script = install(&npm)?.join("issuer.mjs");
        Ok(Self { node, script })
    }

    /// Finds the programs, or prints one line with the reason why this test does not run.
    ///
    /// # Panics
    /// With the same line if `CI` is `true`, because a test that does not run there proves nothing.
    pub fn or_skip() -> Option<Self> {
        static TOLD: Once = Once::new();
        or_skip("tests on an OIDC issuer", Self::find(), &TOLD)
    }

    pub(crate) fn node(&self) -> &Path {
        &self.node
    }

    pub(crate) fn arguments(&self, port: u16) -> Vec<String> {
        vec![self.script.display().to_string(), format!("--port={port}")]
    }
}

/// Returns the folder of the script and its libraries. Installs them if they are missing, while
/// other processes that need them wait.
fn install(npm: &Path) -> Result<PathBuf, Unavailable> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(INSTALLED);
    let failed = |error: io::Error| Unavailable(format!("{}: {error}", root.display()));
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join(SOURCES);
    let files = FILES.map(|name| fs::read(sources.join(name)).map(|bytes| (name, bytes)));
    let files: Vec<_> = files
        .into_iter()
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    let ready = root.join(&digest(&files)[..16]);
    fs::create_dir_all(&root).map_err(failed)?;
    let lock = File::create(root.join("lock")).map_err(failed)?;
    lock.lock().map_err(failed)?;
    if ready.is_dir() {
        return Ok(ready);
    }
    let fresh = root.join("installing");
    // An earlier installation may have failed.
    let _ = fs::remove_dir_all(&fresh);
    fs::create_dir(&fresh).map_err(failed)?;
    for (name, bytes) in &files {
        fs::write(fresh.join(name), bytes).map_err(failed)?;
    }
    install_libraries(npm, &fresh)?;
    fs::rename(&fresh, &ready).map_err(failed)?;
    Ok(ready)
}

fn digest(files: &[(&str, Vec<u8>)]) -> String {
    let mut digest = Sha256::new();
    for (_, bytes) in files {
        digest.update(bytes);
    }
    hex(&digest.finalize())
}

/// Installs the libraries of the lock file.
fn install_libraries(npm: &Path, folder: &Path) -> Result<(), Unavailable> {
    tell("installing an OIDC issuer once, 4 MB");
    let output = Command::new(npm)
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(folder)
        .output()
        .map_err(|error| Unavailable(format!("npm: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let first = errors.lines().find(|line| line.starts_with("npm error"));
    let first = first.unwrap_or("npm did not say why");
    Err(Unavailable(format!("npm ci failed: {first}")))
}
