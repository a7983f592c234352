//! A server to attack: started from settings in this process, with only the built-in interpreters.

mod filling;

pub(crate) use filling::fill;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_model::DigName;
use kindsight_server::{Server, Settings};
use kindsight_store::{RedbStore, Store};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::http::{self, Answer, Request};
use crate::transport::{Client, Connection, Transport};

/// Time in which `/healthz` must be answered, even during an attack.
const HEALTHY_MAX: Duration = Duration::from_secs(2);

/// The status of the deployment intent group of [`Stage::filled`].
pub(crate) const STATUS: &str =
    "/v2/projects/p/composite-apps/c/v1/deployment-intent-groups/d/status";

/// A server and its folders.
pub(crate) struct Stage {
    runtime: Option<Runtime>,
    address: SocketAddr,
    client: Client,
    /// Ends with the case.
    _folder: TempDir,
}

impl Stage {
    /// Starts a server with the default settings.
    pub(crate) fn start(transport: Transport) -> Self {
        Self::with(transport, |_, _| {})
    }

    /// Starts a server with other settings; `change` also gets a folder for its files.
    pub(crate) fn with(transport: Transport, change: impl FnOnce(&mut Settings, &Path)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().expect("a store"));
        let mut settings = Settings {
            cache: Some(cache()),
            ..Settings::new(store)
        };
        let client = transport.enable(&mut settings, folder.path());
        change(&mut settings, folder.path());
        let runtime = Runtime::new().expect("an executor");
        let server = runtime.block_on(Server::start(settings)).expect("a server");
        let address = server.address();
        // It runs until its executor ends.
        runtime.spawn(async move { server.failed().await });
        Self {
            runtime: Some(runtime),
            address,
            client,
            _folder: folder,
        }
    }

    /// Starts a server over a deployment intent group with `resources` resources, each with a name of 200
    /// characters. [`STATUS`] is the path of its status. Settings as in [`Stage::with`].
    pub(crate) fn filled(
        transport: Transport,
        resources: usize,
        change: impl FnOnce(&mut Settings, &Path),
    ) -> Self {
        Self::with(transport, |settings, folder| {
            let name = DigName::new("p", "c", "v1", "d").expect("a name");
            fill(&settings.store, &name, "7", resources);
            change(settings, folder);
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// An open connection with this client's timeouts, after the handshake.
    pub(crate) fn connect(&self) -> io::Result<Connection> {
        self.client.connect(self.address)
    }

    /// Sends bytes on a new connection, and reads the answer until the server closes the connection.
    pub(crate) fn send_raw(&self, bytes: &[u8]) -> io::Result<Answer> {
        http::send_raw(self.connect()?, bytes)
    }

    /// Sends a request; a server that gives no answer fails the case.
    pub(crate) fn send(&self, request: &Request<'_>) -> Answer {
        let answer = self.send_raw(&request.bytes(self.address));
        answer.unwrap_or_else(|error| panic!("{} {}: {error}", request.method, request.target))
    }

    pub(crate) fn get(&self, target: &str) -> Answer {
        self.send(&Request {
            method: "GET",
            target,
            ..Request::default()
        })
    }

    /// Sends JSON with its content type.
    pub(crate) fn json(&self, method: &str, target: &str, body: &str) -> Answer {
        self.send(&Request {
            method,
            target,
            headers: &[("Content-Type", "application/json")],
            body: body.as_bytes(),
        })
    }

    /// Uploads a component.
    pub(crate) fn upload(&self, name: &str, component: &[u8]) -> Answer {
        self.send(&Request {
            method: "PUT",
            target: &format!("/v2/interpreters/{name}"),
            headers: &[("Content-Type", "application/wasm")],
            body: component,
        })
    }

    /// Fails the case if `/healthz` is not answered in [`HEALTHY_MAX`].
    pub(crate) fn assert_healthy(&self) {
        let begin = Instant::now();
        let answer = self.get("/healthz");
        assert_eq!(answer.status, 200, "{answer:?}");
        let took = begin.elapsed();
        assert!(took < HEALTHY_MAX, "/healthz took {took:?}");
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // A server that hangs must not block the other cases.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Memory of this process that is in use, in bytes: client and server.
pub(crate) fn resident_bytes() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|text| text.parse().ok());
    pages.unwrap_or(0_usize) * 4096
}

/// A cache of compiled interpreters that all cases share.
fn cache() -> PathBuf {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients-cache/kindsight");
    std::fs::create_dir_all(&cache).expect("a folder for the cache");
    cache.join("aot")
}
