//! A real etcd.

mod keys;

use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use ureq::http::Method;

use crate::authority::{Authority, Identity, write};
use crate::binaries::{Binaries, Binary};
use crate::client::{Client, Credentials};
use crate::ports::free_port;
use crate::process::Process;
use crate::watchdog::Watchdog;

pub use keys::{EtcdKeys, KeyValue};

/// Time a process has to become ready, on a busy machine.
pub(crate) const READY_MAX: Duration = Duration::from_mins(2);
/// Time of one question whether etcd is healthy.
const HEALTH_MAX: Duration = Duration::from_secs(1);
/// File with the authority's certificate.
const CA: &str = "ca.crt";

/// A running member of an etcd, most often the only one, ended when it is dropped.
#[derive(Debug)]
pub struct Etcd {
    process: Process,
    url: String,
    security: Option<Security>,
    binaries: Binaries,
    /// Removed after the process ended.
    folder: TempDir,
}

/// Certificates of an etcd that lets nobody in without one.
#[derive(Debug)]
struct Security {
    authority: Authority,
    client: Identity,
}

/// Place of a member in its store.
#[derive(Debug)]
struct Member {
    name: &'static str,
    /// Its address for the others.
    peer: String,
    /// All members, as etcd's `--initial-cluster` names them.
    cluster: String,
}

impl Member {
    /// The only one of its store.
    fn alone() -> Self {
        let (name, peer) = ("default", peer_url());
        let cluster = format!("{name}={peer}");
        Self {
            name,
            peer,
            cluster,
        }
    }
}

fn peer_url() -> String {
    format!("http://127.0.0.1:{}", free_port())
}

impl Etcd {
    /// Starts one that does not wait for the disk: its data outlive its process, and not the machine.
    ///
    /// # Panics
    /// When it does not become healthy, with the end of its log.
    pub fn start(binaries: &Binaries) -> Self {
        Self::start_with(binaries, &["--unsafe-no-fsync"])
    }

    /// Starts one with arguments of the caller's.
    ///
    /// # Panics
    /// When it does not become healthy, with the end of its log.
    pub fn start_with(binaries: &Binaries, arguments: &[&str]) -> Self {
        let member = Member::alone();
        let mut etcd = Self::launch(binaries, arguments, None, &member);
        etcd.wait_until_healthy();
        etcd
    }

    /// Starts three members of one store.
    ///
    /// # Panics
    /// When they do not become healthy, with the end of a log.
    pub fn start_three(binaries: &Binaries) -> [Self; 3] {
        let peers = ["a", "b", "c"].map(|name| (name, peer_url()));
        let cluster = peers.each_ref().map(|(name, url)| format!("{name}={url}"));
        let cluster = cluster.join(",");
        let mut members = peers.map(|(name, peer)| {
            let member = Member {
                name,
                peer,
                cluster: cluster.clone(),
            };
            Self::launch(binaries, &["--unsafe-no-fsync"], None, &member)
        });
        // None is healthy alone.
        for member in &mut members {
            member.wait_until_healthy();
        }
        members
    }

    /// Starts one that speaks TLS alone and asks clients for a certificate of its authority.
    ///
    /// # Panics
    /// When it does not become healthy, with the end of its log.
    pub fn start_with_tls(binaries: &Binaries) -> Self {
        let authority = Authority::new("etcd tests");
        let client = authority.client("tests", "clients", None);
        let security = Some(Security { authority, client });
        let arguments = ["--unsafe-no-fsync"];
        let mut etcd = Self::launch(binaries, &arguments, security, &Member::alone());
        etcd.wait_until_healthy();
        etcd
    }

