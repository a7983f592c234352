//! The data folder of a server: its store, its compiled interpreters, and what was last known.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kindsight_pipeline::RememberedFile;
use kindsight_store::{Error as StoreError, RedbStore, Store, chain};

use crate::error::Error;

/// Name of the file of what was last known.
const REMEMBERED: &str = "remembered.redb";

/// Extension of one that was set aside; it replaces an earlier one.
const ASIDE: &str = "set-aside";

/// A folder that one server at a time keeps its state in.
pub struct DataDir {
    /// The store in it.
    pub store: Arc<dyn Store>,
    /// The folder of compiled components in it.
    pub cache: PathBuf,
    /// What was last known before the start; none where the file cannot be used.
    pub remembered: Option<RememberedFile>,
}

impl DataDir {
    /// Opens a folder. One that is missing is made, and only its owner may look into it.
    ///
    /// # Errors
    /// [`Error::DataDir`] where it cannot be made, [`Error::OpenStore`] where its store cannot be
    /// opened: another server has it open, or a later release wrote it.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mut builder = std::fs::DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(path);
        made.map_err(|source| Error::DataDir {
            path: path.to_owned(),
            source,
        })?;
        let store = RedbStore::open(&path.join("store.redb")).map_err(Error::OpenStore)?;
        Ok(Self {
            store: Arc::new(store),
            cache: path.join("aot"),
            remembered: open_remembered(&path.join(REMEMBERED)),
        })
    }
}

/// Opens the file of what was last known. One that is damaged or of a later release is set aside, since the
/// server must start without it too.
fn open_remembered(path: &Path) -> Option<RememberedFile> {
    let error = match try_open_remembered(path) {
        Ok(file) => return Some(file),
        Err(error) => error,
    };
    let aside = path.with_extension(ASIDE);
    let is_unusable = matches!(
        error,
        StoreError::ForeignStore { .. }
            | StoreError::UnknownVersion { .. }
            | StoreError::Unreadable { .. }
    );
    let renamed = is_unusable.then(|| std::fs::rename(path, &aside));
    match renamed {
        Some(Ok(())) => {
            tracing::warn!(
                error = chain(&error),
                aside = %aside.display(),
                "what was last known cannot be read; the file is set aside, and the server starts without it"
            );
            let again = try_open_remembered(path);
            again.inspect_err(not_kept).ok()
        }
        Some(Err(error)) => {
            not_kept(&error);
            None
        }
        None => {
            not_kept(&error);
            None
        }
    }
}

fn try_open_remembered(path: &Path) -> Result<RememberedFile, StoreError> {
    RememberedFile::open(Arc::new(RedbStore::open(path)?))
}

fn not_kept(error: &(impl std::error::Error + 'static)) {
    tracing::warn!(
        error = chain(error),
        "the file of what was last known cannot be used; nothing is kept in it"
    );
}
