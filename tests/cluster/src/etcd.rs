//! A real etcd.

use std::time::Duration;

use tempfile::TempDir;

use crate::binaries::{Binaries, Binary};
use crate::ports::free_port;
use crate::process::Process;
use crate::watchdog::Watchdog;

/// Time a process has to become ready, on a busy machine.
pub(crate) const READY_MAX: Duration = Duration::from_mins(2);

/// A running etcd with one member, ended when it is dropped.
#[derive(Debug)]
pub struct Etcd {
    process: Process,
    url: String,
    binaries: Binaries,
    /// Removed after the process ended.
    _folder: TempDir,
}

impl Etcd {
    /// Starts one that does not wait for the disk: its data outlive its process, and not the machine.
    ///
    /// # Panics
    /// When it does not become healthy, with the end of its log.
    pub fn start(binaries: &Binaries) -> Self {
        Self::start_with(binaries, &["--unsafe-no-fsync"])
    }

    /// Starts one with further arguments.
    ///
    /// # Panics
    /// When it does not become healthy, with the end of its log.
    pub fn start_with(binaries: &Binaries, arguments: &[&str]) -> Self {
        let folder = new_folder("etcd");
        let url = format!("http://127.0.0.1:{}", free_port());
        let peer = format!("http://127.0.0.1:{}", free_port());
        let data = folder.path().join("data");
        let pairs = [
            ("--listen-client-urls", url.clone()),
            ("--advertise-client-urls", url.clone()),
            ("--listen-peer-urls", peer.clone()),
            ("--initial-advertise-peer-urls", peer.clone()),
            ("--initial-cluster", format!("default={peer}")),
            ("--data-dir", data.display().to_string()),
        ];
        let pairs = pairs
            .into_iter()
            .flat_map(|(name, it)| [name.to_owned(), it]);
        let more = arguments.iter().map(|&it| it.to_owned());
        let binary = binaries.path(Binary::Etcd);
        let process = Process::start("etcd", binary, pairs.chain(more), folder.path());
        let mut etcd = Self {
            process,
            url,
            binaries: binaries.clone(),
            _folder: folder,
        };
        etcd.wait_until_healthy();
        etcd
    }

    /// Address for clients: `http://127.0.0.1:PORT`.
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

    /// Freezes it: connections stay open and nobody answers.
    pub fn pause(&mut self) {
        self.process.pause();
    }

    /// Lets it go on.
    pub fn resume(&mut self) {
        self.process.resume();
    }

    pub(crate) fn binaries(&self) -> &Binaries {
        &self.binaries
    }

    fn wait_until_healthy(&mut self) {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .proxy(None)
            .timeout_global(Some(Duration::from_secs(1)))
            .build()
            .into();
        let health = format!("{}/health", self.url);
        let is_healthy = || {
            let answer = agent.get(&health).call();
            let text = answer.map(|mut it| it.body_mut().read_to_string());
            matches!(text, Ok(Ok(text)) if text.contains(r#""health":"true""#))
        };
        self.process
            .wait_until("it is healthy", READY_MAX, is_healthy);
    }
}

/// A folder that goes with its owner, at the latest with the process.
pub(crate) fn new_folder(name: &str) -> TempDir {
    let folder = TempDir::with_prefix_in(name, Watchdog::get().folder());
    folder.expect("a temporary folder")
}
