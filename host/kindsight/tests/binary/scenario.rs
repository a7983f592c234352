//! The life of an application on two clusters with controllers, by the command line alone.
//!
//! `KINDSIGHT_KILLS` is the number of times that the server is killed.

use std::fs;
use std::time::{Duration, Instant};

use kindsight_cluster::{BEHAVIOUR_LABEL, Behaviour, Binaries, Binary, Cluster, Etcd, Options};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{Server, kindsight, text};

const NAME: &str = "shop/web/v1/prod";
const GROUP: &str = "/v2/projects/shop/composite-apps/web/v1/deployment-intent-groups/prod";
const CLUSTERS: [&str; 2] = ["edge01", "edge02"];
const PATIENCE: Duration = Duration::from_mins(3);
/// The number of kills, unless the environment names another.
const KILLS: u64 = 20;
/// ConfigMaps of the application, so that an instantiation has moments for kills.
const MAPS: usize = 10;
/// Collections with the objects of the application, for the comparison.
const COLLECTIONS: [&str; 4] = [
    "/api/v1/namespaces/default/configmaps",
    "/api/v1/namespaces/default/secrets",
    "/api/v1/namespaces/default/services",
    "/apis/apps/v1/namespaces/default/deployments",
];

/// Two clusters and a server, which the test kills and starts again.
struct Stage {
    clusters: [Cluster; 2],
    /// `None` between a kill and the next start.
    server: Option<Server>,
    folder: TempDir,
    _etcd: Etcd,
}

impl Stage {
    /// `None` if the executables are not available.
    fn start() -> Option<Self> {
        let binaries = Binaries::or_skip(Binary::ALL)?;
        let etcd = Etcd::start(&binaries);
        let clusters = CLUSTERS.map(|name| Cluster::start(&etcd, &Options::new(name)));
        let folder = tempfile::tempdir().unwrap();
        let tables = clusters.each_ref().map(|cluster| {
            let file = cluster.kubeconfig().display().to_string();
            let name = cluster.name();
            format!("[[cluster]]\nname = \"lab+{name}\"\nkubeconfig = {file:?}\n")
        });
        let config = format!("lifecycle = true\n{}", tables.concat());
        fs::write(folder.path().join("kindsight.toml"), config).unwrap();
        let server = Some(serve(&folder));
        Some(Self {
            clusters,
            server,
            folder,
            _etcd: etcd,
        })
    }

    /// Kills the server and starts it again over the same data.
    fn restart(&mut self) {
        self.server.take().unwrap().kill();
        self.server = Some(serve(&self.folder));
    }

    fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    /// Runs a command; returns its exit code, and its output with its errors.
    fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        let mut command = kindsight(args);
        command.args(["--server", &self.server().url]);
        let output = command.current_dir(self.folder.path()).output().unwrap();
        let printed = text(&output.stdout) + &text(&output.stderr);
        (output.status.code(), printed)
    }

    fn succeed(&self, args: &[&str]) -> String {
        let (code, printed) = self.run(args);
        assert_eq!(code, Some(0), "{args:?}: {printed}");
        printed
    }

    /// Stores and approves a content.
    fn apply(&self, content: &Content) {
        let file = self.folder.path().join("app.yaml");
        fs::write(file, content.application().to_string()).unwrap();
        self.succeed(&["apply", "-f", "app.yaml"]);
        self.succeed(&["approve", NAME]);
    }

    fn wait_until_ready(&self) {
        self.succeed(&["status", NAME, "--wait", "--hold", "1ms", "--timeout", "3m"]);
    }

    /// Waits until no work is left, and returns the status of the instance.
    fn at_rest(&self) -> String {
        let began = Instant::now();
        loop {
            let group = self.server().get(GROUP).1;
            if group["lifecycle"]["running"] == false {
                let status = group["lifecycle"]["instance-status"].as_str();
                return status.unwrap_or_default().to_owned();
            }
            assert!(began.elapsed() < PATIENCE, "{group:#}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn replicas(&self, cluster: usize) -> Value {
        let path = "/apis/apps/v1/namespaces/default/deployments/front";
        self.clusters[cluster].get(path).unwrap()["spec"]["replicas"].clone()
    }

    /// The objects of the application in each cluster must be these, with these contents.
    fn check(&self, content: Option<&Content>) {
        let expected: Vec<Value> = content.map_or_else(Vec::new, Content::manifests);
        for cluster in &self.clusters {
            let collections = COLLECTIONS.iter();
            let found = collections.flat_map(|path| labelled(cluster, path));
            let found: Vec<Value> = found.collect();
            assert_eq!(
                found.len(),
                expected.len(),
                "{}: {found:#?}",
                cluster.name()
            );
            for manifest in &expected {
                let name = &manifest["metadata"]["name"];
                let object = found
                    .iter()
                    .find(|object| object["metadata"]["name"] == *name);
                let object = object.unwrap_or_else(|| panic!("{name} is not in the cluster"));
                assert!(contains(object, manifest), "{object:#} {manifest:#}");
            }
        }
    }
}

fn serve(folder: &TempDir) -> Server {
    let config = format!(
        "--config={}",
        folder.path().join("kindsight.toml").display()
    );
    Server::start_with(&folder.path().join("data"), &[], &[&config])
}

/// The objects of a collection that have the label of an application.
fn labelled(cluster: &Cluster, path: &str) -> Vec<Value> {
    let list = cluster.get(&format!("{path}?labelSelector=emco%2Fdeployment-id"));
    let mut list = list.unwrap();
    let items = list["items"].as_array_mut().unwrap();
    std::mem::take(items)
}

/// Returns whether an object has every value of a manifest.
fn contains(object: &Value, manifest: &Value) -> bool {
    match (object, manifest) {
        (Value::Object(object), Value::Object(manifest)) => manifest.iter().all(|(key, value)| {
            // The items of a list have no type.
            let is_type = matches!(&**key, "apiVersion" | "kind");
            is_type || object.get(key).is_some_and(|own| contains(own, value))
        }),
        (Value::Array(object), Value::Array(manifest)) => {
            let mut pairs = object.iter().zip(manifest);
            object.len() == manifest.len() && pairs.all(|(own, value)| contains(own, value))
        }
        _ => object == manifest,
    }
}

/// A content of the application.
struct Content {
    /// Each content has another colour.
    colour: String,
    replicas: usize,
    behaviour: Option<Behaviour>,
}

impl Content {
    fn healthy(colour: &str, replicas: usize) -> Self {
        Self {
            colour: colour.to_owned(),
            replicas,
            behaviour: None,
        }
    }

    fn manifests(&self) -> Vec<Value> {
        let labels = match self.behaviour {
            Some(behaviour) => json!({"app": "front", BEHAVIOUR_LABEL: behaviour.label()}),
            None => json!({"app": "front"}),
        };
        let metadata = |name: &str| json!({"name": name, "namespace": "default"});
        let mut manifests = vec![
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata("front"),
                "spec": {
                    "replicas": self.replicas,
                    "selector": {"matchLabels": {"app": "front"}},
                    "template": {
                        "metadata": {"labels": labels},
                        "spec": {"containers": [{
                            "name": "main",
                            "image": format!("registry.example/front:{}", self.colour),
                        }]},
                    },
                },
            }),
            json!({
                "apiVersion": "v1", "kind": "Service", "metadata": metadata("front-service"),
                "spec": {"selector": {"app": "front"}, "ports": [{"port": 80}]},
            }),
            json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": metadata("key"),
                "data": {"key": "aHVudGVyMg=="},
            }),
        ];
        manifests.extend((0..MAPS).map(|number| {
            json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(&format!("map-{number}")),
                "data": {"colour": self.colour},
            })
        }));
        manifests
    }

    fn application(&self) -> Value {
        json!({
            "project": "shop", "composite-app": "web", "version": "v1",
            "deployment-intent-group": "prod",
            "apps": [{
                "name": "front", "clusters": ["lab+edge01", "lab+edge02"],
                "manifests": self.manifests(),
            }],
        })
    }
}

