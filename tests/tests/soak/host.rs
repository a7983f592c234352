//! The server in a process of its own, which is this executable.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kindsight_cluster::{Client, Credentials};
use kindsight_clusters::{ClusterSource, WatchOptions, kubeconfig_clusters};
use kindsight_server::{DataDir, Error, LogFormat, Settings, Timeouts, start_logging};

/// The first argument of the process: the folder of data, the shared folder and the kubeconfigs follow.
pub(crate) const SERVE: &str = "--serve";

/// Average time between two samples of the audit.
const AUDIT_INTERVAL: Duration = Duration::from_millis(100);
/// Budget of the memo of verdicts. It is small, so that the memo is full before the warm-up ends.
const MEMO_BYTES: usize = 4 * 1024 * 1024;
/// Time for which a deleted object is listed as gone.
const GONE_FOR: Duration = Duration::from_secs(1);
/// Lifetime of a watch. Expired versions and lost connections are noticed when it ends.
const WATCH_LIFETIME: Duration = Duration::from_secs(20);

/// A running server. It is killed when it is dropped.
pub(crate) struct Host {
    child: Child,
    pub(crate) client: Client,
    arguments: Vec<PathBuf>,
    log: PathBuf,
    /// Drifts that the audits of earlier processes found.
    earlier_drifts: u64,
}

/// Counts of the audit, from the metrics.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Audits {
    pub(crate) samples: u64,
    pub(crate) drifts: u64,
}

impl Host {
    /// Starts a server over a folder of data. `shared` has interpreters and compiled components.
    pub(crate) fn start(data: &Path, shared: &Path, kubeconfigs: Vec<PathBuf>) -> Self {
        let arguments = [data.to_owned(), shared.to_owned()].into_iter();
        let arguments: Vec<PathBuf> = arguments.chain(kubeconfigs).collect();
        let log = data.with_extension("log");
        let (child, client) = start(&arguments, &log);
        Self {
            child,
            client,
            arguments,
            log,
            earlier_drifts: 0,
        }
    }

    /// Kills the process, and starts another one over the same data.
    pub(crate) fn restart(&mut self) {
        self.earlier_drifts = self.audits().drifts;
        self.end();
        (self.child, self.client) = start(&self.arguments, &self.log);
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Returns whether the process runs.
    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// The counts of this process, and the drifts of all processes.
    pub(crate) fn audits(&self) -> Audits {
        let metrics = self.client.get("/metrics").unwrap_or_default();
        let sum = |name: &str| -> u64 {
            let lines = metrics.as_str().unwrap_or_default().lines();
            let lines = lines.filter(|line| line.starts_with(name));
            let values = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
            values.sum()
        };
        Audits {
            samples: sum("kindsight_audit_samples_total{"),
            drifts: self.earlier_drifts + sum("kindsight_audit_drifts_total{"),
        }
    }

    /// The parts of the memory that the server counts, in KiB.
    pub(crate) fn memory_parts(&self) -> String {
        let metrics = self.client.get("/metrics").unwrap_or_default();
        let lines = metrics.as_str().unwrap_or_default().lines();
        let lines = lines.filter_map(|line| line.strip_prefix("kindsight_memory_bytes{part=\""));
        let parts = lines.filter_map(|line| {
            let (part, value) = line.split_once("\"} ")?;
            let bytes: f64 = value.parse().ok()?;
            Some(format!("{part} {:.0}", bytes / 1024.0))
        });
        parts.collect::<Vec<_>>().join(", ")
    }

    /// The lines of the log that report a drift.
    pub(crate) fn drift_lines(&self) -> Vec<String> {
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines = log.lines().filter(|line| line.contains("differs from"));
        lines.map(str::to_owned).collect()
    }

    fn end(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.end();
    }
}

fn start(arguments: &[PathBuf], log: &Path) -> (Child, Client) {
    let log_file = File::options().create(true).append(true).open(log);
    let mut child = Command::new(std::env::current_exe().expect("this executable"))
        .arg(SERVE)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log_file.expect("a log"))
        .spawn()
        .expect("a process");
    let mut url = String::new();
    let stdout = child.stdout.take().expect("its output");
    let read = BufReader::new(stdout).read_line(&mut url);
    let url = url.trim();
    let tail = || std::fs::read_to_string(log).unwrap_or_default();
    assert!(
        read.is_ok() && url.starts_with("http"),
        "it did not start: {}",
        tail()
    );
    (child, Client::new(url, None, &Credentials::Nobody))
}

/// Runs the server of the process until its parent ends.
pub(crate) fn serve(arguments: Vec<PathBuf>) {
    start_logging("info", LogFormat::Text, std::io::stderr).expect("a log");
    let mut arguments = arguments.into_iter();
    let (data, shared) = (arguments.next().expect("a folder"), arguments.next());
    let shared = shared.expect("a shared folder");
    let DataDir {
        store, remembered, ..
    } = DataDir::open(&data).expect("a folder of data");
    let settings = Settings {
        clusters: arguments.flat_map(|file| sources(&file)).collect(),
        cache: Some(shared.join("cache")),
        interpreters: Some(shared.join("interpreters")),
        remembered,
        audit_interval: AUDIT_INTERVAL,
        interpreter_limits: kindsight_interpreter::Limits {
            memo_bytes_max: MEMO_BYTES,
            ..kindsight_interpreter::Limits::default()
        },
        timeouts: Timeouts {
            gone_for: GONE_FOR,
            ..Timeouts::default()
        },
        ..Settings::new(store)
    };
    let run = kindsight_server::run::<Error>(settings, async |server, mut signals| {
        println!("http://{}", server.address());
        // The parent writes nothing.
        let parent = tokio::task::spawn_blocking(|| std::io::stdin().read(&mut [0]));
        tokio::select! {
            () = signals.wait(server) => {}
            _ = parent => {}
        }
        Ok(())
    });
    if let Err(error) = run {
        panic!("the server ended: {error}");
    }
}

fn sources(kubeconfig: &Path) -> Vec<ClusterSource> {
    let clusters = kubeconfig_clusters(kubeconfig, None).expect("a kubeconfig");
    let options = WatchOptions {
        watch_lifetime: WATCH_LIFETIME,
        ..WatchOptions::default()
    };
    let clusters = clusters.into_iter();
    clusters
        .map(|cluster| ClusterSource::Kubernetes(Box::new(cluster.with_options(options.clone()))))
        .collect()
}
