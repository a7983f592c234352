//! The controller as a process, with contexts of kindsight in a real etcd.
#![expect(
    clippy::unwrap_used,
    reason = "a step that fails ends the test that took it"
)]

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use kindsight_appcontext::{
    AppContexts, ContextMeta, NewApp, NewCluster, NewContext, NewResource, ResourceName,
};
use kindsight_cluster::{Binaries, Binary, Etcd};
use kindsight_grpc::{
    ControllerFailed, ControllerKind, ControllerSettings, ControllerTls, Controllers,
};
use kindsight_model::{ContextId, DigName};
use kindsight_store::EtcdOptions;
use tokio::runtime::Runtime;

/// A controller, ended when it is dropped.
struct Running {
    process: Child,
    address: String,
}

impl Running {
    fn start(kind: &str, etcd: &Etcd, value: &str) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let listen = free.local_addr().unwrap().to_string();
        drop(free);
        let mut command = Command::new(env!("CARGO_BIN_EXE_controller-example"));
        let process = command.args([kind, &listen, etcd.url(), value]).spawn();
        Self {
            process: process.unwrap(),
            address: format!("http://{listen}"),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// An etcd with a context: the app `front` in one cluster of two, and the app `back` in one cluster.
struct Stage {
    etcd: Etcd,
    contexts: AppContexts,
    id: ContextId,
    runtime: Runtime,
}

impl Stage {
    fn start() -> Option<Self> {
        let etcd = Etcd::start(&Binaries::or_skip(Binary::ETCD)?);
        let address = etcd.url().replace("http://", "etcd://");
        let store = kindsight_store::open(&address.parse().unwrap(), &EtcdOptions::default());
        let contexts = AppContexts::new(store.unwrap());
        let id = contexts.create(&context()).unwrap();
        let runtime = Runtime::new().unwrap();
        Some(Self {
            etcd,
            contexts,
            id,
            runtime,
        })
    }

    /// Calls controllers, each by its type and its address, in the order of this list within a type.
    fn update(&self, controllers: &[(ControllerKind, &str)]) -> Result<(), ControllerFailed> {
        let numbered = controllers.iter().zip(0..);
        let settings = numbered.map(|((kind, address), priority)| ControllerSettings {
            name: format!("{kind}-{priority}"),
            kind: *kind,
            priority,
            intent: "intent".to_owned(),
            address: (*address).to_owned(),
            timeout: Duration::from_secs(20),
            tls: ControllerTls::default(),
        });
        let controllers = Controllers::new(settings.collect()).unwrap();
        controllers.update(&self.id, &BTreeMap::new(), self.runtime.handle())
    }

    /// Updates until the controllers listen.
    fn update_once_started(&self, controllers: &[(ControllerKind, &str)]) {
        let begin = Instant::now();
        while let Err(failed) = self.update(controllers) {
            assert!(begin.elapsed() < Duration::from_mins(1), "{failed}");
        }
    }

    /// The clusters of each app, and the manifests.
    fn content(&self) -> (Vec<String>, Vec<String>) {
        let snapshot = self.contexts.read(&self.id).unwrap().unwrap();
        let mut clusters = Vec::new();
        let mut manifests = Vec::new();
        for app in &snapshot.apps {
            for cluster in &app.clusters {
                clusters.push(format!("{} {}", app.name, cluster.cluster));
                let of_cluster = cluster.resources.iter();
                manifests.extend(
                    of_cluster
                        .filter_map(|resource| resource.manifest.as_deref().map(str::to_owned)),
                );
            }
        }
        (clusters, manifests)
    }
}

fn context() -> NewContext {
    let cluster = |name: &str, group: &str| NewCluster {
        cluster: name.parse().unwrap(),
        group: Some(group.to_owned()),
        resources: vec![NewResource {
            resource: ResourceName::new("map", "ConfigMap").unwrap(),
            manifest: "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: map\n".to_owned(),
        }],
    };
    NewContext {
        meta: ContextMeta::of_dig(&DigName::new("shop", "web", "v1", "prod").unwrap()),
        apps: vec![
            NewApp {
                name: "front".to_owned(),
                clusters: vec![cluster("lab+edge01", "1"), cluster("lab+edge02", "1")],
            },
            NewApp {
                name: "back".to_owned(),
                clusters: vec![cluster("lab+edge01", "1"), cluster("lab+edge03", "2")],
            },
        ],
    }
}

#[test]
fn a_placement_controller_chooses_clusters_and_an_action_controller_changes_manifests() {
    let Some(stage) = Stage::start() else { return };
    let placement = Running::start("placement", &stage.etcd, "lab+edge02");
    let action = Running::start("action", &stage.etcd, "example.com/team=web");
    stage.update_once_started(&[
        (ControllerKind::Action, &action.address),
        (ControllerKind::Placement, &placement.address),
    ]);
    let (clusters, manifests) = stage.content();
    assert_eq!(
        clusters,
        ["front lab+edge02", "back lab+edge01", "back lab+edge03"]
    );
    for manifest in &manifests {
        assert!(
            manifest.contains(r#""example.com/team":"web""#),
            "{manifest}"
        );
    }
    assert_eq!(manifests.len(), 3);
}

#[test]
fn a_controller_refuses_an_unknown_context() {
    let Some(mut stage) = Stage::start() else {
        return;
    };
    let placement = Running::start("placement", &stage.etcd, "lab+edge02");
    let all = [(ControllerKind::Placement, &*placement.address)];
    stage.update_once_started(&all);
    stage.id = "42".parse().unwrap();
    let failed = stage.update(&all).unwrap_err();
    assert_eq!(
        failed.to_string(),
        "the placement controller `placement-0` failed: it answers: there is no AppContext 42"
    );
}
