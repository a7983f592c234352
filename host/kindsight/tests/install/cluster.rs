//! The chart on a real API server: its objects are applied, and the image runs with the account, the settings and the
//! files of the Pod.

use std::process::Command;
use std::time::{Duration, Instant};

use kindsight_cluster::{
    Authority, Binaries, Binary, Client, Cluster, Container, Credentials, Etcd, Mount, Options,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::helm::{Helm, NAMESPACE, object};
use crate::image;

/// Time for the start of a build without optimizations.
const PATIENCE: Duration = Duration::from_mins(3);

/// A cluster with the chart, and the Pod of the chart.
struct Installation {
    cluster: Cluster,
    /// A client with the rights of the Pod.
    account: Client,
    /// A client of the REST API with the token of the Secret.
    user: Client,
    _pod: Container,
    _folder: TempDir,
    _etcd: Etcd,
}

impl Installation {
    /// Applies the chart with these values, and starts its Pod. `None` if a program or a right is missing.
    fn with(values: &[&str]) -> Option<Self> {
        let helm = Helm::or_skip()?;
        let binaries = Binaries::or_skip(Binary::API_SERVER)?;
        if !Container::can_start() {
            return None;
        }
        let etcd = Etcd::start(&binaries);
        let cluster = Cluster::start(&etcd, &Options::api_server("here"));
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
        let rendered = helm.objects(values);
        for object in &rendered {
            cluster.apply(object);
        }
        let token = account_token(&cluster, &rendered);
        let account = cluster.client_as(&Credentials::Token(token.clone()));
        let folder = TempDir::new().expect("a folder");
        let (pod, user) = start_pod(&cluster, &rendered, &token, &folder);
        user.wait_for_status("/readyz", 200, PATIENCE);
        Some(Self {
            cluster,
            account,
            user,
            _pod: pod,
            _folder: folder,
            _etcd: etcd,
        })
    }

    /// Waits until the list of applications has exactly these names (`NAMESPACE/NAME`).
    fn wait_for_applications(&self, expected: &[&str]) {
        let begin = Instant::now();
        loop {
            let answer = self.user.get("/v2/applications").expect("applications");
            if names(&answer) == expected {
                return;
            }
            assert!(begin.elapsed() < PATIENCE, "{answer:#}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// The entry of the cluster in `GET /v2/clusters`.
    fn watched(&self) -> Value {
        let answer = self.user.get("/v2/clusters").expect("clusters");
        let clusters = answer["clusters"].as_array().expect("clusters");
        assert_eq!(clusters.len(), 1, "{answer:#}");
        clusters[0].clone()
    }

    fn assert_forbidden(&self, path: &str) {
        self.account.wait_for_status(path, 403, Duration::ZERO);
        assert!(self.cluster.get(path).is_some(), "{path} does not exist");
    }
}

fn names(answer: &Value) -> Vec<String> {
    let applications = answer["applications"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let names = applications.map(|it| {
        // An application that was found in a cluster has its namespace in place of the group.
        format!("{}/{}", text(&it["name"]), text(&it["composite-app-name"]))
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// A token of the account of the Pod, as the kubelet requests it.
fn account_token(cluster: &Cluster, rendered: &[Value]) -> String {
    let pod = &object(rendered, "StatefulSet")["spec"]["template"]["spec"];
    let account = pod["serviceAccountName"].as_str().expect("an account");
    let path = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token");
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": {"expirationSeconds": 3600}});
    let answer = cluster.client().create(&path, &request);
    answer["status"]["token"]
        .as_str()
        .expect("a token")
        .to_owned()
}

/// Starts the Pod, and returns a client with the token of its token file.
fn start_pod(
    cluster: &Cluster,
    rendered: &[Value],
    account: &str,
    folder: &TempDir,
) -> (Container, Client) {
    let (tokens, token) = token_file(folder);
    let authority = Authority::new("kindsight");
    let certificate = authority.server(None);
    let data = folder.path().join("data");
    std::fs::create_dir(&data).expect("a folder");
    let configuration = &object(rendered, "ConfigMap")["data"];
    let text = |key: &str| configuration[key].as_str().expect("a file").to_owned();
    // Tests run side by side, so each server gets its own port.
    let config = text("config.toml").replace("0.0.0.0:9015", "0.0.0.0:0");
    let path = folder.path();
    let mounts = [
        Mount::volume(&data, "/data"),
        Mount::files(
            path,
            "/etc/kindsight",
            &[
                ("config.toml", config.as_str()),
                ("roles.toml", &text("roles.toml")),
            ],
        ),
        Mount::files(path, "/etc/kindsight-tokens", &[("tokens.toml", &tokens)]),
        Mount::files(
            path,
            "/etc/kindsight-tls",
            &[
                ("tls.crt", &certificate.certificate),
                ("tls.key", &certificate.key),
            ],
        ),
        Mount::files(
            path,
            "/var/run/secrets/kubernetes.io/serviceaccount",
            &[
                ("token", account),
                ("ca.crt", cluster.authority().certificate()),
                ("namespace", NAMESPACE),
            ],
        ),
    ];
    let address = cluster.url().trim_start_matches("https://");
    let (host, port) = address.split_once(':').expect("a port");
    let environment = [
        ("KUBERNETES_SERVICE_HOST", host),
        ("KUBERNETES_SERVICE_PORT", port),
    ];
    let container = &object(rendered, "StatefulSet")["spec"]["template"]["spec"]["containers"][0];
    let arguments = container["args"].as_array().expect("arguments");
    let arguments: Vec<&str> = arguments.iter().filter_map(Value::as_str).collect();
    let pod = Container::start(image::unpacked(), &mounts, &environment, &arguments);
    let user = Client::new(
        &format!("https://{}", pod.address()),
        Some(authority.certificate()),
        &Credentials::Token(token),
    );
    (pod, user)
}

/// A token file as `kindsight token new` makes it, and the token.
fn token_file(folder: &TempDir) -> (String, String) {
    let file = folder.path().join("tokens.toml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_kindsight"));
    command.args(["token", "new", "admin", "--expires", "1d", "--tokens"]);
    let output = command.arg(&file).output().expect("a token");
    assert!(output.status.success(), "{output:?}");
    let token = String::from_utf8(output.stdout).expect("UTF-8");
    let file = std::fs::read_to_string(file).expect("the token file");
    (file, token.trim().to_owned())
}

#[test]
fn the_chart_runs_with_the_rights_of_its_cluster_role() {
    let Some(installed) = Installation::with(&[]) else {
        return;
    };
    installed.wait_for_applications(&["kindsight/kindsight", "other/shop", "web/shop"]);
    let watched = installed.watched();
    assert_eq!(watched["cluster"], "here");
    assert_eq!(watched["connection"], "connected");
    let refused = watched["not-covered"].as_array();
    let refused: Vec<_> = refused.into_iter().flatten().collect();
    assert!(
        refused
            .iter()
            .all(|it| it.as_str().is_some_and(|it| it.starts_with("Secret"))),
        "{refused:?}"
    );
    installed.assert_forbidden("/api/v1/secrets");
}

#[test]
fn the_namespace_variant_runs_without_rights_in_the_cluster() {
    let Some(installed) = Installation::with(&[r#"namespaces=["web"]"#]) else {
        return;
    };
    installed.wait_for_applications(&["web/kindsight", "web/shop"]);
    assert_eq!(installed.watched()["connection"], "connected");
    for path in [
        "/api/v1/namespaces",
        "/api/v1/pods",
        "/api/v1/namespaces/other/configmaps",
        "/api/v1/namespaces/web/secrets",
    ] {
        installed.assert_forbidden(path);
    }
}
