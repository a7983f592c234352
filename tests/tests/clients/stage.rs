//! A server to attack, with only the built-in interpreters. It is started from settings in this process, or is the
//! executable of an unpacked image with the same settings as flags.

mod executable;
mod filling;
mod flags;
mod running;

pub(crate) use filling::fill;

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_model::DigName;
use kindsight_server::Settings;
use kindsight_store::{Entry, RedbStore, Store};
use tempfile::TempDir;

use crate::code_cache;
use crate::http::{self, Answer, Request};
use crate::issuer::{Issuer, bind_user};
use crate::stage::running::{Running, image};
use crate::transport::{Client, Connection, Transport};

/// Time in which `/healthz` must be answered, even during an attack.
const HEALTHY_MAX: Duration = Duration::from_secs(2);

/// The status of the deployment intent group of [`Stage::filled`].
pub(crate) const STATUS: &str =
    "/v2/projects/p/composite-apps/c/v1/deployment-intent-groups/d/status";

/// A server and its folders.
pub(crate) struct Stage {
    server: Running,
    client: Client,
    /// Ends with the case.
    folder: TempDir,
}

impl Stage {
    /// Starts a server with the default settings.
    pub(crate) fn start(transport: Transport) -> Self {
        Self::with(transport, |_, _| {})
    }

    /// Starts a server with other settings; `change` also gets a folder for its files.
    pub(crate) fn with(transport: Transport, change: impl FnOnce(&mut Settings, &Path)) -> Self {
        Self::new(transport, None, change)
    }

    /// Starts a server that accepts the tokens of an issuer. The user of a genuine token may see everything.
    pub(crate) fn with_issuer(transport: Transport, issuer: &Issuer) -> Self {
        Self::new(transport, Some(issuer), |settings, _| {
            let access = settings.access.as_ref().expect("access control");
            bind_user(&access.roles);
        })
    }

    fn new(
        transport: Transport,
        issuer: Option<&Issuer>,
        change: impl FnOnce(&mut Settings, &Path),
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let image = image(transport);
        let store = match image {
            None => RedbStore::in_memory(),
            Some(_) => RedbStore::open(&folder.path().join(running::STORE)),
        };
        let store: Arc<dyn Store> = Arc::new(store.expect("a store"));
        let mut settings = Settings {
            cache: Some(code_cache::folder()),
            ..Settings::new(store)
        };
        let client = transport.enable(&mut settings, folder.path());
        change(&mut settings, folder.path());
        let server = match image {
            None => Running::in_this_process(settings, issuer),
            Some(image) => Running::in_image(image, settings, issuer, folder.path()),
        };
        Self {
            server,
            client,
            folder,
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
        self.server.address()
    }

    /// Memory of the process of the server that is in use, in bytes. A server in this process includes its clients.
    pub(crate) fn resident_bytes(&self) -> usize {
        let statm = fs::read_to_string(self.server.proc().join("statm")).unwrap_or_default();
        let pages = statm.split(' ').nth(1).and_then(|text| text.parse().ok());
        pages.unwrap_or(0_usize) * 4096
    }

    /// Everything in the store. Stops a server of an image, because it locks its store.
    pub(crate) fn stored(self) -> Vec<Entry> {
        let store = self.server.into_store(self.folder.path());
        store.range("/").expect("a range").entries
    }

    /// An open connection with this client's timeouts, after the handshake.
    pub(crate) fn connect(&self) -> io::Result<Connection> {
        self.client.connect(self.address())
    }

    /// Sends bytes on a new connection, and reads the answer until the server closes the connection.
    pub(crate) fn send_raw(&self, bytes: &[u8]) -> io::Result<Answer> {
        http::send_raw(self.connect()?, bytes)
    }

    /// Sends a request; a server that gives no answer fails the case.
    pub(crate) fn send(&self, request: &Request<'_>) -> Answer {
        let answer = self.send_raw(&request.bytes(self.address()));
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
