//! The lifecycle of an application over two folder clusters, and of the network intents of a cluster.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{Server, kindsight, pause, text};

mod networks;
mod shared;
mod updates;

const NAME: &str = "shop/web/v1/prod";
const GROUP: &str = "/v2/projects/shop/composite-apps/web/v1/deployment-intent-groups/prod";
const CLUSTERS: [&str; 2] = ["edge01", "edge02"];
const SECRET: &str = "aHVudGVyMg==";
/// The number of times that the server is killed during an instantiation.
const KILLS: u64 = 5;

/// A data folder, an application, and the folders of two clusters.
struct Stage {
    folder: TempDir,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for cluster in CLUSTERS {
            fs::create_dir(folder.path().join(cluster)).unwrap();
        }
        let map = |number| {
            format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: map-{number}}}\n")
        };
        let maps: String = (0..20).map(map).collect();
        let secret = format!(
            "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: key}}\ndata: {{key: {SECRET}}}\n"
        );
        fs::write(folder.path().join("front.yaml"), maps + &secret).unwrap();
        let application = "project: shop\ncomposite-app: web\nversion: v1\ndeployment-intent-group: prod\napps:\n- name: front\n  clusters: [lab+edge01, lab+edge02]\n  manifests: [front.yaml]\n";
        fs::write(folder.path().join("app.yaml"), application).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn start(&self) -> Server {
        let cluster = |name: &str| format!("lab+{name}={}", self.path(name).display());
        let clusters = CLUSTERS.map(cluster);
        Server::start_with(&self.path("data"), &clusters, &["--lifecycle"])
    }

    /// Runs a command; returns its exit code, standard output and standard error.
    fn run(&self, server: &Server, args: &[&str]) -> (Option<i32>, String, String) {
        let mut command = kindsight(args);
        command.args(["--server", &server.url]);
        let output = command.current_dir(self.folder.path()).output().unwrap();
        let streams = (text(&output.stdout), text(&output.stderr));
        (output.status.code(), streams.0, streams.1)
    }

    fn succeed(&self, server: &Server, args: &[&str]) -> String {
        let (code, output, errors) = self.run(server, args);
        assert_eq!(code, Some(0), "{args:?}: {output}{errors}");
        output
    }

    fn create(&self, server: &Server) {
        self.succeed(server, &["apply", "-f", "app.yaml"]);
        self.succeed(server, &["approve", NAME]);
    }

    /// The sent manifests of a cluster, without incomplete files.
    fn manifests(&self, cluster: &str) -> Vec<Value> {
        let folders = fs::read_dir(self.path(cluster).join("manifests"));
        let folders = folders
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path());
        let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
        files
            .map(|file| file.unwrap())
            .map(|file| file.path())
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
            .map(|path| fs::read(path).unwrap())
            .map(|bytes| serde_json::from_slice(&bytes).unwrap())
            .collect()
    }

    /// Reports all sent manifests as existing objects, as the monitor of a cluster would.
    fn report(&self, cluster: &str) {
        let manifests = self.manifests(cluster);
        let label = &manifests[0]["metadata"]["labels"]["emco/deployment-id"];
        let mut maps = Vec::new();
        let mut others = Vec::new();
        for manifest in &manifests {
            match manifest["kind"].as_str() {
                Some("ConfigMap") => maps.push(manifest.clone()),
                _ => others.push(other(manifest)),
            }
        }
        let bundle = json!({
            "apiVersion": "k8splugin.io/v1alpha1",
            "kind": "ResourceBundleState",
            "metadata": {"name": label, "labels": {"emco/deployment-id": label}},
            "status": {"ready": false, "resourceCount": 0, "configMapStatuses": maps, "resourceStatuses": others},
        });
        fs::write(self.path(cluster).join("front.json"), bundle.to_string()).unwrap();
    }
}

/// An entry of the list of any Kind.
fn other(manifest: &Value) -> Value {
    use base64::Engine as _;
    let encoded = base64::engine::general_purpose::STANDARD.encode(manifest.to_string());
    json!({"group": "", "version": "v1", "kind": manifest["kind"], "name": manifest["metadata"]["name"], "res": encoded})
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_mins(1), "{what}");
        pause();
    }
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

