//! A cluster with the objects of the chart, and its Pods.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use kindsight_cluster::{
    Authority, Binaries, Binary, Client, Cluster, Container, Credentials, Etcd, Options,
    loopback_address,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::PATIENCE;
use super::pod::{Pod, Secrets, Template, items, text};
use crate::helm::{Helm, NAMESPACE, object};

/// A cluster with the chart, and the Pods of the chart.
pub(super) struct Installation {
    pub(super) pods: Vec<Pod>,
    /// The output of Helm.
    pub(super) rendered: Vec<Value>,
    /// The authority of the certificates of the Pods.
    authority: Authority,
    /// The token of the user, from the token file.
    token: String,
    /// A client with the rights of the Pods.
    account: Client,
    pub(super) cluster: Cluster,
    folder: TempDir,
    pub(super) etcd: Etcd,
}

impl Installation {
    /// Applies the chart with these values, and starts its Pod. `None` if a program or a right is missing.
    pub(super) fn with(values: &[&str]) -> Option<Self> {
        Self::start(values, Etcd::start, |_, _| Vec::new())
    }

    /// Applies the chart with these values, two Pods, an etcd with TLS, and metrics.
    pub(super) fn over_etcd(values: &[&str]) -> Option<Self> {
        Self::start(values, Etcd::start_with_tls, |etcd, cluster| {
            let address = etcd.url().trim_start_matches("https://");
            let (_, port) = cluster.url().rsplit_once(':').expect("a port");
            vec![
                "replicas=2".to_owned(),
                format!(r#"etcd.endpoints=["{address}"]"#),
                r#"etcd.tlsSecret="kindsight-etcd""#.to_owned(),
                "metrics.enabled=true".to_owned(),
                format!("networkPolicy.egressPorts=[{port}]"),
            ]
        })
    }

    fn start(
        values: &[&str],
        etcd: impl FnOnce(&Binaries) -> Etcd,
        more: impl FnOnce(&Etcd, &Cluster) -> Vec<String>,
    ) -> Option<Self> {
        let helm = Helm::or_skip()?;
        let binaries = Binaries::or_skip(Binary::API_SERVER)?;
        if !Container::can_start() {
            return None;
        }
        let etcd = etcd(&binaries);
        let cluster = Cluster::start(&etcd, &Options::api_server("here"));
        apply_applications(&cluster);
        let more = more(&etcd, &cluster);
        let values: Vec<&str> = values
            .iter()
            .copied()
            .chain(more.iter().map(|it| &**it))
            .collect();
        let rendered = helm.objects(&values);
        for object in &rendered {
            cluster.apply(object);
        }
        let account = account_token(&cluster, &rendered);
        let folder = TempDir::new().expect("a folder");
        let count = object(&rendered, "StatefulSet")["spec"]["replicas"].as_u64();
        let count = count.expect("a number of Pods");
        let addresses: Vec<Ipv4Addr> = (0..count).map(|_| loopback_address()).collect();
        let authority = Authority::new("kindsight");
        let (tokens, token) = token_file(&folder);
        let secrets = secrets(&authority, &addresses, tokens, &etcd);
        let template = Template {
            cluster: &cluster,
            rendered: &rendered,
            account: &account,
            secrets: &secrets,
        };
        // All Pods start at once, as in a StatefulSet with `podManagementPolicy: Parallel`.
        let pods = addresses.iter().enumerate().map(|(number, address)| {
            let folder = folder.path().join(format!("pod-{number}"));
            std::fs::create_dir(&folder).expect("a folder");
            template.start(*address, &folder)
        });
        let pods: Vec<Pod> = pods.collect();
        for pod in &pods {
            pod.wait_until_ready(authority.certificate());
        }
        Some(Self {
            pods,
            authority,
            token,
            account: cluster.client_as(&Credentials::Token(account)),
            rendered,
            cluster,
            folder,
            etcd,
        })
    }

    /// The certificate of the authority of the Pods.
    pub(super) fn authority(&self) -> &str {
        self.authority.certificate()
    }

    /// A client of each Pod with the token of the Secret.
    pub(super) fn users(&self) -> Vec<Client> {
        let pods = self.pods.iter();
        pods.map(|pod| pod.client(self.authority(), &self.token))
            .collect()
    }

    /// Waits until the list of applications of each Pod has exactly these names (`NAMESPACE/NAME`).
    pub(super) fn wait_for_applications(&self, expected: &[&str]) {
        for user in self.users() {
            wait_until(|| {
                let answer = user.get("/v2/applications").expect("applications");
                if names(&answer) == expected {
                    Ok(())
                } else {
                    Err(answer)
                }
            });
        }
    }

    /// The entry of the cluster in `GET /v2/clusters` of each Pod.
    pub(super) fn watched(&self) -> Vec<Value> {
        let answers = self.users().into_iter().map(|user| {
            let answer = user.get("/v2/clusters").expect("clusters");
            let clusters = answer["clusters"].as_array().expect("clusters");
            assert_eq!(clusters.len(), 1, "{answer:#}");
            clusters[0].clone()
        });
        answers.collect()
    }

    pub(super) fn assert_forbidden(&self, path: &str) {
        self.account.wait_for_status(path, 403, Duration::ZERO);
        assert!(self.cluster.get(path).is_some(), "{path} does not exist");
    }

    /// Runs a command of kindsight as the user of a Pod.
    pub(super) fn run(&self, pod: &Pod, arguments: &[&str]) -> Output {
        let mut command = kindsight(arguments);
        command.args(["--server", &pod.url()]);
        command
            .arg("--ca")
            .arg(self.file("ca.crt", self.authority()));
        command
            .arg("--token-file")
            .arg(self.file("token", &self.token));
        command.output().expect("kindsight")
    }

    /// Writes a file for a command; returns its path.
    pub(super) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let file = self.folder.path().join(name);
        std::fs::write(&file, content).expect("a file");
        file
    }
}

