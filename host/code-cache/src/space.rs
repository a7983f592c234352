//! Limits of the folder of compiled components.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum total size of the files in the folder, in bytes.
const CACHE_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Maximum number of files in the folder.
const CACHE_FILES_MAX: usize = 256;

/// Limits of one folder.
#[derive(Debug, Clone)]
pub(crate) struct FolderLimits {
    bytes_max: u64,
    files_max: usize,
}

impl Default for FolderLimits {
    fn default() -> Self {
        Self {
            bytes_max: CACHE_BYTES_MAX,
            files_max: CACHE_FILES_MAX,
        }
    }
}

struct CachedFile {
    written: SystemTime,
    bytes: u64,
    path: PathBuf,
}

impl FolderLimits {
    /// Removes the oldest files until `path` with its `bytes` fits. Files that do not belong to
    /// this cache are neither counted nor removed.
    ///
    /// # Errors
    /// If the folder cannot be read, or the file alone is over the limit.
    pub(crate) fn evict_for(&self, folder: &Path, path: &Path, bytes: u64) -> io::Result<()> {
        if bytes > self.bytes_max {
            let what = format!(
                "the file has {bytes} bytes, and the limit of the folder is {} bytes",
                self.bytes_max
            );
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
        }
        let mut files = list(folder, path)?;
        files.sort_unstable_by_key(|file| file.written);
        let mut sum: u64 = files.iter().map(|file| file.bytes).sum();
        let mut count = files.len();
        for oldest in files {
            if sum.saturating_add(bytes) <= self.bytes_max && count < self.files_max {
                break;
            }
            // Another process that shares the folder may have removed the file already.
            let _ = fs::remove_file(&oldest.path);
            sum = sum.saturating_sub(oldest.bytes);
            count -= 1;
        }
        Ok(())
    }
}

/// Lists the files of the cache without the file that will be replaced.
fn list(folder: &Path, replaced: &Path) -> io::Result<Vec<CachedFile>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if path == *replaced || !is_of_the_cache(&entry.file_name().to_string_lossy()) {
            continue;
        }
        // A file that was removed since the listing does not count.
        if let Ok(metadata) = entry.metadata() {
            files.push(CachedFile {
                written: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
                bytes: metadata.len(),
                path,
            });
        }
    }
    Ok(files)
}

/// Returns whether a name belongs to this cache: component, engine, and `cwasm`, or `tmp` for a
/// temporary file of a host that ended during the write.
fn is_of_the_cache(name: &str) -> bool {
    let Some((stem, extension)) = name.split_once('.') else {
        return false;
    };
    let is_hex = |text: &str, digits| {
        text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let is_stem = stem
        .split_once('-')
        .is_some_and(|(component, engine)| is_hex(component, 64) && is_hex(engine, 16));
    is_stem
        && (extension == "cwasm"
            || extension
                .strip_suffix(".tmp")
                .is_some_and(|random| is_hex(random, 16)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn name(number: u8) -> String {
        format!("{number:064x}-{:016x}.cwasm", 7)
    }

    /// A folder with files of these sizes in bytes, written in this order.
    fn folder(sizes: &[u64]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (number, size) in (0_u8..).zip(sizes) {
            let file = fs::File::create(folder.path().join(name(number))).expect("a file");
            file.set_len(*size).expect("a size");
            let written = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::from(number) + 1);
            file.set_modified(written).expect("a time");
        }
        folder
    }

    fn left(folder: &tempfile::TempDir) -> Vec<String> {
        let entries = fs::read_dir(folder.path()).expect("the folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = names
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_oldest_are_removed_until_the_bytes_fit() {
        let folder = folder(&[400, 300, 200]);
        let limits = FolderLimits {
            bytes_max: 1000,
            files_max: 100,
        };
        let new = folder.path().join(name(9));
        limits.evict_for(folder.path(), &new, 100).expect("evicted");
        assert_eq!(left(&folder), [name(0), name(1), name(2)]);
        limits.evict_for(folder.path(), &new, 600).expect("evicted");
        assert_eq!(left(&folder), [name(2)]);
        assert!(limits.evict_for(folder.path(), &new, 1001).is_err());
        assert_eq!(
            left(&folder),
            [name(2)],
            "nothing is removed for a file that cannot fit"
        );
    }

    #[test]
    fn the_oldest_are_removed_until_the_count_fits() {
        let folder = folder(&[1, 1, 1]);
        let limits = FolderLimits {
            bytes_max: 1000,
            files_max: 3,
        };
        let new = folder.path().join(name(9));
        let replaced = folder.path().join(name(0));
        limits
            .evict_for(folder.path(), &replaced, 1)
            .expect("evicted");
        assert_eq!(left(&folder), [name(0), name(1), name(2)]);
        limits.evict_for(folder.path(), &new, 1).expect("evicted");
        assert_eq!(left(&folder), [name(1), name(2)]);
    }

    #[test]
    fn temporary_files_are_removed_and_foreign_files_stay() {
        let folder = folder(&[]);
        let half = format!("{:064x}-{:016x}.{:016x}.tmp", 1, 7, 8);
        for name in ["letters.txt", "a.cwasm", &half] {
            fs::write(folder.path().join(name), [0; 600]).expect("a file");
        }
        let limits = FolderLimits {
            bytes_max: 1000,
            files_max: 100,
        };
        let new = folder.path().join(name(9));
        limits.evict_for(folder.path(), &new, 900).expect("evicted");
        assert_eq!(left(&folder), ["a.cwasm", "letters.txt"]);
    }
}
