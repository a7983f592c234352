//! The server to measure, in a child process.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use kindsight_cluster::{Client, Credentials};
use kindsight_clusters::{ClusterSource, kubeconfig_clusters};
use kindsight_server::{DataDir, Server, Settings};
use tokio::runtime::Runtime;

use crate::measured::Usage;

/// The argument of the child.
pub(crate) const CHILD: &str = "serve-child";
/// Longest wait for a state.
const PATIENCE: Duration = Duration::from_mins(30);
/// Maximum number of open streams and connections of clients.
const CLIENTS_MAX: usize = 20_000;

/// A server that watches all clusters of a folder with kubeconfigs, or of one kubeconfig.
pub(crate) struct Host {
    process: Child,
    pub(crate) client: Client,
    pub(crate) address: String,
    /// The usage without clusters.
    pub(crate) empty: Usage,
    _data: tempfile::TempDir,
}

impl Host {
    /// Starts a server, which begins to watch the clusters after its usage was noted.
    pub(crate) fn start(kubeconfigs: &Path) -> Self {
        let data = tempfile::tempdir().expect("a folder");
        let program = std::env::current_exe().expect("this program");
        let mut process = Command::new(program)
            .args([CHILD, &data.path().display().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start the server");
        let mut lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let address = lines.next().expect("a line").expect("its address");
        let client = Client::new(&format!("http://{address}"), None, &Credentials::Nobody);
        let empty = Usage::of(process.id());
        let mut input = process.stdin.take().expect("its input");
        std::io::Write::write_all(
            &mut input,
            format!("{}\n", kubeconfigs.display()).as_bytes(),
        )
        .expect("the folder of the kubeconfigs");
        process.stdin = Some(input);
        Self {
            process,
            client: client.with_timeout(Duration::from_mins(2)),
            address,
            empty,
            _data: data,
        }
    }

    /// Processor time and memory so far.
    pub(crate) fn usage(&self) -> Usage {
        Usage::of(self.process.id())
    }

    /// The connections of all clusters and the number of their objects.
    pub(crate) fn state(&self) -> (usize, u64) {
        let answer = self.client.get("/v2/clusters").unwrap_or_default();
        let clusters = answer["clusters"].as_array().cloned().unwrap_or_default();
        let connected = clusters.iter().filter(|it| it["connection"] == "connected");
        let objects = clusters.iter().filter_map(|it| it["objects"].as_u64());
        (connected.count(), objects.sum())
    }

    /// Waits until a condition holds. Returns the time.
    pub(crate) fn wait(&self, what: &str, is_so: impl Fn(&Self) -> bool) -> Duration {
        let began = Instant::now();
        while !is_so(self) {
            assert!(began.elapsed() < PATIENCE, "not in time: {what}");
            thread::sleep(Duration::from_millis(200));
        }
        began.elapsed()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs the server in the child process. The first line of the input is the path of the kubeconfigs.
pub(crate) fn serve(data: &str) {
    let runtime = Runtime::new().expect("an executor");
    let (clusters, changes) = tokio::sync::watch::channel(Vec::new());
    let mut settings = settings(Path::new(data));
    settings.cluster_changes = Some(changes);
    let server = runtime.block_on(Server::start(settings)).expect("a server");
    println!("{}", server.address());
    runtime.spawn(async move { server.failed().await });
    let mut lines = std::io::stdin().lines();
    let folder = lines.next().expect("a line").expect("a path");
    clusters.send_replace(sources(Path::new(&folder)));
    // The parent closes the input at the end.
    let _ = lines.next();
}

/// The settings of `kindsight serve --data-dir` without other flags.
fn settings(data: &Path) -> Settings {
    let folder = DataDir::open(data).expect("a data folder");
    let mut settings = Settings {
        contexts: folder.contexts,
        remembered: folder.remembered,
        // Compiled components of an earlier run.
        cache: Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("scale-aot")),
        ..Settings::new(folder.store)
    };
    settings.rest_limits.streams_max = CLIENTS_MAX;
    settings.rest_limits.connections_max = CLIENTS_MAX;
    settings
}

/// The clusters of a kubeconfig, or of each kubeconfig in a folder.
fn sources(path: &Path) -> Vec<ClusterSource> {
    let mut files = vec![path.to_owned()];
    if path.is_dir() {
        let entries = std::fs::read_dir(path).expect("the folder");
        let entries = entries.filter_map(|file| Some(file.ok()?.path()));
        let is_config = |path: &PathBuf| path.extension() == Some("kubeconfig".as_ref());
        files = entries.filter(is_config).collect();
        files.sort();
    }
    let clusters = files
        .iter()
        .flat_map(|file| kubeconfig_clusters(file, None).expect("a kubeconfig"));
    clusters
        .map(|cluster| ClusterSource::Kubernetes(Box::new(cluster)))
        .collect()
}
