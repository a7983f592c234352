//! The programs of an issuer, and where they are found.

use std::path::{Path, PathBuf};
use std::sync::Once;

use crate::binaries::{Unavailable, on_path, or_skip};
use crate::npm::NpmPackage;

/// The script of the issuer and its libraries.
const PACKAGE: NpmPackage = NpmPackage {
    sources: "../issuer",
    files: &["issuer.mjs", "package.json", "package-lock.json"],
    installed: "../../target/issuer",
    download: "an OIDC issuer (4 MB)",
};

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
        let script = PACKAGE.install(&npm)?.join("issuer.mjs");
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
