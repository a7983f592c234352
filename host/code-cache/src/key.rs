//! The key of this host, which seals compiled components.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use kindsight_model::Digest;
use sha2::Sha256;

use crate::private;

const KEY_BYTES: usize = 32;
/// The size of a seal, which is an HMAC-SHA-256.
pub(crate) const SEAL_BYTES: usize = 32;
/// A domain separator, so that the key can also be used for other purposes.
const DOMAIN: &[u8] = b"kindsight compiled component 2\0";

/// A key that is ready for use.
#[derive(Clone)]
pub(crate) struct Key(Hmac<Sha256>);

impl Key {
    /// Reads the key in `<folder>.key`, or creates the key if it does not exist.
    ///
    /// # Errors
    /// If the key cannot be created or read, belongs to another user, or is accessible to others. A
    /// file that is not a key is not replaced.
    pub(crate) fn beside(folder: &Path) -> io::Result<Self> {
        let path = path_beside(folder)?;
        let key = match read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make(&path)?;
                read(&path)
            }
            read => read,
        }?;
        Hmac::new_from_slice(&key)
            .map(Self)
            .map_err(io::Error::other)
    }

    /// Computes the seal of this code.
    pub(crate) fn seal(&self, digest: &Digest, engine: u64, code: &[u8]) -> [u8; SEAL_BYTES] {
        let mac = self.over(digest, engine, code);
        mac.finalize().into_bytes().into()
    }

    /// Returns whether the seal was made with this key. The time is the same for every wrong seal.
    pub(crate) fn is_sealed(&self, digest: &Digest, engine: u64, code: &[u8], seal: &[u8]) -> bool {
        self.over(digest, engine, code).verify_slice(seal).is_ok()
    }

    /// Computes the MAC. Every part before the code has a fixed length, so two different inputs
    /// never have the same encoding.
    fn over(&self, digest: &Digest, engine: u64, code: &[u8]) -> Hmac<Sha256> {
        self.0
            .clone()
            .chain_update(DOMAIN)
            .chain_update(digest.as_str())
            .chain_update(engine.to_le_bytes())
            .chain_update(code)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

fn path_beside(folder: &Path) -> io::Result<PathBuf> {
    let name = folder.file_name().ok_or_else(|| {
        let what = format!(
            "{} has no parent folder to put the key in",
            folder.display()
        );
        io::Error::new(io::ErrorKind::InvalidInput, what)
    })?;
    let mut name: OsString = name.to_owned();
    name.push(".key");
    Ok(folder.with_file_name(name))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut key = Vec::with_capacity(KEY_BYTES + 1);
    let file = private::open(path)?;
    file.take(KEY_BYTES as u64 + 1).read_to_end(&mut key)?;
    if key.len() == KEY_BYTES {
        return Ok(key);
    }
    let what = format!("{} is not a key of {KEY_BYTES} bytes", path.display());
    Err(io::Error::new(io::ErrorKind::InvalidData, what))
}

/// Creates a key atomically. If another process was faster, its key is kept.
fn make(path: &Path) -> io::Result<()> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    let temporary = path.with_extension(format!("key.{:016x}.tmp", private::random()?));
    let made = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)
        .and_then(|mut file| {
            file.write_all(&key)?;
            file.sync_all()
        })
        // A link, unlike a rename, never replaces an existing key.
        .and_then(|()| fs::hard_link(&temporary, path));
    // The file may not exist.
    let _ = fs::remove_file(&temporary);
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> Key {
        Key(Hmac::new_from_slice(&[byte; KEY_BYTES]).expect("a key"))
    }

    #[test]
    fn a_seal_is_for_one_component_one_engine_one_code_and_one_host() {
        let (this, other) = (Digest::of(b"this"), Digest::of(b"other"));
        let seal = key(1).seal(&this, 7, b"code");
        assert!(key(1).is_sealed(&this, 7, b"code", &seal));
        assert!(!key(1).is_sealed(&other, 7, b"code", &seal));
        assert!(!key(1).is_sealed(&this, 8, b"code", &seal));
        assert!(!key(1).is_sealed(&this, 7, b"codes", &seal));
        assert!(!key(2).is_sealed(&this, 7, b"code", &seal));
        assert!(!key(1).is_sealed(&this, 7, b"code", &seal[..31]));
    }

    #[test]
    fn an_existing_key_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("aot.key");
        make(&path).expect("made");
        let first = read(&path).expect("a key");
        make(&path).expect("kept");
        assert_eq!(read(&path).expect("a key"), first);
        let names = fs::read_dir(folder.path()).expect("the folder");
        assert_eq!(names.count(), 1, "no other file remains");
    }

    #[test]
    fn a_folder_without_a_parent_is_refused() {
        assert!(path_beside(Path::new("/")).is_err());
    }
}
