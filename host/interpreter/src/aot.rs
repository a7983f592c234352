//! Compiled components on disk, so that a start need not compile them again.
//!
//! Compiled code is machine code: whoever can put a file here that is accepted can run anything.
//! So a file counts only with a seal of this host: a keyed MAC over the component it is for, the
//! engine it is for, and the code. The key lies beside the folder, not in it. A file that was changed, given the
//! name of another, copied from another host, or written by somebody else is compiled again and
//! replaced. The folder can be deleted at any time, and so can the key: both cost compiles.

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
use space::Space;

const MAGIC: &[u8; 8] = b"ksaot\0\0\x02";
/// What stands before the code in a file.
const HEAD_BYTES: usize = MAGIC.len() + SEAL_BYTES;

/// A private folder of compiled components, and the key that seals them.
#[derive(Debug, Clone)]
pub struct AotCache {
    folder: PathBuf,
    key: Key,
    space: Space,
}

impl AotCache {
    /// Opens the folder and the key beside it (`<folder>.key`); makes what is not there.
    ///
    /// # Errors
    /// When one of them cannot be made, or belongs to or is open to somebody else.
    pub fn open(folder: &Path) -> io::Result<Self> {
        private::folder(folder)?;
        // The name of the key must not hang on how the folder was written down.
        let folder = fs::canonicalize(folder)?;
        Ok(Self {
            key: Key::beside(&folder)?,
            folder,
            space: Space::default(),
        })
    }

    /// The compiled component, if it is there, sealed by this host, and of this engine.
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
                tracing::warn!(file = %path.display(), %error, "compiled component not used: it is compiled again");
                None
            }
        }
    }

    /// Keeps a compiled component. What goes wrong is logged: it costs a compile, later.
    pub(crate) fn put(&self, digest: &Digest, engine: &Engine, code: &[u8]) {
        if let Err(error) = self.write(digest, engine, code) {
            tracing::warn!(%digest, %error, "compiled component not kept");
        }
    }

    fn path(&self, digest: &Digest, engine: &Engine) -> PathBuf {
        let component = digest.as_str().trim_start_matches("sha256:");
        let engine = compatibility(engine);
        self.folder.join(format!("{component}-{engine:016x}.cwasm"))
    }

    /// The whole file, where its seal is right.
    fn unsealed(&self, file: fs::File, digest: &Digest, engine: &Engine) -> io::Result<Vec<u8>> {
        let invalid = |what| io::Error::new(io::ErrorKind::InvalidData, what);
        let mut bytes = Vec::new();
        file.take((HEAD_BYTES + CODE_BYTES_MAX + 1) as u64)
            .read_to_end(&mut bytes)?;
        let sealed = bytes.strip_prefix(MAGIC);
        let (seal, code) = sealed
            .and_then(|sealed| sealed.split_at_checked(SEAL_BYTES))
            .ok_or_else(|| invalid("it is of another version, or cut short"))?;
        if !self.key.sealed(digest, compatibility(engine), code, seal) {
            return Err(invalid("it does not carry the seal of this host"));
        }
        Ok(bytes)
    }

    /// Written beside its place and renamed, so that nobody reads half.
    fn write(&self, digest: &Digest, engine: &Engine, code: &[u8]) -> io::Result<()> {
        // Whoever deleted the folder may have done so a moment ago.
        private::folder(&self.folder)?;
        let path = self.path(digest, engine);
        self.space
            .make_room(&self.folder, &path, (HEAD_BYTES + code.len()) as u64)?;
        let beside = path.with_extension(format!("{:016x}.tmp", private::random()?));
        let seal = self.key.seal(digest, compatibility(engine), code);
        let written = fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&beside)
            .and_then(|mut file| {
                file.write_all(MAGIC)?;
                file.write_all(&seal)?;
                file.write_all(code)
            })
            .and_then(|()| fs::rename(&beside, &path));
        if written.is_err() {
            // It may not be there at all; the error that counts is the first one.
            let _ = fs::remove_file(&beside);
        }
        written
    }
}

/// Which engines can run the code: its version, its settings, and the processor.
fn compatibility(engine: &Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    let engine = engine.inner();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}

/// The one place where this project trusts bytes to be machine code.
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
