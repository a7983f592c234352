//! The lifecycle of an application over two API servers, with the rights that `deploy/rbac.yaml` documents.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use kindsight_cluster::{Binaries, Binary, Cluster, Credentials, Etcd, Options, write_kubeconfig};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{Server, kindsight, text};

const NAME: &str = "shop/web/v1/prod";
const GROUP: &str = "/v2/projects/shop/composite-apps/web/v1/deployment-intent-groups/prod";
const STATUS: &str = "/v2/projects/shop/composite-apps/web/v1/deployment-intent-groups/prod/status";
const RBAC: &str = "rbac.authorization.k8s.io";
/// The token of the server.
const TOKEN: &str = "kindsighttoken";
/// Label of the roles that are aggregated into the role of the server.
const AGGREGATED: &str = "rbac.kindsight.dev/aggregate-to-kindsight";
/// The namespace of the application.
const NAMESPACE: &str = "web";
const PATIENCE: Duration = Duration::from_mins(2);
/// A value of a Secret.
const SECRET: &str = "hunter2hunter2";

/// Two clusters, and a server that may watch them and impersonate the account of the project.
struct Stage {
    clusters: Vec<Cluster>,
    server: Server,
    folder: TempDir,
    _etcd: Etcd,
}

impl Stage {
    /// `None` if the executables are not available.
    fn start() -> Option<Self> {
        let binaries = Binaries::or_skip(Binary::ALL)?;
        let etcd = Etcd::start(&binaries);
        let clusters = ["edge01", "edge02"].map(|name| {
            let options = Options::new(name).user("kindsight", &[], TOKEN);
            Cluster::start(&etcd, &options)
        });
        let folder = tempfile::tempdir().unwrap();
        let mut config = "lifecycle = true\n".to_owned();
        for cluster in &clusters {
            grant(cluster);
            let file = cluster.folder().join("kindsight.kubeconfig");
            let user = Credentials::Token(TOKEN.to_owned());
            write_kubeconfig(&file, &[(cluster.name(), cluster, &user)]);
            let (name, file) = (cluster.name(), file.display().to_string());
            let table = format!("[[cluster]]\nname = \"lab+{name}\"\nkubeconfig = {file:?}\n");
            config.push_str(&table);
        }
        let path = folder.path().join("kindsight.toml");
        fs::write(&path, config + &project("[\"*\"]")).unwrap();
        write_application(&folder);
        let flag = format!("--config={}", path.display());
        let server = Server::start_with(&folder.path().join("data"), &[], &[&flag]);
        Some(Self {
            clusters: clusters.into(),
            server,
            folder,
            _etcd: etcd,
        })
    }

    fn config(&self) -> PathBuf {
        self.folder.path().join("kindsight.toml")
    }

    /// Runs a command; returns whether it succeeded, and what it printed.
    fn try_to(&self, args: &[&str]) -> (bool, String) {
        let mut command = kindsight(args);
        command.args(["--server", &self.server.url]);
        let output = command.current_dir(self.folder.path()).output().unwrap();
        let printed = text(&output.stdout) + &text(&output.stderr);
        (output.status.success(), printed)
    }

    /// Runs a command that must succeed; returns what it printed.
    fn run(&self, args: &[&str]) -> String {
        let (is_success, printed) = self.try_to(args);
        assert!(is_success, "{args:?}: {printed}");
        printed
    }

    /// Applies a network to the first cluster, and removes it. No table of a project gives a right to it.
    fn apply_and_terminate_a_network(&self) {
        let network = json!({"apiVersion": "k8s.plugin.opnfv.org/v1alpha1", "kind": "Network",
            "metadata": {"name": "private"}, "spec": {"cniType": "ovn4nfv"}});
        let file = self.folder.path().join("networks.yaml");
        fs::write(file, network.to_string()).unwrap();
        let apply = [
            "apply",
            "-f",
            "networks.yaml",
            "--cluster",
            "lab+edge01",
            "--wait",
        ];
        let applied = self.run(&apply);
        assert!(
            applied.contains("Applied, instance Instantiated"),
            "{applied}"
        );
        let path = "/apis/k8s.plugin.opnfv.org/v1alpha1/namespaces/default/networks/private";
        let network = self.clusters[0].get(path).unwrap();
        assert_eq!(
            network["metadata"]["managedFields"][0]["manager"],
            "kindsight"
        );
        let query = "/v2/cluster-providers/lab/clusters/edge01/status?type=cluster";
        self.wait("the query does not show the network", || {
            let answer = self.server.get(query).1;
            answer["apps"][0]["clusters"][0]["resources"][0]["name"] == "private"
        });
        self.run(&["terminate", "--cluster", "lab+edge01", "--wait"]);
        assert!(self.clusters[0].get(path).is_none());
        self.run(&["delete", "--cluster", "lab+edge01"]);
    }

