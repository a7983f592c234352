//! A cache of compiled components on disk, so that a start does not compile them again.
//!
//! Compiled code is machine code: if a forged file were accepted, it could run anything. A file is
//! therefore used only with a seal of this host: a keyed MAC over the digest of the component, the
//! engine for which the code was compiled, and the code. The key is stored beside the folder, not
//! in it. A file that was changed, renamed, copied from another host, or written by another program
//! is ignored and replaced. The folder and the key can be deleted at any time: components are then
//! compiled again.
//!
//! This crate does not interpret the code. `kindsight-interpreter` makes and runs it.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod key;
mod private;
mod space;

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use kindsight_model::Digest;

use key::{Key, SEAL_BYTES};
use space::FolderLimits;

/// Largest compiled component, in bytes. Machine code is three to five times as large as its Wasm.
pub const CODE_BYTES_MAX: usize = 256 * 1024 * 1024;

const MAGIC: &[u8; 8] = b"ksaot\0\0\x02";
/// Size of the header before the code in a file, in bytes.
const HEAD_BYTES: usize = MAGIC.len() + SEAL_BYTES;

/// A private folder of compiled components, and the key that seals them.
#[derive(Debug, Clone)]
pub struct CodeCache {
    folder: PathBuf,
    key: Key,
    limits: FolderLimits,
}

impl CodeCache {
    /// Opens the folder and the key beside it (`<folder>.key`), or creates them.
    ///
    /// # Errors
    /// If one of them cannot be created, belongs to another user, or is accessible to others.
    pub fn open(folder: &Path) -> io::Result<Self> {
        private::folder(folder)?;
        // The name of the key must not depend on how the path is written.
        let folder = fs::canonicalize(folder)?;
        Ok(Self {
            key: Key::beside(&folder)?,
            folder,
            limits: FolderLimits::default(),
        })
    }

    /// Reads the code of a component for an engine, if it is cached and sealed by this host.
    /// `engine` identifies everything that determines whether an engine can run the code. Called
    /// once per load.
    pub fn get(&self, digest: &Digest, engine: u64) -> Option<Vec<u8>> {
        let path = self.path(digest, engine);
        let code = private::open(&path).and_then(|file| self.unsealed(file, digest, engine));
        match code {
            Ok(code) => Some(code),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                tracing::warn!(file = %path.display(), %error, "a cached component is not usable; it is compiled again");
                None
            }
        }
    }

    /// Caches the code of a component for an engine. A failure is only logged: the component will
    /// be compiled again.
    pub fn put(&self, digest: &Digest, engine: u64, code: &[u8]) {
        if let Err(error) = self.write(digest, engine, code) {
            tracing::warn!(%digest, %error, "failed to cache a compiled component");
        }
    }

    fn path(&self, digest: &Digest, engine: u64) -> PathBuf {
        let component = digest.as_str().trim_start_matches("sha256:");
        self.folder.join(format!("{component}-{engine:016x}.cwasm"))
    }

    /// Reads the file and verifies its seal.
    fn unsealed(&self, mut file: fs::File, digest: &Digest, engine: u64) -> io::Result<Vec<u8>> {
        let invalid = |what| io::Error::new(io::ErrorKind::InvalidData, what);
        let mut head = [0; HEAD_BYTES];
        let is_whole = file.read_exact(&mut head).is_ok();
        let seal = head.strip_prefix(MAGIC).filter(|_| is_whole);
        let seal =
            seal.ok_or_else(|| invalid("the file is truncated or has a different format"))?;
        // A file that is longer than this is not read completely.
        let bytes_max = CODE_BYTES_MAX as u64 + 1;
        let bytes = file.metadata()?.len().min(bytes_max);
        let mut code = Vec::with_capacity(usize::try_from(bytes).unwrap_or_default());
        file.take(bytes_max).read_to_end(&mut code)?;
        if self.key.is_sealed(digest, engine, &code, seal) {
            Ok(code)
        } else {
            Err(invalid("the file is not sealed with the key of this host"))
        }
    }

    /// Writes a temporary file and renames it, so that no process reads a partial file.
    fn write(&self, digest: &Digest, engine: u64, code: &[u8]) -> io::Result<()> {
        // The folder may have been deleted since it was opened.
        private::folder(&self.folder)?;
        let path = self.path(digest, engine);
        self.limits
            .evict_for(&self.folder, &path, (HEAD_BYTES + code.len()) as u64)?;
        let temporary = path.with_extension(format!("{:016x}.tmp", private::random()?));
        let seal = self.key.seal(digest, engine, code);
        let written = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&temporary)
            .and_then(|mut file| {
                file.write_all(MAGIC)?;
                file.write_all(&seal)?;
                file.write_all(code)
            })
            .and_then(|()| fs::rename(&temporary, &path));
        if written.is_err() {
            // The file may not exist, and the first error is the one to report.
            let _ = fs::remove_file(&temporary);
        }
        written
    }
}
