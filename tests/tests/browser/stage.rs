//! A server for the page: started from settings in this process.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kindsight_clusters::{ClusterSource, FolderCluster};
use kindsight_interpreter::{CodeCache, Interpreters, Limits};
use kindsight_server::{Demo, Server, Settings};
use kindsight_store::{RedbStore, Store};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::code_cache;
use crate::content::{CLUSTER, Content};

/// The first cluster of the demo.
pub(crate) const DEMO_CLUSTER: &str = "vfw-cluster-provider+edge01";

/// A server, and the folder with its files.
pub(crate) struct Stage {
    runtime: Runtime,
    server: Option<Server>,
    origin: String,
    /// Ends with the test.
    folder: TempDir,
}

impl Stage {
    /// Starts a server over the recorded application of the demo, in two clusters.
    pub(crate) fn demo() -> Self {
        Self::demo_with(|_| {})
    }

    /// Starts a server as [`Stage::demo`], after `fill` has written further applications of the first cluster.
    pub(crate) fn demo_with(fill: impl FnOnce(&Content)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = Demo::write_to(folder.path()).expect("the demo").settings;
        fill(&Content::new(&settings.store, DEMO_CLUSTER, folder.path()));
        Self::start(settings, folder)
    }

    /// Starts a server over an empty store and one folder cluster, after `fill` has written applications and reports.
    pub(crate) fn filled(fill: impl FnOnce(&Content)) -> Self {
        Self::with(fill, |_, _| {})
    }

    /// Starts a server as [`Stage::filled`], with other settings; `change` also gets a folder for its files.
    pub(crate) fn with(
        fill: impl FnOnce(&Content),
        change: impl FnOnce(&mut Settings, &Path),
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().expect("a store"));
        fill(&Content::new(&store, CLUSTER, folder.path()));
        let name = CLUSTER.parse().expect("a cluster");
        let reports = folder.path().join(CLUSTER);
        let cluster = ClusterSource::Folder(FolderCluster::new(name, reports));
        let mut settings = Settings {
            clusters: vec![cluster],
            ..Settings::new(store)
        };
        change(&mut settings, folder.path());
        Self::start(settings, folder)
    }

    /// Starts a server, and waits until its clusters have reported.
    fn start(mut settings: Settings, folder: TempDir) -> Self {
        settings.cache = Some(code_cache::folder());
        let scheme = settings.tls.as_ref().map_or("http", |_| "https");
        let runtime = Runtime::new().expect("an executor");
        let server = runtime.block_on(Server::start(settings)).expect("a server");
        runtime.block_on(server.synced());
        let origin = format!("{scheme}://{}", server.address());
        Self {
            runtime,
            server: Some(server),
            origin,
            folder,
        }
    }

    /// Compiles a component for the server, which finds the code in its cache. A server compiles components in a child
    /// process of its own program, and a test is not such a program.
    pub(crate) fn compile(component: &[u8]) {
        let cache = CodeCache::open(&code_cache::folder()).expect("a cache");
        let interpreters = Interpreters::start(Limits::default(), Some(cache)).expect("an engine");
        interpreters.load(component).expect("a component");
    }

    /// Scheme, address and port of the server.
    pub(crate) fn origin(&self) -> &str {
        &self.origin
    }

    /// The server under another name of its address.
    pub(crate) fn named(mut self, host: &str) -> Self {
        self.origin = self.origin.replace("127.0.0.1", host);
        self
    }

    /// The server behind a proxy. `start` starts the proxy of an address, and returns the proxy's own address.
    pub(crate) fn through(mut self, start: impl FnOnce(SocketAddr) -> SocketAddr) -> Self {
        let server = self.server.as_ref().expect("a server");
        self.origin = format!("http://{}", start(server.address()));
        self
    }

    /// A file in the folder of the server.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The file of a report.
    pub(crate) fn report(&self, cluster: &str, file: &str) -> PathBuf {
        self.file(cluster).join(file)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            // A failed test has its own message.
            let _ = self.runtime.block_on(server.stop());
        }
    }
}
