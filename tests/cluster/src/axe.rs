//! axe-core, which finds barriers for people with disabilities in a web page.

use std::fs;
use std::sync::Once;

use crate::binaries::{Unavailable, on_path, or_skip};
use crate::npm::NpmPackage;

const PACKAGE: NpmPackage = NpmPackage {
    sources: "../browser",
    files: &["package.json", "package-lock.json"],
    installed: "../../target/browser",
    download: "axe-core (3 MB)",
};
/// The script, from the folder of the libraries.
const SCRIPT: &str = "node_modules/axe-core/axe.min.js";

/// Returns the script of axe-core, or prints one line with the reason why this test does not run.
/// `npm ci` installs the script once, below `target`.
///
/// # Panics
/// With the same line if `CI` is `true`, because a test that does not run there proves nothing.
pub fn axe_or_skip() -> Option<String> {
    static TOLD: Once = Once::new();
    or_skip("tests of accessibility", find(), &TOLD)
}

fn find() -> Result<String, Unavailable> {
    let missing =
        || Unavailable("npm is not on the PATH; install Node from https://nodejs.org".to_owned());
    let npm = on_path("npm").ok_or_else(missing)?;
    let script = PACKAGE.install(&npm)?.join(SCRIPT);
    fs::read_to_string(&script)
        .map_err(|error| Unavailable(format!("{}: {error}", script.display())))
}
