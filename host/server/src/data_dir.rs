//! The data folder of a server: its store and its compiled interpreters.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kindsight_store::{RedbStore, Store};

use crate::error::Error;

/// A folder that one server at a time keeps its state in.
pub struct DataDir {
    /// The store in it.
    pub store: Arc<dyn Store>,
    /// The folder of compiled components in it.
    pub cache: PathBuf,
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
        })
    }
}
