//! Files of access control: read with a limit, and read again when they change.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// Maximum size of a file of access control, in bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Interval at which the files are polled. Not every mount sends change events, and there are only a few files.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The reason why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum AccessFileError {
    /// The system refused.
    #[error("read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is too large.
    #[error("{} is larger than {FILE_BYTES_MAX} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
}

/// Reads a text file of limited size.
///
/// # Errors
/// [`AccessFileError`] with the file.
pub(crate) fn read(path: &Path) -> Result<String, AccessFileError> {
    let failed = |source| AccessFileError::Read {
        path: path.to_owned(),
        source,
    };
    let mut text = String::new();
    let file = File::open(path).map_err(failed)?;
    file.take(FILE_BYTES_MAX + 1)
        .read_to_string(&mut text)
        .map_err(failed)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(AccessFileError::TooLarge {
            path: path.to_owned(),
        });
    }
    Ok(text)
}

/// Metadata of a file that changes whenever its content changes; `None` for a missing file.
type Stamp = Option<(i64, i64, u64, u64)>;

/// Calls `changed` once, and then each time that a file changed. A file counts as changed once its metadata have been
/// the same for one interval, so that unfinished files are not read. The first call covers a change between the
/// caller's own first read and this function. The future does not end.
pub async fn follow_files(paths: Vec<PathBuf>, mut changed: impl FnMut()) {
    let (mut known, mut seen) = (Vec::new(), Vec::new());
    loop {
        sleep(POLL_INTERVAL).await;
        let now = stamps(&paths).await;
        if now == seen && now != known {
            known.clone_from(&now);
            changed();
        }
        seen = now;
    }
}

async fn stamps(paths: &[PathBuf]) -> Vec<Stamp> {
    let paths = paths.to_vec();
    let look = move || paths.iter().map(|path| stamp(path)).collect();
    // Fails only when the executor stops.
    spawn_blocking(look).await.unwrap_or_default()
}

fn stamp(path: &Path) -> Stamp {
    let of = path.metadata().ok()?;
    Some((of.mtime(), of.mtime_nsec(), of.size(), of.ino()))
}