    fn launch(
        binaries: &Binaries,
        arguments: &[&str],
        security: Option<Security>,
        member: &Member,
    ) -> Self {
        let folder = new_folder("etcd");
        let scheme = if security.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://127.0.0.1:{}", free_port());
        let peer = &member.peer;
        let data = folder.path().join("data");
        let mut all = vec![
            format!("--listen-client-urls={url}"),
            format!("--advertise-client-urls={url}"),
            format!("--listen-peer-urls={peer}"),
            format!("--initial-advertise-peer-urls={peer}"),
            format!("--name={}", member.name),
            format!("--initial-cluster={}", member.cluster),
            format!("--data-dir={}", data.display()),
        ];
        all.extend(arguments.iter().map(|&it| it.to_owned()));
        if let Some(security) = &security {
            all.extend(security.write(folder.path()));
        }
        let binary = binaries.path(Binary::Etcd);
        let process = Process::start("etcd", binary, all, folder.path());
        Self {
            process,
            url,
            security,
            binaries: binaries.clone(),
            folder,
        }
    }

    /// Address for clients: `http://127.0.0.1:PORT`, or `https` with TLS.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Id of its process, while it runs.
    pub fn process_id(&self) -> Option<u32> {
        self.process.id()
    }

    /// Ends it as a service manager does, and waits.
    pub fn stop(&mut self) {
        self.process.stop();
    }

    /// Kills it, in the middle of whatever it does.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Starts it on the same port and data, and waits until it is healthy.
    pub fn start_again(&mut self) {
        self.process.start_again();
        self.wait_until_healthy();
    }

    /// Starts it on the same port without its data, as one that knows nothing of what it was.
    ///
    /// # Panics
    /// When its data cannot be removed, or it does not become healthy.
    pub fn start_empty(&mut self) {
        std::fs::remove_dir_all(self.folder.path().join("data")).expect("remove its data");
        self.start_again();
    }

    /// Freezes it: connections stay open and nobody answers.
    pub fn pause(&mut self) {
        self.process.pause();
    }

    /// Lets it go on.
    pub fn resume(&mut self) {
        self.process.resume();
    }

    /// Authority of its certificate, which also signs those of clients; none without TLS.
    pub fn authority(&self) -> Option<&Authority> {
        self.security.as_ref().map(|it| &it.authority)
    }

    pub(crate) fn binaries(&self) -> &Binaries {
        &self.binaries
    }

    /// Arguments with which an API server connects to it.
    pub(crate) fn client_arguments(&self) -> Vec<String> {
        let file = |name: &str| self.folder.path().join(name).display().to_string();
        let mut arguments = vec![format!("--etcd-servers={}", self.url)];
        if self.security.is_some() {
            arguments.push(format!("--etcd-cafile={}", file(CA)));
            arguments.push(format!("--etcd-certfile={}", file("client.crt")));
            arguments.push(format!("--etcd-keyfile={}", file("client.key")));
        }
        arguments
    }

    /// A client of its JSON gateway.
    fn client(&self) -> Client {
        match &self.security {
            Some(it) => {
                let credentials = Credentials::Certificate(it.client.clone());
                Client::new(&self.url, Some(it.authority.certificate()), &credentials)
            }
            None => Client::new(&self.url, None, &Credentials::Nobody),
        }
    }

    fn wait_until_healthy(&mut self) {
        let client = self.client().with_timeout(HEALTH_MAX);
        let is_healthy = || {
            let answer = client.request(Method::GET, "/health", None);
            answer.is_ok_and(|it| it.body["health"] == "true")
        };
        self.process
            .wait_until("it is healthy", READY_MAX, is_healthy);
    }
}

impl Security {
    /// Writes the files and returns the arguments that name them.
    fn write(&self, folder: &Path) -> Vec<String> {
        write(folder, CA, self.authority.certificate());
        self.authority.server(None).write(folder, "server");
        self.client.write(folder, "client");
        let file = |name: &str| folder.join(name).display().to_string();
        vec![
            format!("--cert-file={}", file("server.crt")),
            format!("--key-file={}", file("server.key")),
            format!("--trusted-ca-file={}", file(CA)),
            "--client-cert-auth=true".to_owned(),
        ]
    }
}

/// A folder that goes with its owner, at the latest with the process.
pub(crate) fn new_folder(name: &str) -> TempDir {
    let folder = TempDir::with_prefix_in(name, Watchdog::get().folder());
    folder.expect("a temporary folder")
}
