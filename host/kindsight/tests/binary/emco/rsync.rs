//! kindsight as the rsync of an orchestrator: contexts in a real etcd, installed and uninstalled over gRPC.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use kindsight_cluster::Etcd;
use kindsight_grpc::proto::installapp_client::InstallappClient;
use kindsight_grpc::proto::{InstallAppRequest, ReadAppContextRequest, UninstallAppRequest};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::laid::{Generation, Laid};
use super::stage::{PATIENCE, address, etcd, status_of, wait};
use crate::monitor::{Monitor, deployment};
use crate::process::{Server, pause};

const DIG: &str = "shop/web/v1/prod";
const EDGE: &str = "lab+edge01";
const RESOURCES: [(&str, &str, &str); 2] =
    [("front", "ConfigMap", "v1"), ("front", "Service", "v1")];

/// An etcd of an orchestrator, and a cluster that is a folder.
struct Stage {
    etcd: Etcd,
    folder: TempDir,
    runtime: Runtime,
}

impl Stage {
    fn new() -> Option<Self> {
        let stage = Self {
            etcd: etcd()?,
            folder: tempfile::tempdir().unwrap(),
            runtime: Runtime::new().unwrap(),
        };
        fs::create_dir(stage.cluster()).unwrap();
        Some(stage)
    }

    fn cluster(&self) -> PathBuf {
        self.folder.path().join("edge01")
    }

    fn start(&self) -> Server {
        let cluster = format!("{EDGE}={}", self.cluster().display());
        let arguments = [
            "--store",
            &address(&self.etcd),
            "--lifecycle",
            "--rsync-listen",
            "127.0.0.1:0",
        ];
        Server::start_with(&self.folder.path().join("data"), &[cluster], &arguments)
    }

    /// Writes a context as an orchestrator does before it calls rsync.
    fn lay(&self, id: &str, dig: &str, cluster: &str) {
        let mut laid = Laid::new(Generation::V22, id, dig);
        laid.cluster("front", cluster, &RESOURCES);
        laid.ordered();
        self.etcd.keys().put_all(&laid.keys);
    }

    /// Calls rsync; the reason if the answer is false.
    fn install(&self, server: &Server, id: &str) -> Result<(), String> {
        let request = InstallAppRequest {
            app_context: id.to_owned(),
        };
        let url = server.grpc();
        let answer = self.runtime.block_on(async {
            let mut client = InstallappClient::connect(url).await.unwrap();
            client.install_app(request).await.unwrap().into_inner()
        });
        if answer.app_context_installed {
            Ok(())
        } else {
            Err(answer.app_context_install_message)
        }
    }

    fn uninstall(&self, server: &Server, id: &str) -> Result<(), String> {
        let request = UninstallAppRequest {
            app_context: id.to_owned(),
        };
        let url = server.grpc();
        let answer = self.runtime.block_on(async {
            let mut client = InstallappClient::connect(url).await.unwrap();
            client.uninstall_app(request).await.unwrap().into_inner()
        });
        if answer.app_context_uninstalled {
            Ok(())
        } else {
            Err(answer.app_context_uninstall_message)
        }
    }

    fn read(&self, server: &Server, id: &str) -> Result<(), String> {
        let request = ReadAppContextRequest {
            app_context: id.to_owned(),
        };
        let url = server.grpc();
        let answer = self.runtime.block_on(async {
            let mut client = InstallappClient::connect(url).await.unwrap();
            client.read_app_context(request).await.unwrap().into_inner()
        });
        if answer.app_context_read_successful {
            Ok(())
        } else {
            Err(answer.app_context_read_message)
        }
    }

    /// The value of a key of a context, as the orchestrator reads it.
    fn stored(&self, id: &str, key: &str) -> String {
        let key = format!("/context/{id}/{key}");
        let keys = self.etcd.keys().dump(&key);
        let mut keys = keys.into_iter().filter(|(name, _)| *name == key);
        keys.next().map(|(_, value)| value).unwrap_or_default()
    }

