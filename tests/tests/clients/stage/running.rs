//! A running server: in this process, or the executable of an unpacked image.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use kindsight_cluster::{Container, Image, Mount};
use kindsight_server::{Server, Settings};
use kindsight_store::{RedbStore, Store};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::issuer::Issuer;
use crate::stage::flags::{CASE, flags};

/// The file of the store in the folder of a case, for a server of an image.
pub(super) const STORE: &str = "store.redb";

/// A running server. It ends when it is dropped.
pub(super) enum Running {
    InThisProcess {
        /// `None` after the end.
        runtime: Option<Runtime>,
        address: SocketAddr,
        store: Arc<dyn Store>,
    },
    InImage {
        container: Container,
        /// The volume of the image.
        _data: TempDir,
    },
}

/// The image of the static executable that `KINDSIGHT_EXECUTABLE` names. Without this variable, servers run in this
/// process.
pub(super) fn image() -> Option<&'static Image> {
    static IMAGE: OnceLock<Option<Image>> = OnceLock::new();
    let image = IMAGE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients-image");
        Image::of_environment(&folder)
    });
    image.as_ref()
}

impl Running {
    pub(super) fn in_this_process(mut settings: Settings, issuer: Option<&Issuer>) -> Self {
        if let (Some(issuer), Some(access)) = (issuer, settings.access.as_mut()) {
            issuer.enable(access);
        }
        let store = Arc::clone(&settings.store);
        let runtime = Runtime::new().expect("an executor");
        let server = runtime.block_on(Server::start(settings)).expect("a server");
        let address = server.address();
        // It runs until its executor ends.
        runtime.spawn(async move { server.failed().await });
        Self::InThisProcess {
            runtime: Some(runtime),
            address,
            store,
        }
    }

    /// Starts the image with a volume at its usual path. `folder` is the folder of the case, with [`STORE`].
    pub(super) fn in_image(
        image: &Image,
        settings: Settings,
        issuer: Option<&Issuer>,
        folder: &Path,
    ) -> Self {
        assert!(
            Container::can_start(),
            "a server of an image needs root and the right to mount"
        );
        let mut arguments = vec!["serve".to_owned()];
        arguments.extend(flags(&settings, issuer, folder));
        arguments.push(format!("--store=file:{CASE}/{STORE}"));
        // The server locks the file of the store.
        drop(settings);
        let data = tempfile::tempdir().expect("a folder");
        let mounts = [
            Mount::volume(data.path(), "/data"),
            Mount::owned(folder, CASE),
        ];
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let container = Container::start(image, &mounts, &[], &arguments);
        Self::InImage {
            container,
            _data: data,
        }
    }

    pub(super) fn address(&self) -> SocketAddr {
        match self {
            Self::InThisProcess { address, .. } => *address,
            Self::InImage { container, .. } => container.address(),
        }
    }

    /// The folder of the process in `/proc`.
    pub(super) fn proc(&self) -> PathBuf {
        match self {
            Self::InThisProcess { .. } => PathBuf::from("/proc/self"),
            Self::InImage { container, .. } => container.proc(),
        }
    }

    /// The store of the server. A server of an image is stopped, because it locks its store.
    pub(super) fn into_store(mut self, folder: &Path) -> Arc<dyn Store> {
        if let Self::InThisProcess { store, .. } = &mut self {
            return Arc::clone(store);
        }
        drop(self);
        Arc::new(RedbStore::open(&folder.join(STORE)).expect("the store of the server"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A server that hangs must not block the other cases.
        if let Self::InThisProcess { runtime, .. } = self
            && let Some(runtime) = runtime.take()
        {
            runtime.shutdown_background();
        }
    }
}
