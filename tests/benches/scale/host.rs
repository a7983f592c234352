//! The servers to measure, each in a child process.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use kindsight_cluster::{Binaries, Binary, Client, Credentials, Etcd};
use kindsight_clusters::{ClusterSource, kubeconfig_clusters};
use kindsight_server::{DataDir, PeerSettings, Server, Settings, SharingSettings};
use kindsight_store::{EtcdOptions, StoreAddress};
use tokio::runtime::Runtime;

use crate::measured::Usage;

/// The argument of the child.
pub(crate) const CHILD: &str = "serve-child";
/// Longest wait for a state.
const PATIENCE: Duration = Duration::from_mins(30);
/// Maximum number of open streams and connections of clients.
const CLIENTS_MAX: usize = 20_000;

/// Servers that watch the clusters of a folder with kubeconfigs, or of one kubeconfig. Several servers share them.
pub(crate) struct Hosts {
    hosts: Vec<Host>,
    /// The servers' etcd, if there are several.
    _etcd: Option<Etcd>,
}

/// One server.
struct Host {
    process: Child,
    client: Client,
    address: String,
    _data: tempfile::TempDir,
}

/// The etcd of a server that shares its clusters, and its own address.
struct Sharing {
    etcd: String,
    port: u16,
}

impl Hosts {
    /// Starts servers without clusters.
    pub(crate) fn start(number: u32) -> Self {
        let etcd = (number > 1).then(|| {
            let binaries = Binaries::find(&[Binary::Etcd]).expect("an etcd");
            Etcd::start(&binaries)
        });
        let sharing = |etcd: &Etcd| Sharing {
            etcd: etcd.url().to_owned(),
            port: free_port(),
        };
        let hosts = (0..number).map(|_| Host::start(etcd.as_ref().map(sharing)));
        Self {
            hosts: hosts.collect(),
            _etcd: etcd,
        }
    }

    /// Lets all servers watch the clusters.
    pub(crate) fn watch(&mut self, kubeconfigs: &Path) {
        for host in &mut self.hosts {
            let input = host.process.stdin.as_mut().expect("its input");
            writeln!(input, "{}", kubeconfigs.display()).expect("the folder of the kubeconfigs");
        }
    }

    /// Processor time and memory of all servers so far.
    pub(crate) fn usage(&self) -> Usage {
        self.usages().into_iter().sum()
    }

    /// Processor time and memory of each server so far.
    pub(crate) fn usages(&self) -> Vec<Usage> {
        let hosts = self.hosts.iter();
        hosts.map(|host| Usage::of(host.process.id())).collect()
    }

    /// The server that gets the queries.
    pub(crate) fn client(&self) -> &Client {
        &self.first().client
    }

    /// The address of this server.
    pub(crate) fn address(&self) -> &str {
        &self.first().address
    }

    fn first(&self) -> &Host {
        self.hosts.first().expect("a server")
    }

    /// Returns whether each server shows that all clusters are connected, with this number of objects or more.
    pub(crate) fn know(&self, clusters: usize, objects: u64) -> bool {
        self.hosts.iter().all(|host| {
            let (connected, known) = host.state();
            connected == clusters && known >= objects
        })
    }

    /// Number of all objects that the first server shows.
    pub(crate) fn objects(&self) -> u64 {
        self.first().state().1
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

impl Host {
    fn start(sharing: Option<Sharing>) -> Self {
        let data = tempfile::tempdir().expect("a folder");
        let program = std::env::current_exe().expect("this program");
        let mut command = Command::new(program);
        command.arg(CHILD).arg(data.path());
        if let Some(Sharing { etcd, port }) = sharing {
            command.args([etcd, port.to_string()]);
        }
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start the server");
        let mut lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let address = lines.next().expect("a line").expect("its address");
        let client = Client::new(&format!("http://{address}"), None, &Credentials::Nobody);
        Self {
            process,
            client: client.with_timeout(Duration::from_mins(2)),
            address,
            _data: data,
        }
    }

    /// Number of connected clusters, and of the objects of all clusters.
    fn state(&self) -> (usize, u64) {
        let answer = self.client.get("/v2/clusters").unwrap_or_default();
        let clusters = answer["clusters"].as_array().cloned().unwrap_or_default();
        let connected = clusters
            .iter()
            .filter(|cluster| cluster["connection"] == "connected");
        let objects = clusters
            .iter()
            .filter_map(|cluster| cluster["objects"].as_u64());
        (connected.count(), objects.sum())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}

/// Runs the server in the child process. The first line of the input is the path of the kubeconfigs.
pub(crate) fn serve(mut arguments: impl Iterator<Item = String>) {
    let runtime = Runtime::new().expect("an executor");
    let (clusters, changes) = tokio::sync::watch::channel(Vec::new());
    let data = arguments.next().expect("a folder");
    let mut settings = settings(Path::new(&data));
    if let (Some(etcd), Some(port)) = (arguments.next(), arguments.next()) {
        share(&mut settings, &etcd, &port);
    }
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

/// Shares the clusters over an etcd, as `--store` and `--share-clusters` do.
fn share(settings: &mut Settings, etcd: &str, port: &str) {
    let address: StoreAddress = etcd
        .replace("http://", "etcd://")
        .parse()
        .expect("an address");
    let store = kindsight_store::open(&address, &EtcdOptions::default()).expect("a store");
    settings.contexts = Arc::clone(&store);
    settings.store = store;
    settings.listen = format!("127.0.0.1:{port}").parse().expect("an address");
    settings.sharing = Some(SharingSettings {
        url: format!("http://127.0.0.1:{port}").parse().expect("a URL"),
        weight: kindsight_server::leases::Weight::default(),
        peers: PeerSettings::default(),
    });
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