    fn wait_for_status(&self, id: &str, status: &str) {
        self.wait_for(id, "status/", &format!(r#"{{"Status":"{status}"}}"#));
    }

    fn wait_for(&self, id: &str, key: &str, value: &str) {
        let begin = Instant::now();
        while self.stored(id, key) != value {
            let found = self.stored(id, key);
            assert!(
                begin.elapsed() < PATIENCE,
                "{id} {key} is {found}, not {value}"
            );
            pause();
        }
    }

    /// The names of the sent manifests of a context.
    fn sent(&self, id: &str) -> Vec<String> {
        let folder = self.cluster().join(format!("manifests/{id}-front"));
        names(&folder)
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn an_orchestrator_installs_and_uninstalls_its_context() {
    let Some(stage) = Stage::new() else { return };
    stage.lay("7", DIG, EDGE);
    let server = stage.start();
    stage.install(&server, "7").unwrap();
    stage.wait_for_status("7", "Instantiated");
    assert_eq!(
        stage.sent("7"),
        ["00000-ConfigMap-front.json", "00001-Service-front.json"]
    );
    let resource_status = format!("app/front/cluster/{EDGE}/resource/front+ConfigMap/status/");
    assert_eq!(
        stage.stored("7", &resource_status),
        r#"{"Status":"Applied"}"#
    );
    wait(&server, &status_of(DIG), |answer| {
        answer["status"] == "Instantiated" && answer["rsync-status"]["Applied"] == 2
    });
    // A repetition has no further effect.
    stage.install(&server, "7").unwrap();
    // A folder has no live objects. The request is complete when each resource has the result.
    let begin = Instant::now();
    while let Err(why) = stage.read(&server, "7") {
        // The repeated installation.
        assert!(why.contains("is not complete"), "{why}");
        assert!(begin.elapsed() < PATIENCE, "{why}");
    }
    stage.wait_for("7", &resource_status, r#"{"Status":"Failed"}"#);
    stage.install(&server, "7").unwrap();
    stage.wait_for("7", &resource_status, r#"{"Status":"Applied"}"#);
    stage.uninstall(&server, "7").unwrap();
    stage.wait_for_status("7", "Terminated");
    assert_eq!(stage.sent("7"), [""; 0]);
    let refused = stage.install(&server, "7").unwrap_err();
    assert!(refused.contains("Terminated"), "{refused}");
    assert!(server.stop());
}

#[test]
fn the_report_of_a_monitor_is_stored_in_an_installed_context() {
    let Some(stage) = Stage::new() else { return };
    stage.lay("7", DIG, EDGE);
    let server = stage.start();
    stage.install(&server, "7").unwrap();
    stage.wait_for_status("7", "Instantiated");
    let objects = json!({"deploymentStatuses": [deployment("front", 2, 2)]});
    let bundle = Monitor::Onap.bundle("7-front", &objects);
    fs::write(stage.cluster().join("7-front.json"), bundle.to_string()).unwrap();
    let key = format!("app/front/cluster/{EDGE}/status/");
    let begin = Instant::now();
    while stage.stored("7", &key).is_empty() {
        assert!(begin.elapsed() < PATIENCE, "the report is not stored");
        pause();
    }
    // rsync stores the status of the ResourceBundleState as text.
    let text: String = serde_json::from_str(&stage.stored("7", &key)).unwrap();
    let stored: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(stored, Monitor::Onap.status(&objects));
    assert!(server.stop());
}

#[test]
fn an_installation_continues_after_a_kill() {
    let Some(stage) = Stage::new() else { return };
    stage.lay("7", DIG, EDGE);
    // The cluster does not answer.
    fs::remove_dir(stage.cluster()).unwrap();
    let server = stage.start();
    stage.install(&server, "7").unwrap();
    server.kill();
    fs::create_dir(stage.cluster()).unwrap();
    let server = stage.start();
    stage.wait_for_status("7", "Instantiated");
    assert_eq!(stage.sent("7").len(), RESOURCES.len());
    assert!(server.stop());
}

#[test]
fn a_refusal_names_its_reason() {
    let Some(stage) = Stage::new() else { return };
    stage.lay("7", DIG, "lab+edge99");
    let server = stage.start();
    let refused = stage.install(&server, "7").unwrap_err();
    assert!(refused.contains("lab+edge99"), "{refused}");
    let refused = stage.install(&server, "42").unwrap_err();
    assert_eq!(refused, "there is no AppContext 42");
    // A group of the REST API.
    let path = status_of("shop/web/v1/own").replace("/status", "");
    let manifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    let intent = json!({"apps": [{"name": "front", "clusters": [EDGE], "manifests": [manifest]}]});
    let (status, body) = server.put_json(&path, &intent.to_string());
    assert_eq!(status, 201, "{body:#}");
    stage.lay("8", "shop/web/v1/own", EDGE);
    let refused = stage.install(&server, "8").unwrap_err();
    assert!(refused.contains("REST API"), "{refused}");
    let refused = stage.read(&server, "7").unwrap_err();
    assert!(refused.contains("lab+edge99"), "{refused}");
    assert!(server.stop());
}

#[test]
fn an_orchestrator_does_not_remove_the_network_intents_of_the_rest_api() {
    let Some(stage) = Stage::new() else { return };
    let server = stage.start();
    let path = "/v2/cluster-providers/lab/clusters/edge01/network-intents";
    let network = "apiVersion: k8s.plugin.opnfv.org/v1alpha1\nkind: Network\nmetadata: {name: a}\n";
    let intents = json!({"manifests": [network]});
    let (status, body) = server.put_json(path, &intents.to_string());
    assert_eq!(status, 201, "{body:#}");
    let (status, applied) = server.post(&format!("{path}/apply"), "");
    assert_eq!(status, 202, "{applied:#}");
    let id = applied["instance"].as_str().unwrap();
    stage.wait_for_status(id, "Instantiated");
    let refused = stage.uninstall(&server, id).unwrap_err();
    assert!(refused.contains("the cluster lab+edge01"), "{refused}");
    assert!(refused.contains("REST API"), "{refused}");
    assert!(server.stop());
}
