//! The data folder of a server (store, compiled interpreters, last-known state), and the store of `AppContext`s, which
//! may be elsewhere.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kindsight_pipeline::RememberedFile;
use kindsight_store::{
    Error as StoreError, EtcdOptions, RedbStore, Store, StoreAddress, chain, read_only,
};

use crate::error::Error;

/// Name of the file of the store.
pub(crate) const STORE: &str = "store.redb";

/// Prefix of the keys of `AppContext`s. An observed store is read only below this prefix.
pub(crate) const CONTEXTS: &str = "/context/";

/// Name of the file with the last-known state.
pub(crate) const REMEMBERED: &str = "remembered.redb";

/// Extension of an unusable file that was set aside. It replaces an earlier such file.
const ASIDE: &str = "set-aside";

/// The place at which a server keeps its state.
#[derive(Debug, Clone, Default)]
pub struct StoreSettings {
    /// The store; without one a file in the data folder.
    pub address: Option<StoreAddress>,
    /// The connection to etcd.
    pub etcd: EtcdOptions,
    /// Only reads the `AppContext`s of the store, and never writes to it. Everything else is in the data folder.
    pub observes: bool,
}

/// A folder with the state of one server. Only one server at a time can use it.
pub struct DataDir {
    /// The store of records and of the catalog.
    pub store: Arc<dyn Store>,
    /// The store of `AppContext`s, which may be the same.
    pub contexts: Arc<dyn Store>,
    /// The folder of compiled components in it.
    pub cache: PathBuf,
    /// The folder of artifacts of registries in it.
    pub artifacts: PathBuf,
    /// The file of the health scripts of Argo CD that were live last.
    pub argo_cm: PathBuf,
    /// The last-known state before the start; `None` if the file cannot be used.
    pub remembered: Option<RememberedFile>,
}

impl DataDir {
    /// Opens a folder with its own store. A missing folder is created with permissions for its owner only.
    ///
    /// # Errors
    /// As [`DataDir::open_with`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_with(path, &StoreSettings::default())
    }

    /// Opens a folder and a store. A missing folder is created with permissions for its owner only.
    ///
    /// # Errors
    /// - [`Error::DataDir`]: the folder cannot be created.
    /// - [`Error::OpenStore`]: a store cannot be opened. Another server has it open, a later release wrote it, or an
    ///   etcd does not answer or refuses the user.
    /// - [`Error::NotObserved`]: the store cannot be observed.
    pub fn open_with(path: &Path, settings: &StoreSettings) -> Result<Self, Error> {
        let mut builder = std::fs::DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(path);
        made.map_err(|source| Error::DataDir {
            path: path.to_owned(),
            source,
        })?;
        let own = StoreAddress::File(path.join(STORE));
        let (store, contexts) = open_stores(&own, settings)?;
        Ok(Self {
            store,
            contexts,
            cache: path.join("aot"),
            artifacts: path.join("artifacts"),
            argo_cm: path.join("argo-cm.json"),
            remembered: open_remembered(&path.join(REMEMBERED)),
        })
    }
}

type Stores = (Arc<dyn Store>, Arc<dyn Store>);

/// Opens the store of records and the store of contexts.
fn open_stores(own: &StoreAddress, settings: &StoreSettings) -> Result<Stores, Error> {
    let StoreSettings {
        address,
        etcd,
        observes,
    } = settings;
    if !observes {
        let store = open_store(address.as_ref().unwrap_or(own), etcd)?;
        return Ok((Arc::clone(&store), store));
    }
    let observed = observed(address.as_ref())?;
    let etcd = EtcdOptions {
        watched: CONTEXTS.to_owned(),
        ..etcd.clone()
    };
    // The etcd is opened first, because it may not answer.
    let contexts = read_only(open_store(observed, &etcd)?);
    Ok((open_store(own, &etcd)?, contexts))
}

fn open_store(address: &StoreAddress, etcd: &EtcdOptions) -> Result<Arc<dyn Store>, Error> {
    kindsight_store::open(address, etcd).map_err(|source| Error::OpenStore {
        address: address.to_string(),
        source,
    })
}

/// The store that is observed: the etcd of another orchestrator.
fn observed(address: Option<&StoreAddress>) -> Result<&StoreAddress, Error> {
    match address {
        Some(address @ StoreAddress::Etcd(_)) => Ok(address),
        Some(StoreAddress::File(_)) => Err(Error::NotObserved(
            "a store in a file belongs to one server at a time; leave `--observe` out, or name the etcd of an orchestrator",
        )),
        Some(StoreAddress::Memory) => Err(Error::NotObserved(
            "a store in memory is this server's own; name the etcd of an orchestrator",
        )),
        None => Err(Error::NotObserved(
            "`--observe` needs the etcd of an orchestrator, such as `--store etcd://HOST:2379`",
        )),
    }
}

/// Opens the file with the last-known state. A damaged file, or a file of a later release, is set aside, because the
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
                "the last-known state cannot be read; the file was set aside, and the server starts without it"
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
    RememberedFile::open(Arc::new(RedbStore::open_unwatched(path)?))
}

fn not_kept(error: &(impl std::error::Error + 'static)) {
    tracing::warn!(
        error = chain(error),
        "the file with the last-known state cannot be used; this server does not store its last-known state"
    );
}
