//! A cluster with an installed monitor, and processes of the monitor.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use kindsight_cluster::{Binaries, Binary, Client, Cluster, Credentials, Etcd, Options};
use kindsight_model::{Bundle, BundleError, decode_bundle};
use serde_json::{Value, json};

/// Time for any step of a cluster or of the monitor.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// ResourceBundleStates in all namespaces, and in one.
pub(crate) const STATES: &str = "/apis/k8splugin.io/v1alpha1/resourcebundlestates";
/// The definition of the Kind.
pub(crate) const DEFINITION: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/resourcebundlestates.k8splugin.io";
/// The label of a deployment.
pub(crate) const LABEL: &str = "emco/deployment-id";

/// Ticks of processor time per second in `/proc`, and the fields of user and system time.
const TICKS: u64 = 100;
const PROCESSOR_FIELDS: [usize; 2] = [11, 12];

/// A cluster with etcd.
pub(crate) struct Stage {
    pub(crate) cluster: Cluster,
    _etcd: Etcd,
}

/// Processor time and memory of a process.
#[derive(Debug)]
pub(crate) struct Usage {
    pub(crate) processor_ms: u64,
    pub(crate) resident_kib: u64,
    pub(crate) peak_kib: u64,
}

/// A running monitor. It is killed when it is dropped.
pub(crate) struct Monitor {
    child: Child,
    log: PathBuf,
}

impl Stage {
    /// A cluster with controllers. `None` if the executables are not available.
    pub(crate) fn empty(name: &str) -> Option<Self> {
        let binaries = Binaries::or_skip(Binary::ALL)?;
        let etcd = Etcd::start(&binaries);
        let cluster = Cluster::start(&etcd, &Options::new(name));
        Some(Self {
            cluster,
            _etcd: etcd,
        })
    }

    /// A cluster after the command `install`, without a running monitor.
    pub(crate) fn installed(name: &str) -> Option<Self> {
        let stage = Self::empty(name)?;
        let output = stage.install(&["--yes"]);
        assert!(output.status.success(), "{output:?}");
        stage
            .cluster
            .client()
            .wait_for_status(STATES, 200, PATIENCE);
        let account = stage.account();
        account.wait_for_status("/apis/apps/v1/deployments", 200, PATIENCE);
        account.wait_for_status(STATES, 200, PATIENCE);
        Some(stage)
    }

    /// Runs `kindsight-monitor install` with the credentials of the administrator.
    pub(crate) fn install(&self, arguments: &[&str]) -> Output {
        let kubeconfig = self.cluster.kubeconfig();
        let output = Command::new(env!("CARGO_BIN_EXE_kindsight-monitor"))
            .args(["install", "--kubeconfig"])
            .arg(kubeconfig)
            .args(arguments)
            .stdin(Stdio::null())
            .output();
        output.expect("the command")
    }

    /// A client with the rights of the monitor.
    pub(crate) fn account(&self) -> Client {
        self.cluster.client_as(&self.credentials())
    }

