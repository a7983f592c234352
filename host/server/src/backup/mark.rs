//! The mark of a backup: its version, and the versions of the formats in it.

use std::path::Path;

use kindsight_catalog::STATE_FORMAT;
use kindsight_pipeline::REMEMBERED_VERSION;
use kindsight_store::{Batch, Error as StoreError, FORMAT_VERSION, Store};
use serde::{Deserialize, Serialize};

use super::BackupError;

/// Key of the mark. Only a backup has it.
const KEY: &str = "/kindsight/backup/";

/// The version of the layout of a backup.
const BACKUP_VERSION: u64 = 1;

/// The release of this program.
const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// The mark that makes a store a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Mark {
    version: u64,
    /// The release that made the backup.
    release: String,
    /// Time at which the backup was begun, in Unix milliseconds.
    made_ms: i64,
    formats: Formats,
}

/// The newest versions that the release writes. The data may have earlier versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Formats {
    store: u64,
    interpreters: u64,
    last_known: u64,
}

/// The versions of this release.
const FORMATS: Formats = Formats {
    store: FORMAT_VERSION,
    interpreters: STATE_FORMAT as u64,
    last_known: REMEMBERED_VERSION,
};

/// The members that every version of a mark has.
#[derive(Deserialize)]
struct AnyMark {
    version: u64,
    release: String,
}

impl Mark {
    /// The mark of a backup that this release makes.
    pub(super) fn new(now_ms: i64) -> Self {
        Self {
            version: BACKUP_VERSION,
            release: RELEASE.to_owned(),
            made_ms: now_ms,
            formats: FORMATS,
        }
    }
}

/// Writes the mark, when everything else is in the backup.
pub(super) fn write(backup: &dyn Store, mark: &Mark) -> Result<(), StoreError> {
    let value = serde_json::to_vec(mark).map_err(|error| StoreError::Backend(Box::new(error)))?;
    backup.apply(&Batch::new().put(KEY, value)).map(drop)
}

/// Adds the removal of the mark to a batch.
pub(super) fn remove(batch: Batch) -> Batch {
    batch.delete(KEY)
}

/// Checks that a store is a complete backup, and that this release supports everything in it. `file` is named in errors.
pub(super) fn check(backup: &dyn Store, file: &Path) -> Result<(), BackupError> {
    let not_a_backup = |why: String| BackupError::NotABackup {
        path: file.to_owned(),
        why,
    };
    let stored = backup.get(KEY).map_err(|source| BackupError::Open {
        what: file.display().to_string(),
        source,
    })?;
    let stored = stored.ok_or_else(|| {
        not_a_backup("it has no mark of a backup; copy a store with `kindsight store copy`".into())
    })?;
    let unreadable =
        |error: serde_json::Error| not_a_backup(format!("its mark is damaged: {error}"));
    let any: AnyMark = serde_json::from_slice(&stored).map_err(unreadable)?;
    let newer = |(what, found, known)| BackupError::Newer {
        path: file.to_owned(),
        release: any.release.clone(),
        what,
        found,
        known,
    };
    // The structure of another version is not known here.
    if any.version > BACKUP_VERSION {
        return Err(newer(("the backup", any.version, BACKUP_VERSION)));
    }
    let Mark { formats, .. } = serde_json::from_slice(&stored).map_err(unreadable)?;
    let versions = [
        ("the store", formats.store, FORMATS.store),
        (
            "the catalog of interpreters",
            formats.interpreters,
            FORMATS.interpreters,
        ),
        (
            "the last-known state",
            formats.last_known,
            FORMATS.last_known,
        ),
    ];
    let unknown = versions.into_iter().find(|(_, found, known)| found > known);
    unknown.map_or(Ok(()), |unknown| Err(newer(unknown)))
}
