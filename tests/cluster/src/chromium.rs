//! A real Chromium, which tests control through `WebDriver`.

use std::path::PathBuf;
use std::sync::Once;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use ureq::Agent;

use crate::binaries::{Unavailable, on_path, or_skip};
use crate::etcd::{READY_MAX, new_folder};
use crate::ports::free_port;
use crate::process::Process;

/// The time limit of the request that finds out whether the driver answers.
const STATUS_MAX: Duration = Duration::from_secs(1);

/// Arguments of Chromium. Without a sandbox it runs as root, and without its own network traffic in
/// a closed network.
const ARGUMENTS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    // Containers have a small /dev/shm.
    "--disable-dev-shm-usage",
];

/// The programs of a browser: Chromium and its `WebDriver` server.
#[derive(Debug, Clone)]
pub struct ChromiumPrograms {
    chromium: PathBuf,
    driver: PathBuf,
}

impl ChromiumPrograms {
    /// Finds the programs on the `PATH`.
    ///
    /// # Errors
    /// If Chromium or its driver is missing.
    pub fn find() -> Result<Self, Unavailable> {
        let (Some(chromium), Some(driver)) = (on_path("chromium"), on_path("chromedriver")) else {
            let line = "chromium and chromedriver are not both on the PATH; install the Debian \
                        packages `chromium` and `chromium-driver`";
            return Err(Unavailable(line.to_owned()));
        };
        Ok(Self { chromium, driver })
    }

    /// Finds the programs, or prints one line with the reason why this test does not run.
    ///
    /// # Panics
    /// With the same line if `CI` is `true`, because a test that does not run there proves nothing.
    pub fn or_skip() -> Option<Self> {
        static TOLD: Once = Once::new();
        or_skip("tests in a browser", Self::find(), &TOLD)
    }
}

/// A running `WebDriver` server for one browser with a new profile. Both end when it is dropped.
#[derive(Debug)]
pub struct ChromeDriver {
    /// Killed before the profile is removed.
    _process: Process,
    url: String,
    chromium: PathBuf,
    profile: TempDir,
}

impl ChromeDriver {
    /// Starts a `WebDriver` server on a free port of loopback.
    ///
    /// # Panics
    /// If it does not listen, with the end of its log.
    pub fn start(programs: &ChromiumPrograms) -> Self {
        let profile = new_folder("chromium");
        let port = free_port();
        let arguments = [format!("--port={port}"), "--log-level=WARNING".to_owned()];
        let mut process =
            Process::start("chromedriver", &programs.driver, arguments, profile.path());
        let url = format!("http://127.0.0.1:{port}");
        let status = format!("{url}/status");
        let agent = Agent::config_builder().timeout_global(Some(STATUS_MAX));
        let agent = Agent::from(agent.build());
        process.wait_until("it answers", READY_MAX, || {
            agent.get(&status).call().is_ok()
        });
        Self {
            _process: process,
            url,
            chromium: programs.chromium.clone(),
            profile,
        }
    }

    /// The address of the `WebDriver` server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The capabilities of a session: the flags and the profile of Chromium, and a complete browser
    /// log. Certificates of unknown authorities are accepted, because tests make their own.
    pub fn capabilities(&self) -> Value {
        let mut arguments = ARGUMENTS.map(str::to_owned).to_vec();
        let profile = self.profile.path().join("profile");
        arguments.push(format!("--user-data-dir={}", profile.display()));
        json!({
            "browserName": "chrome",
            "acceptInsecureCerts": true,
            "goog:chromeOptions": {"binary": self.chromium, "args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"},
        })
    }
}