    fn instance_status(&self) -> Value {
        self.server.get(GROUP).1["lifecycle"]["instance-status"].clone()
    }

    /// Instantiates the application again until the server knows that its Kinds are not permitted, and once more: the first
    /// refused instantiation may have sent a part of its resources before.
    fn instantiate_until_refused(&self) {
        let began = Instant::now();
        let mut refusals = 0;
        loop {
            self.run(&["approve", NAME]);
            let (is_success, printed) = self.try_to(&["instantiate", NAME, "--wait"]);
            if !is_success {
                assert!(printed.contains("InstantiateFailed"), "{printed}");
                refusals += 1;
            }
            if refusals == 2 {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "the Kind is not refused");
            self.run(&["terminate", NAME, "--wait"]);
        }
    }

    fn wait(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let began = Instant::now();
        while !is_so() {
            let group = self.server.get(GROUP).1;
            let status = self.server.get(STATUS).1;
            assert!(began.elapsed() < PATIENCE, "{what}: {group:#} {status:#}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

/// The table of the project with these Kinds.
fn project(kinds: &str) -> String {
    format!(
        "[[project]]\nname = \"shop\"\nclusters = [\"lab+*\"]\nnamespaces = [\"{NAMESPACE}\"]\nkinds = {kinds}\nservice-account = \"ops/deployer\"\n"
    )
}

fn write_application(folder: &TempDir) {
    let manifests = [
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}),
        json!({"apiVersion": "v1", "kind": "Secret",
            "metadata": {"name": "key", "namespace": NAMESPACE}, "stringData": {"key": SECRET}}),
        json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "front", "namespace": NAMESPACE},
        "spec": {"selector": {"matchLabels": {"app": "front"}}, "template": {
            "metadata": {"labels": {"app": "front"}},
            "spec": {"containers": [{"name": "main", "image": "example.org/main:1"}]},
        }}}),
    ];
    let application = json!({
        "project": "shop", "composite-app": "web", "version": "v1",
        "deployment-intent-group": "prod",
        "apps": [{"name": "front", "clusters": ["lab+edge01", "lab+edge02"],
            "manifests": manifests}],
    });
    fs::write(folder.path().join("app.yaml"), application.to_string()).unwrap();
}