    /// A token of the account of the monitor.
    fn credentials(&self) -> Credentials {
        let account =
            "/api/v1/namespaces/kindsight-monitor/serviceaccounts/kindsight-monitor/token";
        let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "spec": {"expirationSeconds": 7200}});
        let answer = self.cluster.client().create(account, &request);
        let token = answer["status"]["token"].as_str().expect("a token");
        Credentials::Token(token.to_owned())
    }

    /// Starts a monitor with the rights of its account.
    pub(crate) fn start(&self, identity: &str, arguments: &[&str]) -> Monitor {
        let folder = self.cluster.folder();
        let kubeconfig = folder.join(format!("{identity}.kubeconfig"));
        let name = self.cluster.name();
        let credentials = self.credentials();
        kindsight_cluster::write_kubeconfig(&kubeconfig, &[(name, &self.cluster, &credentials)]);
        Monitor::start(&kubeconfig, folder, identity, arguments)
    }

    /// Creates the ResourceBundleState of a deployment, as a sender does.
    pub(crate) fn send_state(&self, namespace: &str, deployment: &str) {
        self.cluster.apply(&json!({
            "apiVersion": "k8splugin.io/v1alpha1", "kind": "ResourceBundleState",
            "metadata": {"name": deployment, "namespace": namespace, "labels": {LABEL: deployment}},
            "spec": {"selector": {"matchLabels": {LABEL: deployment}}},
        }));
    }

    /// The report in a ResourceBundleState; none if there is no report yet, or while it is being written.
    pub(crate) fn report(&self, namespace: &str, deployment: &str) -> Option<Bundle> {
        let state = self.cluster.get(&state_path(namespace, deployment))?;
        match decode_bundle(state.to_string().as_bytes()) {
            Ok(bundle) => Some(bundle),
            Err(BundleError::NoStatus | BundleError::Torn(_)) => None,
            Err(error) => panic!("{deployment}: {error}"),
        }
    }

    /// Waits until the report on a deployment has exactly these objects, as `Kind/namespace/name`.
    pub(crate) fn wait_for_objects(&self, namespace: &str, deployment: &str, expected: &[&str]) {
        let is_so =
            |objects: &Option<Vec<String>>| objects.as_deref().is_some_and(|it| it == expected);
        let get = || self.report(namespace, deployment).map(|it| names(&it));
        wait(&format!("{deployment} has {expected:?}"), get, is_so);
    }
}

impl Monitor {
    fn start(kubeconfig: &Path, folder: &Path, identity: &str, arguments: &[&str]) -> Self {
        let log = folder.join(format!("{identity}.monitor.log"));
        let file = File::options().create(true).append(true).open(&log);
        let child = Command::new(env!("CARGO_BIN_EXE_kindsight-monitor"))
            .args([
                "run",
                "--log",
                "info,kindsight_monitor=debug",
                "--identity",
                identity,
            ])
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file.expect("a log"))
            .spawn();
        Self {
            child: child.expect("the monitor"),
            log,
        }
    }

    /// Its log so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Its use of the machine so far.
    pub(crate) fn usage(&self) -> Usage {
        let id = self.child.id();
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).expect("a process");
        let fields = stat.rsplit(')').next().expect("fields").split_whitespace();
        let fields: Vec<&str> = fields.collect();
        let ticks = PROCESSOR_FIELDS.map(|at| fields[at].parse::<u64>().expect("ticks"));
        let status = fs::read_to_string(format!("/proc/{id}/status")).expect("a process");
        let kib = |name: &str| {
            let mut lines = status.lines();
            let line = lines.find(|line| line.starts_with(name)).expect("a line");
            let number = line.split_whitespace().nth(1).expect("a number");
            number.parse::<u64>().expect("a number")
        };
        Usage {
            processor_ms: ticks.iter().sum::<u64>() * 1_000 / TICKS,
            resident_kib: kib("VmRSS"),
            peak_kib: kib("VmHWM"),
        }
    }

    /// Kills it.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        self.end();
        if std::thread::panicking() {
            eprintln!("log of the monitor:\n{}", self.log());
        }
    }
}

/// The path of a ResourceBundleState.
pub(crate) fn state_path(namespace: &str, name: &str) -> String {
    format!("/apis/k8splugin.io/v1alpha1/namespaces/{namespace}/resourcebundlestates/{name}")
}

/// The objects of a report as `Kind/namespace/name`, in order.
pub(crate) fn names(bundle: &Bundle) -> Vec<String> {
    let objects = bundle.report.objects.iter();
    let names = objects.map(|it| format!("{}/{}/{}", it.gvk.kind, it.namespace, it.name));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// A ConfigMap with the label of a deployment.
pub(crate) fn config_map(namespace: &str, name: &str, deployment: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": {LABEL: deployment}}})
}

/// Creates a namespace.
pub(crate) fn namespace(cluster: &Cluster, name: &str) {
    cluster.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
}

/// Polls a value until it meets the condition.
pub(crate) fn wait<T: std::fmt::Debug>(
    what: &str,
    get: impl Fn() -> T,
    is_so: impl Fn(&T) -> bool,
) -> T {
    let began = Instant::now();
    loop {
        let value = get();
        if is_so(&value) {
            return value;
        }
        assert!(began.elapsed() < PATIENCE, "{what}: still {value:#?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}
