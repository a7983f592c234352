//! Instances of ONAP's Kubernetes plugin, and EMCO's notifications about them, from a real API server.

use std::fs;
use std::time::{Duration, Instant};

use kindsight_cluster::{Binaries, Binary, Cluster, Etcd, Options, write_kubeconfig};
use kindsight_status_notify::proto::status_notify_client::StatusNotifyClient;
use kindsight_status_notify::proto::status_registration::Key;
use kindsight_status_notify::proto::{DigKey, StatusRegistration, StatusValue};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::time::timeout;

use crate::process::Server;

/// Time in which a server must notice any change.
const PATIENCE: Duration = Duration::from_mins(1);
const ID: &str = "serene_mcnulty";

/// An object of the instance. Its chart has the label of another application.
fn object(api_version: &str, kind: &str, name: &str) -> Value {
    json!({
        "apiVersion": api_version, "kind": kind,
        "metadata": {"name": name, "namespace": "default", "labels": {
            "k8splugin.io/rb-instance-id": ID, "app.kubernetes.io/instance": "vfw",
        }},
    })
}

fn deployment() -> Value {
    let mut deployment = object("apps/v1", "Deployment", "sink");
    deployment["spec"] = json!({
        "selector": {"matchLabels": {"app": "sink"}},
        "template": {
            "metadata": {"labels": {"app": "sink"}},
            "spec": {"containers": [{"name": "sink", "image": "sink"}]},
        },
    });
    deployment
}

/// Waits until the status of the instance has these resources, as `Kind name state`; returns the status.
fn wait_for(server: &Server, expected: &[&str]) -> Value {
    let began = Instant::now();
    loop {
        let (_, status) = server.get(&format!("/v1/instance/{ID}/status"));
        let resources = status["resourcesStatus"].as_array().into_iter().flatten();
        let mut told: Vec<String> = resources
            .map(|resource| {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let [kind, name, state] = [
                    &resource["GVK"]["Kind"],
                    &resource["name"],
                    &resource["state"],
                ]
                .map(text);
                format!("{kind} {name} {state}")
            })
            .collect();
        told.sort();
        if told == expected {
            return status;
        }
        assert!(began.elapsed() < PATIENCE, "still {told:#?}: {status:#}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A Pod of the Deployment, without the label of the instance. It belongs to the instance of its owner.
fn apply_pod(cluster: &Cluster) {
    let owner = cluster.get("/apis/apps/v1/namespaces/default/deployments/sink");
    let uid = owner.unwrap()["metadata"]["uid"].clone();
    cluster.apply(&json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "sink-1", "namespace": "default", "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "Deployment", "name": "sink", "uid": uid},
        ]},
        "spec": {"containers": [{"name": "sink", "image": "sink"}]},
    }));
}

/// The registration of a client for the instance.
fn registration() -> StatusRegistration {
    StatusRegistration {
        client_id: "workflow".to_owned(),
        status_type: StatusValue::Ready.into(),
        key: Some(Key::DigKey(DigKey {
            project: "-".to_owned(),
            composite_app: ID.to_owned(),
            composite_app_version: "-".to_owned(),
            deployment_intent_group: "-".to_owned(),
        })),
        ..StatusRegistration::default()
    }
}

#[test]
fn the_label_of_an_instance_finds_its_objects_and_clients_are_notified() {
    let Some(binaries) = Binaries::or_skip(Binary::API_SERVER) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let cluster = Cluster::start(&etcd, &Options::api_server("krd"));
    let mut secret = object("v1", "Secret", "key");
    secret["stringData"] = json!({"password": "very secret"});
    cluster.apply(&secret);
    let mut settings = object("v1", "ConfigMap", "settings");
    settings["data"] = json!({"speed": "9"});
    cluster.apply(&settings);
    let folder = tempfile::tempdir().unwrap();
    let kubeconfig = folder.path().join("kubeconfig");
    write_kubeconfig(&kubeconfig, &[("krd", &cluster, cluster.admin())]);
    let config = folder.path().join("kindsight.toml");
    let text = format!(
        "kubeconfig = [{kubeconfig:?}]\nstatus-notify-listen = \"127.0.0.1:0\"\n\
         [k8splugin.cloud-regions]\nregion-1 = \"kubeconfig+krd\"\n\
         [[k8splugin.instance]]\nid = \"{ID}\"\nrb-name = \"vfw\"\nrb-version = \"v1\"\n"
    );
    fs::write(&config, text).unwrap();
    let config = format!("--config={}", config.display());
    let server = Server::start_with(&folder.path().join("data"), &[], &[&config]);

    let ready = ["ConfigMap settings Ready", "Secret key Ready"];
    let status = wait_for(&server, &ready);
    assert_eq!(status["ready"], true, "{status:#}");
    assert_eq!(status["request"]["rb-name"], "vfw");
    let objects = status["resourcesStatus"].to_string();
    assert!(!objects.contains("dmVyeSBzZWNyZXQ"), "{objects}");
    for part in ["creationTimestamp", "resourceVersion", "\"speed\":\"9\""] {
        assert!(objects.contains(part), "{part}: {objects}");
    }
    let (_, list) = server.get("/v1/instance");
    assert_eq!(list[0]["id"], ID, "{list:#}");
    assert_eq!(list[0]["namespace"], "default");
    assert_eq!(list[0]["request"]["cloud-region"], "region-1");
    let (code, _) = server.get("/v1/instance/vfw");
    assert_eq!(code, 404);

    let runtime = Runtime::new().unwrap();
    let url = server.grpc();
    let mut stream = runtime.block_on(async {
        let mut client = StatusNotifyClient::connect(url).await.unwrap();
        client
            .status_register(registration())
            .await
            .unwrap()
            .into_inner()
    });
    let mut value = || {
        let message = async { timeout(PATIENCE, stream.message()).await };
        let message = runtime.block_on(message).expect("in time");
        message.unwrap().unwrap().status_value()
    };
    assert_eq!(value(), StatusValue::Ready);
    // No controller makes its Pods.
    cluster.apply(&deployment());
    let status = wait_for(&server, &[ready[0], "Deployment sink Pending", ready[1]]);
    assert_eq!(status["ready"], false, "{status:#}");
    apply_pod(&cluster);
    let pod = "Pod sink-1 Pending";
    wait_for(
        &server,
        &[ready[0], "Deployment sink Pending", pod, ready[1]],
    );
    assert_eq!(value(), StatusValue::NotReady);
    assert!(server.stop(), "the open stream delays the stop");
}