/// Gives the server the rights of `deploy/rbac.yaml`, and the account of the project the rights for its Kinds.
fn grant(cluster: &Cluster) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/rbac.yaml");
    let roles = fs::read_to_string(path).unwrap();
    for role in roles.split("\n---\n") {
        cluster.apply(&serde_saphyr::from_str(role).unwrap());
    }
    let named = |kind: &str, name: &str, namespace: Option<&str>, more: Value| {
        let mut object = more;
        object["apiVersion"] = format!("{RBAC}/v1").into();
        object["kind"] = kind.into();
        object["metadata"] = json!({"name": name, "namespace": namespace});
        cluster.apply(&object);
    };
    let server = json!([{"kind": "User", "name": "kindsight", "apiGroup": RBAC}]);
    let role = |kind: &str, name: &str| json!({"apiGroup": RBAC, "kind": kind, "name": name});
    let binding = |role: Value, subjects: &Value| json!({"roleRef": role, "subjects": subjects});
    let watch = binding(role("ClusterRole", "kindsight"), &server);
    named("ClusterRoleBinding", "kindsight", None, watch);
    let announce = binding(role("ClusterRole", "kindsight-lifecycle"), &server);
    named("RoleBinding", "kindsight", Some("default"), announce);
    let networks = binding(role("ClusterRole", "kindsight-network-intents"), &server);
    named(
        "ClusterRoleBinding",
        "kindsight-network-intents",
        None,
        networks,
    );
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/recorder/setup/every-cluster/networks.k8s.plugin.opnfv.org+CustomResourceDefinition.yaml"
    );
    let definition = fs::read_to_string(path).unwrap();
    cluster.apply(&serde_saphyr::from_str(&definition).unwrap());
    cluster.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ops"}}));
    cluster.apply(&json!({"apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": "deployer", "namespace": "ops"}}));
    let impersonate = json!({"rules": [{"apiGroups": [""], "resources": ["serviceaccounts"],
        "resourceNames": ["deployer"], "verbs": ["impersonate"]}]});
    named("Role", "impersonate", Some("ops"), impersonate);
    let impersonate = binding(role("Role", "impersonate"), &server);
    named("RoleBinding", "impersonate", Some("ops"), impersonate);
    let verbs = ["get", "create", "patch", "delete"];
    let deploy = json!({"rules": [
        {"apiGroups": [""], "resources": ["namespaces", "secrets"], "verbs": verbs},
        {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": verbs},
    ]});
    named("ClusterRole", "deployer", None, deploy);
    let account = json!([{"kind": "ServiceAccount", "namespace": "ops", "name": "deployer"}]);
    let deploy = binding(role("ClusterRole", "deployer"), &account);
    named("ClusterRoleBinding", "deployer", None, deploy);
    let secrets = format!("/apis/{RBAC}/v1/clusterroles/kindsight-secrets");
    let aggregated = json!({"metadata": {"labels": {AGGREGATED: "true"}}});
    cluster.patch(&secrets, "application/merge-patch+json", &aggregated);
    let server = cluster.client_as(&Credentials::Token(TOKEN.to_owned()));
    server.wait_for_status("/api/v1/secrets", 200, PATIENCE);
    server.wait_for_status("/apis/apps/v1/deployments", 200, PATIENCE);
}

#[test]
fn an_application_is_deployed_to_two_api_servers_and_removed() {
    let Some(mut stage) = Stage::start() else {
        return;
    };
    stage.run(&["apply", "-f", "app.yaml"]);
    stage.run(&["approve", NAME]);
    let sent = stage.run(&["instantiate", NAME, "--wait"]);
    assert!(sent.contains("instance Instantiated"), "{sent}");
    stage.run(&["status", NAME, "--wait", "--hold", "1ms"]);
    let group = stage.server.get(GROUP).1;
    assert!(!group.to_string().contains(SECRET), "{group}");
    for cluster in &stage.clusters {
        let path = format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments/front");
        let deployment = cluster.get(&path).unwrap();
        assert_eq!(deployment["status"]["readyReplicas"], 1);
        let label = "/metadata/labels/emco~1deployment-id";
        let label = deployment.pointer(label).and_then(Value::as_str).unwrap();
        assert!(label.ends_with("-front"), "{label}");
        let fields = &deployment["metadata"]["managedFields"][0];
        assert_eq!(fields["manager"], "kindsight");
    }

    stage.apply_and_terminate_a_network();

    // One cluster cannot be reached: the other is cleaned, and this one follows.
    stage.clusters[1].kill();
    stage.run(&["terminate", NAME]);
    let namespace = format!("/api/v1/namespaces/{NAMESPACE}");
    stage.wait("the first cluster is not cleaned", || {
        stage.clusters[0].get(&namespace).is_none()
    });
    assert_eq!(stage.instance_status(), "Terminating");
    stage.clusters[1].start_again();
    stage.wait("the second cluster is not cleaned", || {
        stage.instance_status() == "Terminated"
    });
    assert!(stage.clusters[1].get(&namespace).is_none());

    // A changed right of the project has an effect without a restart.
    let config = fs::read_to_string(stage.config()).unwrap();
    let narrow = config.replace(&project("[\"*\"]"), &project("[\"Namespace\", \"Secret\"]"));
    assert_ne!(narrow, config);
    fs::write(stage.config(), narrow).unwrap();
    stage.instantiate_until_refused();
    for cluster in &stage.clusters {
        let deployments = format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments");
        let deployments = cluster.get(&deployments).unwrap();
        assert_eq!(deployments["items"], json!([]));
    }
    stage.run(&["terminate", NAME, "--wait"]);
    stage.run(&["delete", NAME]);
    for cluster in &stage.clusters {
        assert!(cluster.get(&namespace).is_none());
    }
}
