//! The programs of a MongoDB, and where they are found.

use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

use sha2::{Digest, Sha256};

use crate::binaries::{Unavailable, on_path, or_skip, tell};
use crate::build::{cache_root, hex};

/// The variable with the path of the user's own `mongod`.
const MONGOD: &str = "KINDSIGHT_MONGOD";

/// The digests of the libraries, as `sha256sum` writes them.
const CHECKSUMS: &str = include_str!("../../mongodb/checksums.txt");

/// The programs of a MongoDB.
#[derive(Debug, Clone)]
pub enum MongoPrograms {
    /// The user's own server.
    Mongod(PathBuf),
    /// An in-memory server that Java runs.
    Java {
        /// The path of `java` in a JDK.
        java: PathBuf,
        /// The folder of its libraries.
        libraries: PathBuf,
    },
}

impl MongoPrograms {
    /// Finds `mongod` in `KINDSIGHT_MONGOD` or on the `PATH`, or else `java`. Maven downloads the
    /// libraries for Java once.
    ///
    /// # Errors
    /// If neither is found, or the libraries cannot be downloaded.
    pub fn find() -> Result<Self, Unavailable> {
        let own = env::var_os(MONGOD).map(PathBuf::from);
        if let Some(mongod) = own.or_else(|| on_path("mongod")) {
            return Ok(Self::Mongod(mongod));
        }
        let (Some(java), Some(_)) = (on_path("java"), on_path("javac")) else {
            return Err(Unavailable(
                "no MongoDB: neither mongod nor a JDK is on the PATH; install a JDK of 17 or later and Maven".to_owned(),
            ));
        };
        let libraries = libraries()?;
        Ok(Self::Java { java, libraries })
    }

    /// Finds the programs, or prints one line with the reason why this test does not run.
    ///
    /// # Panics
    /// With the same line if `CI` is `true`, because a test that does not run there proves nothing.
    pub fn or_skip() -> Option<Self> {
        static TOLD: Once = Once::new();
        or_skip("tests on a MongoDB", Self::find(), &TOLD)
    }
}

/// The folder of the libraries. Downloads missing libraries, while other processes that need them
/// wait.
fn libraries() -> Result<PathBuf, Unavailable> {
    let name = hex(&Sha256::digest(CHECKSUMS));
    let folder = cache_root().join("mongodb").join(&name[..16]);
    let failed = |error: io::Error| Unavailable(format!("{}: {error}", folder.display()));
    fs::create_dir_all(&folder).map_err(failed)?;
    let lock = File::create(folder.join("lock")).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let ready = folder.join("libraries");
    if ready.is_dir() {
        return Ok(ready);
    }
    let fresh = folder.join("fetching");
    fetch(&fresh)?;
    check(&fresh)?;
    fs::rename(&fresh, &ready).map_err(failed)?;
    Ok(ready)
}

fn fetch(into: &Path) -> Result<(), Unavailable> {
    tell(&format!(
        "fetching a MongoDB in memory once, 3 MB, into {}",
        into.parent().unwrap_or(into).display()
    ));
    let pom = Path::new(env!("CARGO_MANIFEST_DIR")).join("mongodb/pom.xml");
    let output = Command::new("mvn")
        .args(["--quiet", "--batch-mode", "--file"])
        .arg(pom)
        .arg("dependency:copy-dependencies")
        .arg(format!("-DoutputDirectory={}", into.display()))
        .output()
        .map_err(|error| {
            Unavailable(format!(
                "no Maven to fetch a MongoDB in memory with: mvn: {error}"
            ))
        })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let first = said.lines().find(|line| line.contains("ERROR"));
    let first = first.unwrap_or("it did not say why");
    Err(Unavailable(format!("mvn failed: {first}")))
}

/// Compares every library with its digest.
fn check(folder: &Path) -> Result<(), Unavailable> {
    let mut expected: Vec<(&str, &str)> = Vec::new();
    for line in CHECKSUMS.lines() {
        expected.extend(line.split_once("  "));
    }
    let entries = fs::read_dir(folder).map_err(|error| Unavailable(error.to_string()))?;
    let count = entries.count();
    if count != expected.len() {
        let line = format!("mvn fetched {count} libraries and not {}", expected.len());
        return Err(Unavailable(line));
    }
    for (digest, name) in expected {
        let bytes = fs::read(folder.join(name));
        let bytes = bytes.map_err(|error| Unavailable(format!("{name}: {error}")))?;
        if hex(&Sha256::digest(&bytes)) != digest {
            let line = format!("{name} is not the file whose digest is in checksums.txt");
            return Err(Unavailable(line));
        }
    }
    Ok(())
}