#[test]
fn an_application_lives_on_two_clusters() {
    let Some(mut stage) = Stage::start() else {
        return;
    };
    let blue = Content::healthy("blue", 1);
    stage.apply(&blue);
    stage.succeed(&["instantiate", NAME, "--wait"]);
    stage.wait_until_ready();
    stage.check(Some(&blue));

    // An image that fails, fixed by an update.
    let broken = Content {
        behaviour: Some(Behaviour::ImagePullFails),
        ..Content::healthy("broken", 1)
    };
    stage.apply(&broken);
    stage.succeed(&["update", NAME, "--wait"]);
    let (code, printed) = stage.run(&["status", NAME, "--wait", "--timeout", "3s"]);
    assert_ne!(code, Some(0), "{printed}");
    let green = Content::healthy("green", 2);
    stage.apply(&green);
    stage.succeed(&["update", NAME, "--wait"]);
    stage.wait_until_ready();
    stage.check(Some(&green));

    // A resource that a user deletes.
    stage.clusters[0].delete("/api/v1/namespaces/default/configmaps/map-3");
    let began = Instant::now();
    while !stage.succeed(&["status", NAME]).contains("NotPresent") {
        assert!(began.elapsed() < PATIENCE, "the deletion is not shown");
        std::thread::sleep(Duration::from_millis(100));
    }
    stage.succeed(&["update", NAME, "--wait"]);
    stage.wait_until_ready();
    stage.check(Some(&green));

    stage.succeed(&["rollback", NAME, "--revision", "1", "--wait"]);
    stage.wait_until_ready();
    stage.check(Some(&blue));
    assert_eq!([stage.replicas(0), stage.replicas(1)], [json!(1), json!(1)]);

    // An API server is killed during the termination, and during the next instantiation.
    stage.clusters[1].kill();
    stage.succeed(&["terminate", NAME]);
    stage.clusters[1].start_again();
    assert_eq!(stage.at_rest(), "Terminated");
    stage.check(None);
    stage.apply(&green);
    stage.clusters[1].kill();
    stage.succeed(&["instantiate", NAME]);
    stage.clusters[1].start_again();
    assert_eq!(stage.at_rest(), "Instantiated");
    stage.wait_until_ready();
    stage.check(Some(&green));
    stage.succeed(&["terminate", NAME, "--wait"]);

    kill_at_random_moments(&mut stage);
}

/// Kills the server while it instantiates, updates and terminates, and compares the clusters after each life.
fn kill_at_random_moments(stage: &mut Stage) {
    let kills = std::env::var("KINDSIGHT_KILLS").ok();
    let kills = kills.and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    for number in 0..kills {
        let content = Content::healthy(&format!("colour-{number}"), 1);
        let action = ["instantiate", "update", "terminate"][usize::try_from(number % 3).unwrap()];
        if action != "terminate" {
            stage.apply(&content);
        }
        stage.succeed(&[action, NAME]);
        // Spread over the time that an action takes.
        std::thread::sleep(Duration::from_millis(number * 37 % 400));
        stage.restart();
        if action == "terminate" {
            assert_eq!(stage.at_rest(), "Terminated", "kill {number}");
            stage.check(None);
        } else {
            assert_eq!(stage.at_rest(), "Instantiated", "kill {number}");
            stage.check(Some(&content));
        }
    }
}
