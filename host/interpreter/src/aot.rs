//! Cache of compiled components on disk, so that a start need not compile them again.
//!
//! Compiled code is machine code: a forged file that is accepted can run anything. So a file is
//! used only with a seal of this host: a keyed MAC over the digest of the component, the
//! compatibility of the engine, and the code. The key lies beside the folder, not in it. A file
//! that was changed, renamed, copied from another host, or written by somebody else is ignored and
//! replaced. The folder and the key can be deleted at any time: components are then compiled again.

mod key;
mod private;
mod space;

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use wasmtime::component::Component;

use crate::limits::CODE_BYTES_MAX;
use kindsight_model::Digest;

use crate::Engine;
use key::{Key, SEAL_BYTES};
use space::FolderLimits;

const MAGIC: &[u8; 8] = b"ksaot\0\0\x02";
/// Bytes before the code in a file.
const HEAD_BYTES: usize = MAGIC.len() + SEAL_BYTES;

/// A private folder of compiled components, and the key that seals them.
#[derive(Debug, Clone)]
pub struct AotCache {
    folder: PathBuf,
    key: Key,
    limits: FolderLimits,
}

impl AotCache {
    /// Opens the folder and the key beside it (`<folder>.key`), or creates them.
    ///
    /// # Errors
    /// When one of them cannot be created, belongs to another user, or is accessible to others.
    pub fn open(folder: &Path) -> io::Result<Self> {
        private::folder(folder)?;
        // The name of the key must not depend on the spelling of the path.
        let folder = fs::canonicalize(folder)?;
        Ok(Self {
            key: Key::beside(&folder)?,
            folder,
            limits: FolderLimits::default(),
        })
    }

    /// Reads a compiled component, if it is cached, sealed by this host, and for this engine.
    pub(crate) fn get(&self, digest: &Digest, engine: &Engine) -> Option<Component> {
        let path = self.path(digest, engine);
        let kept = match private::open(&path) {
            Ok(file) => self.unsealed(file, digest, engine),
            Err(error) => Err(error),
        };
        match kept {
            Ok(code) => deserialize(engine, code.get(HEAD_BYTES..)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                tracing::warn!(file = %path.display(), %error, "ignoring a cached component and compiling it again");
                None
            }
        }
    }

    /// Caches a compiled component. A failure is only logged: the component is compiled again
    /// later.
    pub(crate) fn put(&self, digest: &Digest, engine: &Engine, code: &[u8]) {
        if let Err(error) = self.write(digest, engine, code) {
            tracing::warn!(%digest, %error, "failed to cache a compiled component");
        }
    }

    fn path(&self, digest: &Digest, engine: &Engine) -> PathBuf {
        let component = digest.as_str().trim_start_matches("sha256:");
        let engine = compatibility(engine);
        self.folder.join(format!("{component}-{engine:016x}.cwasm"))
    }

    /// Reads the whole file and verifies its seal.
    fn unsealed(&self, file: fs::File, digest: &Digest, engine: &Engine) -> io::Result<Vec<u8>> {
        let invalid = |what| io::Error::new(io::ErrorKind::InvalidData, what);
        let mut bytes = Vec::new();
        file.take((HEAD_BYTES + CODE_BYTES_MAX + 1) as u64)
            .read_to_end(&mut bytes)?;
        let sealed = bytes.strip_prefix(MAGIC);
        let (seal, code) = sealed
            .and_then(|sealed| sealed.split_at_checked(SEAL_BYTES))
            .ok_or_else(|| invalid("the file has another format or is truncated"))?;
        if !self
            .key
            .is_sealed(digest, compatibility(engine), code, seal)
        {
            return Err(invalid("the file is not sealed with the key of this host"));
        }
        Ok(bytes)
    }

    /// Writes a temporary file and renames it, so that nobody reads a part.
    fn write(&self, digest: &Digest, engine: &Engine, code: &[u8]) -> io::Result<()> {
        // The folder may have been deleted meanwhile.
        private::folder(&self.folder)?;
        let path = self.path(digest, engine);
        self.limits
            .evict_for(&self.folder, &path, (HEAD_BYTES + code.len()) as u64)?;
        let temporary = path.with_extension(format!("{:016x}.tmp", private::random()?));
        let seal = self.key.seal(digest, compatibility(engine), code);
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
            // It may not exist; the first error is the one to report.
            let _ = fs::remove_file(&temporary);
        }
        written
    }
}

/// Hash of all that decides whether an engine can run the code: version, settings and processor.
fn compatibility(engine: &Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    let engine = engine.inner();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}

/// Loads machine code: the only code of this project that trusts bytes to be such.
#[expect(
    unsafe_code,
    reason = "wasmtime cannot check machine code; the seal of this host does"
)]
pub(crate) fn deserialize(engine: &Engine, code: &[u8]) -> Option<Component> {
    // SAFETY: the bytes were made by this host's compiler: they come from it directly, or from a
    // file that carries the seal of a key which only this user can read. wasmtime itself refuses
    // those of another version or configuration.
    unsafe { Component::deserialize(engine.inner(), code) }.ok()
}
