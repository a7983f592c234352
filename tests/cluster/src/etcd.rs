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

/// The time within which a process must become ready on a busy machine.
pub(crate) const READY_MAX: Duration = Duration::from_mins(2);
/// The time limit of one health check.
const HEALTH_MAX: Duration = Duration::from_secs(1);
/// The file with the authority's certificate.
const CA: &str = "ca.crt";

/// A running member of an etcd, usually the only one. It is stopped when it is dropped.
#[derive(Debug)]
pub struct Etcd {
    process: Process,
    url: String,
    security: Option<Security>,
    binaries: Binaries,
    /// Removed after the process has ended.
    folder: TempDir,
}

/// The certificates of an etcd that requires client certificates.
#[derive(Debug)]
struct Security {
    authority: Authority,
    client: Identity,
}

/// The role of a member in its etcd.
#[derive(Debug)]
struct Member {
    name: &'static str,
    /// Its address for the other members.
    peer: String,
    /// All members, in the format of etcd's `--initial-cluster`.
    cluster: String,
}

impl Member {
    /// The only member of its etcd.
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
    /// Starts a member that does not sync to disk. Its data survives the process, but not a crash
    /// of the machine.
    ///
    /// # Panics
    /// If it does not become healthy, with the end of its log.
    pub fn start(binaries: &Binaries) -> Self {
        Self::start_with(binaries, &["--unsafe-no-fsync"])
    }

    /// Starts a member with additional arguments.
    ///
    /// # Panics
    /// If it does not become healthy, with the end of its log.
    pub fn start_with(binaries: &Binaries, arguments: &[&str]) -> Self {
        let member = Member::alone();
        let mut etcd = Self::launch(binaries, arguments, None, &member);
        etcd.wait_until_healthy();
        etcd
    }

    /// Starts three members of one etcd.
    ///
    /// # Panics
    /// If they do not become healthy, with the end of a log.
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
        // No member is healthy without the others.
        for member in &mut members {
            member.wait_until_healthy();
        }
        members
    }

    /// Starts a member that accepts only TLS and requires client certificates of its authority.
    ///
    /// # Panics
    /// If it does not become healthy, with the end of its log.
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
        all.extend(arguments.iter().map(|&argument| argument.to_owned()));
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

    /// The address for clients: `http://127.0.0.1:PORT`, or `https` with TLS.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The id of its process, while the process runs.
    pub fn process_id(&self) -> Option<u32> {
        self.process.id()
    }

    /// Stops the process as a service manager does, and waits.
    pub fn stop(&mut self) {
        self.process.stop();
    }

    /// Kills the process immediately.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Starts the process with the same port and data, and waits until it is healthy.
    pub fn start_again(&mut self) {
        self.process.start_again();
        self.wait_until_healthy();
    }

    /// Starts the process with the same port but without its data, as a new and empty member.
    ///
    /// # Panics
    /// If its data cannot be removed, or it does not become healthy.
    pub fn start_empty(&mut self) {
        std::fs::remove_dir_all(self.folder.path().join("data")).expect("remove its data");
        self.start_again();
    }

    /// Freezes the process: connections stay open but get no answers.
    pub fn pause(&mut self) {
        self.process.pause();
    }

    /// Continues the frozen process.
    pub fn resume(&mut self) {
        self.process.resume();
    }

    /// The authority of its certificate, which also signs client certificates, or `None` without
    /// TLS.
    pub fn authority(&self) -> Option<&Authority> {
        self.security.as_ref().map(|security| &security.authority)
    }

    pub(crate) fn binaries(&self) -> &Binaries {
        &self.binaries
    }

    /// The arguments with which an API server connects to it.
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
            Some(security) => {
                let credentials = Credentials::Certificate(security.client.clone());
                Client::new(
                    &self.url,
                    Some(security.authority.certificate()),
                    &credentials,
                )
            }
            None => Client::new(&self.url, None, &Credentials::Nobody),
        }
    }

    fn wait_until_healthy(&mut self) {
        let client = self.client().with_timeout(HEALTH_MAX);
        let is_healthy = || {
            let answer = client.request(Method::GET, "/health", None);
            answer.is_ok_and(|answer| answer.body["health"] == "true")
        };
        self.process
            .wait_until("it is healthy", READY_MAX, is_healthy);
    }
}

impl Security {
    /// Writes the files, and returns the arguments that name them.
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

/// A folder that is removed with its owner, or at the latest with the process.
pub(crate) fn new_folder(name: &str) -> TempDir {
    let folder = TempDir::with_prefix_in(name, Watchdog::get().folder());
    folder.expect("a temporary folder")
}
