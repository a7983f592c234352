//! A cluster with kindsight in it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use kindsight_cluster::{
    Authority, Binaries, Binary, Cluster, Credentials, Etcd, Options, write_kubeconfig,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{Server, kindsight, run, text};

/// The address of kindsight in the namespace.
const ADDRESS: &str = "10.99.0.1";
/// The port of kindsight.
const PORT: u16 = 9015;
/// Time limit until the server lists the application.
pub(super) const PATIENCE: Duration = Duration::from_mins(2);

/// The flag of a `ServiceAccount`, and the name of the account.
pub(super) const AS: &str = "--as-service-account";
pub(super) const READER: &str = "default/reader";

/// A cluster with a Service of kindsight, whose access control reviews tokens.
pub(super) struct Stage {
    pub(super) folder: TempDir,
    plugin: PathBuf,
    pub(super) cluster: Cluster,
    _server: Server,
    _etcd: Etcd,
}

/// Roles of kindsight. The `ServiceAccount` `reader` is a viewer. The user of the token file may also change interpreters.
const ROLES: &str = r#"
[[binding]]
role = "viewer"
users = ["kubernetes:system:serviceaccount:default:reader", "token:ci"]

[[binding]]
role = "operator"
users = ["token:ci"]
"#;

/// The token of a user of the API server.
const USER_TOKEN: &str = "tokenofann";

impl Stage {
    /// `None` if a program is missing.
    pub(super) fn start() -> Option<Self> {
        let binaries = Binaries::or_skip(Binary::API_SERVER)?;
        let etcd = Etcd::start(&binaries);
        let options = Options::api_server("edge").user("ann", &["people"], USER_TOKEN);
        let cluster = Cluster::start(&etcd, &options);
        for object in objects() {
            cluster.apply(&object);
        }
        let pod = "/api/v1/namespaces/default/pods/kindsight-0/status";
        let status = json!({"status": {"podIP": ADDRESS, "podIPs": [{"ip": ADDRESS}]}});
        cluster.patch(pod, "application/merge-patch+json", &status);
        let folder = tempfile::tempdir().unwrap();
        write_files(folder.path(), &cluster);
        let path = |name: &str| folder.path().join(name).display().to_string();
        let arguments = [
            format!("--kubeconfig={}", path("kubeconfig")),
            format!("--tls-cert={}", path("server.pem")),
            format!("--tls-key={}", path("server.key")),
            format!("--roles={}", path("roles.toml")),
            format!("--tokens={}", path("tokens")),
            "--token-review-cluster=kubeconfig+edge".to_owned(),
        ];
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let server = Server::start_on(
            &format!("{ADDRESS}:{PORT}"),
            &folder.path().join("data"),
            &[],
            &arguments,
        );
        let plugin = folder.path().join("kubectl-kindsight");
        symlink(env!("CARGO_BIN_EXE_kindsight"), &plugin).unwrap();
        let stage = Self {
            folder,
            plugin,
            cluster,
            _server: server,
            _etcd: etcd,
        };
        stage.wait_until_listed();
        Some(stage)
    }

    fn wait_until_listed(&self) {
        let began = Instant::now();
        loop {
            let listed = self.run(&["applications", AS, READER]);
            if text(&listed.stdout).contains("shop") {
                return;
            }
            let errors = text(&listed.stderr);
            assert!(began.elapsed() < PATIENCE, "not listed: {errors}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// A command of the plugin, with the kubeconfig of the administrator.
    pub(super) fn command(&self, args: &[&str]) -> Command {
        self.command_with("kubeconfig", args)
    }

    pub(super) fn command_with(&self, kubeconfig: &str, args: &[&str]) -> Command {
        let prepared = kindsight(&[]);
        let mut command = Command::new(&self.plugin);
        for (name, value) in prepared.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env("KUBECONFIG", self.folder.path().join(kubeconfig));
        command.args(args);
        command
    }

    pub(super) fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Standard output of a command that succeeds.
    pub(super) fn out(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(
            output.status.success(),
            "{args:?}: {}",
            text(&output.stderr)
        );
        text(&output.stdout)
    }

    /// Standard error of a command that fails.
    pub(super) fn refused(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
        text(&output.stderr)
    }
}

/// The Service and the Pod of kindsight, a `ServiceAccount`, an application, and the rights of the user `ann`.
fn objects() -> Vec<Value> {
    let labels = json!({"app.kubernetes.io/name": "kindsight"});
    let port = json!([{"name": "https", "port": 443, "targetPort": PORT}]);
    let target = json!({"kind": "Pod", "namespace": "default", "name": "kindsight-0"});
    vec![
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "kindsight-0", "labels": labels},
            "spec": {"containers": [{"name": "kindsight", "image": "kindsight"}]},
        }),
        json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "kindsight", "labels": labels}, "spec": {"ports": port},
        }),
        json!({
            "apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "kindsight"},
            "subsets": [{
                "addresses": [{"ip": ADDRESS, "targetRef": target}],
                "ports": [{"name": "https", "port": PORT}],
            }],
        }),
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader"}}),
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "settings", "labels": {"app.kubernetes.io/part-of": "shop"}},
        }),
    ]
}

fn write_files(folder: &Path, cluster: &Cluster) {
    let ann = Credentials::Token(USER_TOKEN.to_owned());
    let admin = ("edge", cluster, cluster.admin());
    write_kubeconfig(&folder.join("kubeconfig"), &[admin]);
    write_kubeconfig(&folder.join("ann"), &[("ann", cluster, &ann)]);
    let identity = Authority::new("kindsight").server(None);
    for (name, content) in [
        ("server.pem", &*identity.certificate),
        ("server.key", &identity.key),
        ("roles.toml", ROLES),
    ] {
        fs::write(folder.join(name), content).unwrap();
    }
    let tokens = folder.join("tokens").display().to_string();
    let new = ["token", "new", "ci", "--expires", "1h", "--tokens", &tokens];
    let created = run(&new, "");
    assert!(created.status.success(), "{}", text(&created.stderr));
    let token = folder.join("ci");
    fs::write(&token, created.stdout).unwrap();
    let config = format!(
        "default-server = \"prod\"\n[servers.prod]\nurl = \"https://unused.example\"\ntoken-file = \"{}\"\n",
        token.display()
    );
    fs::write(folder.join("client.toml"), config).unwrap();
}
