//! Libraries from npm, which are installed once below `target`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::binaries::{Unavailable, tell};
use crate::build::hex;

/// A folder with a lock file, and possibly scripts that use its libraries.
pub(crate) struct NpmPackage {
    /// The folder, from the folder of this crate.
    pub(crate) sources: &'static str,
    /// Its files that are copied beside the libraries, because Node finds libraries from there.
    pub(crate) files: &'static [&'static str],
    /// The folder below which the libraries are installed, from the folder of this crate.
    pub(crate) installed: &'static str,
    /// The name and size of the download for the user.
    pub(crate) download: &'static str,
}

impl NpmPackage {
    /// Returns the folder with the copied files and the libraries. Installs them if they are
    /// missing, while other processes that need them wait.
    ///
    /// # Errors
    /// If npm cannot install them.
    pub(crate) fn install(&self, npm: &Path) -> Result<PathBuf, Unavailable> {
        let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = crate_folder.join(self.installed);
        let failed = |error: io::Error| Unavailable(format!("{}: {error}", root.display()));
        let sources = crate_folder.join(self.sources);
        let files = self.files.iter();
        let files = files.map(|name| fs::read(sources.join(name)).map(|bytes| (*name, bytes)));
        let files: Vec<_> = files.collect::<Result<_, _>>().map_err(failed)?;
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
        self.install_libraries(npm, &fresh)?;
        fs::rename(&fresh, &ready).map_err(failed)?;
        Ok(ready)
    }

    /// Installs the libraries of the lock file.
    fn install_libraries(&self, npm: &Path, folder: &Path) -> Result<(), Unavailable> {
        tell(&format!("installing {} once", self.download));
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
}

fn digest(files: &[(&str, Vec<u8>)]) -> String {
    let mut digest = Sha256::new();
    for (_, bytes) in files {
        digest.update(bytes);
    }
    hex(&digest.finalize())
}
