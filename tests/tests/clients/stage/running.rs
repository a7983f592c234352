//! A running server: in this process, or the executable of an unpacked image.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use kindsight_cluster::{Container, Image, Mount};
use kindsight_server::{Server, Settings};
use kindsight_store::{RedbStore, Store};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::issuer::Issuer;
use crate::stage::executable::executable_or_tell;
use crate::stage::flags::{CASE, flags};
use crate::transport::Transport;

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

/// The image to attack. A static executable that `KINDSIGHT_EXECUTABLE` names is attacked over both transports. Without
/// this variable, the executable of this build is attacked over HTTPS, in an image with the libraries of this machine.
/// Returns `None` if the server runs in this process.
pub(super) fn image(transport: Transport) -> Option<&'static Image> {
    static STATIC: OnceLock<Option<Image>> = OnceLock::new();
    static OF_BUILD: OnceLock<Option<Image>> = OnceLock::new();
    let folder = target_folder("clients-image");
    let named = STATIC.get_or_init(|| Image::of_environment(&folder));
    if named.is_some() {
        return named.as_ref();
    }
    let Transport::Https = transport else {
        return None;
    };
    let of_build = OF_BUILD.get_or_init(|| {
        let executable = executable_or_tell()?;
        Some(Image::with_libraries(&folder, &executable))
    });
    of_build.as_ref()
}

fn target_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A volume of the image with compiled built-in interpreters. The compilation takes seconds, so only one server does it.
fn volume(image: &Image) -> TempDir {
    static COMPILED: OnceLock<()> = OnceLock::new();
    let compiled = target_folder("clients-compiled");
    COMPILED.get_or_init(|| {
        // The folder is left over from an earlier run, or does not exist.
        let _ = fs::remove_dir_all(&compiled);
        fs::create_dir_all(&compiled).expect("a folder");
        let volume = Mount::volume(&compiled, "/data");
        let arguments = ["serve", "--listen=127.0.0.1:0"];
        assert!(Container::start(image, &[volume], &[], &arguments).stop());
    });
    let volume = tempfile::tempdir().expect("a folder");
    let mut copy = Command::new("cp");
    let copy = copy.arg("--archive").arg(compiled.join("kindsight"));
    let copied = copy.arg(volume.path()).output().expect("cp");
    assert!(copied.status.success(), "{copied:?}");
    volume
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
        let data = volume(image);
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
