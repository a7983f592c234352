//! An Alertmanager of Prometheus, of Debian's package `prometheus-alertmanager`.

use std::fs;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Once;
use std::time::Duration;

use tempfile::TempDir;

use crate::binaries::{Unavailable, on_path, or_skip};
use crate::etcd::new_folder;
use crate::ports::free_port;
use crate::process::Process;

const EXECUTABLE: &str = "prometheus-alertmanager";
/// The command line of Alertmanager.
const TOOL: &str = "amtool";
/// Maximum time of a start on a busy machine.
const START_MAX: Duration = Duration::from_mins(1);
/// Alertmanager notifies nobody.
const CONFIG: &str = "route: {receiver: none}\nreceivers: [{name: none}]\n";

/// An Alertmanager on a free port of the loopback address. It ends when it is dropped.
#[derive(Debug)]
pub struct Alertmanager {
    /// Ended before the folder is removed.
    process: Process,
    port: u16,
    tool: PathBuf,
    _folder: TempDir,
}

impl Alertmanager {
    /// Starts an Alertmanager, or prints one line with the reason why this test does not run.
    ///
    /// # Panics
    /// With the same line if `CI` is `true`, because a test that does not run there proves nothing.
    /// If the Alertmanager does not listen.
    pub fn or_skip() -> Option<Self> {
        static TOLD: Once = Once::new();
        let found = find(EXECUTABLE).and_then(|executable| Ok((executable, find(TOOL)?)));
        let (executable, tool) = or_skip("tests with an Alertmanager", found, &TOLD)?;
        let folder = new_folder("alertmanager");
        let (config, data) = (folder.path().join("config.yml"), folder.path().join("data"));
        fs::write(&config, CONFIG).expect("a configuration");
        let port = free_port();
        let arguments = [
            format!("--config.file={}", config.display()),
            format!("--storage.path={}", data.display()),
            format!("--web.listen-address=127.0.0.1:{port}"),
            // Without peers.
            "--cluster.listen-address=".to_owned(),
        ];
        let process = Process::start("alertmanager", &executable, arguments, folder.path());
        let mut alertmanager = Self {
            process,
            port,
            tool,
            _folder: folder,
        };
        let address = ("127.0.0.1", port);
        alertmanager
            .process
            .wait_until("it listens", START_MAX, || {
                TcpStream::connect(address).is_ok()
            });
        Some(alertmanager)
    }

    /// The URL.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The output of `amtool alert query` for the firing alerts that match, as JSON.
    ///
    /// # Panics
    /// If Alertmanager does not answer.
    pub fn firing(&self, matcher: &str) -> String {
        let output = Command::new(&self.tool)
            .arg(format!("--alertmanager.url={}", self.url()))
            .args(["alert", "query", "--output=json", matcher])
            .output()
            .expect("amtool");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{error}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

fn find(program: &str) -> Result<PathBuf, Unavailable> {
    let line = format!(
        "{program} is not on the PATH; install the Debian package `prometheus-alertmanager`"
    );
    on_path(program).ok_or(Unavailable(line))
}