/// Waits until the condition is met; fails with its last error.
pub(super) fn wait_until(mut condition: impl FnMut() -> Result<(), Value>) {
    let begin = Instant::now();
    while let Err(found) = condition() {
        assert!(begin.elapsed() < PATIENCE, "{found:#}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn names(answer: &Value) -> Vec<String> {
    let names = items(&answer["applications"]).map(|application| {
        // An application that was found in a cluster has its namespace in place of the group.
        format!(
            "{}/{}",
            text(&application["name"]),
            text(&application["composite-app-name"])
        )
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Two namespaces with an application each, and the namespace of the release.
fn apply_applications(cluster: &Cluster) {
    for name in [NAMESPACE, "web", "other"] {
        cluster.apply(&json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name},
        }));
    }
    for namespace in ["web", "other"] {
        cluster.apply(&json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": "settings", "namespace": namespace,
                "labels": {"app.kubernetes.io/instance": "shop"},
            },
        }));
    }
}

/// A token of the account of the Pods, as the kubelet requests it.
fn account_token(cluster: &Cluster, rendered: &[Value]) -> String {
    let pod = &object(rendered, "StatefulSet")["spec"]["template"]["spec"];
    let account = text(&pod["serviceAccountName"]);
    let path = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token");
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": {"expirationSeconds": 3600}});
    let answer = cluster.client().create(&path, &request);
    text(&answer["status"]["token"]).to_owned()
}

/// The files of the Secrets that the Pods mount: the token file, and certificates of an authority.
fn secrets(authority: &Authority, pods: &[Ipv4Addr], tokens: String, etcd: &Etcd) -> Secrets {
    let names: Vec<String> = pods.iter().map(ToString::to_string).collect();
    let server = authority.server_named(&names, None);
    let tls = vec![("tls.crt", server.certificate), ("tls.key", server.key)];
    let extra = vec![("ca.crt", authority.certificate().to_owned())];
    Secrets::from([
        ("kindsight-tokens", vec![("tokens.toml", tokens)]),
        ("kindsight-tls", tls),
        ("kindsight-etcd", etcd_files(etcd)),
        ("kindsight-extra", extra),
    ])
}

/// The files of a client of this etcd; none if it has no TLS.
fn etcd_files(etcd: &Etcd) -> Vec<(&'static str, String)> {
    let Some(authority) = etcd.authority() else {
        return Vec::new();
    };
    let client = authority.client("kindsight", "clients", None);
    vec![
        ("ca.crt", authority.certificate().to_owned()),
        ("tls.crt", client.certificate),
        ("tls.key", client.key),
    ]
}

/// A token file as `kindsight token new` makes it, and the token.
fn token_file(folder: &TempDir) -> (String, String) {
    let file = folder.path().join("tokens.toml");
    let mut command = kindsight(&["token", "new", "admin", "--expires", "1d", "--tokens"]);
    let output = command.arg(&file).output().expect("a token");
    assert!(output.status.success(), "{output:?}");
    let token = String::from_utf8(output.stdout).expect("UTF-8");
    let file = std::fs::read_to_string(file).expect("the token file");
    (file, token.trim().to_owned())
}

/// A command without the settings of the person who runs the tests.
fn kindsight(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kindsight"));
    let none = concat!(env!("CARGO_TARGET_TMPDIR"), "/no-user");
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
        command.env(name, none);
    }
    command.args(arguments);
    command
}