#[test]
fn an_application_is_deployed_to_two_folders_and_removed() {
    let stage = Stage::new();
    let server = stage.start();
    let created = stage.succeed(&server, &["apply", "-f", "app.yaml"]);
    assert_eq!(created, format!("{NAME}: Created\n"));
    let (code, _, errors) = stage.run(&server, &["instantiate", NAME]);
    assert_eq!(code, Some(1));
    for part in ["409", "approved first", "`apply`, `approve`, `delete`"] {
        assert!(errors.contains(part), "{errors}");
    }
    stage.succeed(&server, &["approve", NAME]);
    let sent = stage.succeed(&server, &["instantiate", NAME, "--wait"]);
    assert_eq!(
        sent,
        format!("{NAME}: Instantiated, instance Instantiated\n")
    );
    let (status, group) = server.get(GROUP);
    assert_eq!(status, 200);
    assert!(!group.to_string().contains(SECRET), "{group}");
    assert!(group.to_string().contains("REDACTED"), "{group}");
    let returned = server.put_json(GROUP, &group["intent"].to_string());
    assert_eq!(returned.0, 400, "{}", returned.1);
    assert_eq!(
        returned.1["problems"][0]["parameter"],
        "apps[0].manifests[20]"
    );
    for cluster in CLUSTERS {
        assert_eq!(stage.manifests(cluster).len(), 21);
        stage.report(cluster);
    }
    stage.succeed(&server, &["status", NAME, "--wait", "--hold", "1ms"]);
    let removed = stage.succeed(&server, &["terminate", NAME, "--wait"]);
    assert_eq!(
        removed,
        format!("{NAME}: Terminated, instance Terminated\n")
    );
    for cluster in CLUSTERS {
        assert!(is_empty(&stage.path(cluster).join("manifests")));
        fs::remove_file(stage.path(cluster).join("front.json")).unwrap();
    }
    stage.succeed(&server, &["delete", NAME]);
    assert_eq!(server.get(GROUP).0, 404);
}

#[test]
fn an_instantiation_continues_after_kills() {
    let stage = Stage::new();
    let mut server = stage.start();
    stage.create(&server);
    stage.succeed(&server, &["instantiate", NAME]);
    for kill in 0..KILLS {
        thread::sleep(Duration::from_millis(20 * kill));
        server.kill();
        server = stage.start();
    }
    wait_until("the instance is not complete", || {
        server.get(GROUP).1["lifecycle"]["instance-status"] == "Instantiated"
    });
    let states = server.get(GROUP).1["actions"].clone();
    assert_eq!(states.as_array().unwrap().len(), 3, "{states}");
    for cluster in CLUSTERS {
        assert_eq!(stage.manifests(cluster).len(), 21);
        assert_eq!(
            fs::read_dir(stage.path(cluster).join("manifests"))
                .unwrap()
                .count(),
            1
        );
    }
}

#[test]
fn an_absent_folder_is_retried_until_it_exists_or_the_instantiation_is_stopped() {
    let stage = Stage::new();
    let server = stage.start();
    stage.create(&server);
    fs::remove_dir_all(stage.path("edge02")).unwrap();
    let waited = ["instantiate", NAME, "--wait", "--timeout", "1s"];
    assert_eq!(stage.run(&server, &waited).0, Some(5));
    wait_until("the other cluster is delayed", || {
        stage.manifests("edge01").len() == 21
    });
    fs::create_dir(stage.path("edge02")).unwrap();
    wait_until("the other cluster is not complete", || {
        server.get(GROUP).1["lifecycle"]["running"] == false
    });
    assert_eq!(stage.manifests("edge02").len(), 21);
    fs::remove_dir_all(stage.path("edge02")).unwrap();
    stage.succeed(&server, &["terminate", NAME]);
    stage.succeed(&server, &["stop", NAME]);
    wait_until("the termination is not stopped", || {
        server.get(GROUP).1["lifecycle"]["instance-status"] == "TerminateFailed"
    });
    fs::create_dir(stage.path("edge02")).unwrap();
    stage.succeed(&server, &["terminate", NAME, "--wait"]);
}

#[test]
fn only_one_of_two_concurrent_instantiations_is_accepted() {
    let stage = Stage::new();
    let server = stage.start();
    stage.create(&server);
    let path = format!("{GROUP}/instantiate");
    let mut statuses = thread::scope(|scope| {
        let calls = [(); 2].map(|()| scope.spawn(|| server.post(&path, "").0));
        calls.map(|call| call.join().unwrap())
    });
    statuses.sort_unstable();
    assert_eq!(statuses, [202, 409]);
}

#[test]
fn without_the_setting_nothing_can_be_changed() {
    let stage = Stage::new();
    let server = Server::start(&stage.path("data"), &[]);
    let (code, _, errors) = stage.run(&server, &["apply", "-f", "app.yaml"]);
    assert_eq!(code, Some(1));
    assert!(errors.contains("--lifecycle"), "{errors}");
}
