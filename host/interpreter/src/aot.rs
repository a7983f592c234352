//! Compiled components on disk, so that a start need not compile them again.
//!
//! Compiled code is machine code: whoever can put a file here can run anything. The folder is
//! private to its owner (0700) and refused otherwise, every file carries a checksum of its content,
//! and its name says which component and which engine it is for. It can be deleted at any time.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use wasmtime::component::Component;

use crate::{Digest, Engine};

const MAGIC: &[u8; 8] = b"ksaot\0\0\x01";
const SUM_BYTES: usize = 32;
/// The largest file that is read back, in bytes.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// A private folder of compiled components.
#[derive(Debug, Clone)]
pub struct AotCache {
    folder: PathBuf,
}

impl AotCache {
    /// Opens the folder, and makes it when it is not there.
    ///
    /// # Errors
    /// When it cannot be made, or belongs to or is open to somebody else.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let metadata = fs::symlink_metadata(folder)?;
        let mine = metadata.uid() == rustix::process::geteuid().as_raw();
        if !metadata.is_dir() || !mine || metadata.permissions().mode() & 0o077 != 0 {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!(
                    "{} must be a folder of this user with mode 0700",
                    folder.display()
                ),
            ));
        }
        Ok(Self {
            folder: folder.to_owned(),
        })
    }

    fn path(&self, digest: &Digest, engine: &Engine) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        engine
            .inner()
            .precompile_compatibility_hash()
            .hash(&mut hasher);
        let component = digest.as_str().trim_start_matches("sha256:");
        self.folder
            .join(format!("{component}-{:016x}.cwasm", hasher.finish()))
    }

    /// The compiled component, if it is there, whole, and of this engine.
    pub(crate) fn get(&self, digest: &Digest, engine: &Engine) -> Option<Component> {
        let file = fs::File::open(self.path(digest, engine)).ok()?;
        let mut bytes = Vec::new();
        file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        let (sum, code) = bytes.strip_prefix(MAGIC)?.split_at_checked(SUM_BYTES)?;
        if Sha256::digest(code).as_slice() != sum {
            return None;
        }
        deserialize(engine, code)
    }

    /// Keeps a compiled component: written beside its place and renamed, so that nobody reads half.
    pub(crate) fn put(&self, digest: &Digest, engine: &Engine, component: &Component) {
        let kept = component
            .serialize()
            .map_err(io::Error::other)
            .and_then(|code| Self::write(&self.path(digest, engine), &code));
        if let Err(error) = kept {
            tracing::warn!(%digest, %error, "compiled component not kept");
        }
    }

    fn write(path: &Path, code: &[u8]) -> io::Result<()> {
        let beside = path.with_extension(format!("{}.tmp", std::process::id()));
        let mut file = fs::File::create(&beside)?;
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
        file.write_all(MAGIC)?;
        file.write_all(&Sha256::digest(code))?;
        file.write_all(code)?;
        fs::rename(&beside, path)
    }
}

/// The one place where this project trusts bytes to be machine code.
#[expect(
    unsafe_code,
    reason = "wasmtime cannot check machine code; the folder is private and the checksum holds"
)]
fn deserialize(engine: &Engine, code: &[u8]) -> Option<Component> {
    // SAFETY: the bytes were written by `put` of this user, into a folder only this user can write,
    // and are whole; wasmtime itself refuses those of another version or configuration.
    unsafe { Component::deserialize(engine.inner(), code) }.ok()
}
