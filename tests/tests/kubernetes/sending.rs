//! Resources sent to a real API server.
#![expect(
    clippy::unwrap_used,
    reason = "a step that fails ends the test that took it"
)]

mod availability;
mod conflicts;
mod custom_kinds;
mod objects;
mod owners;
mod refusals;
mod rights;

use std::time::{Duration, Instant};

use kindsight_cluster::{Binaries, Binary, Cluster, Credentials, Etcd, Options, write_kubeconfig};
use kindsight_clusters::{
    AppliedObject, KubernetesCluster, ObjectDeletion, ObjectError, ObjectPreview, ObjectSender,
    ProjectRights, SentObject,
};
use kindsight_model::DeploymentId;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::stage::PATIENCE;

/// The value of the label of the sent objects.
const DEPLOYMENT: &str = "7-front";
/// The token of a user that may do nothing at first.
const TOKEN: &str = "sendertoken";
/// The namespace of most objects.
const NAMESPACE: &str = "shop";

/// A cluster, and a sender to it with the rights of the administrator.
struct Stage {
    cluster: Cluster,
    sender: ObjectSender,
    runtime: Runtime,
    _etcd: Etcd,
}

/// A resource with the settings of its application.
struct Sent {
    manifest: Value,
    deployment: DeploymentId,
    rights: ProjectRights,
    uid: Option<String>,
    force: bool,
}

impl Sent {
    /// An object with the label of [`DEPLOYMENT`], of a project without a table.
    fn new(mut manifest: Value) -> Self {
        manifest["metadata"]["labels"]["emco/deployment-id"] = DEPLOYMENT.into();
        Self {
            manifest,
            deployment: DEPLOYMENT.parse().unwrap(),
            rights: ProjectRights::default(),
            uid: None,
            force: false,
        }
    }

    /// The same object with the rights of a ServiceAccount of the namespace.
    fn by_account(mut self, name: &str) -> Self {
        self.rights.account = Some(format!("{NAMESPACE}/{name}").parse().unwrap());
        self
    }

    fn forced(mut self) -> Self {
        self.force = true;
        self
    }
}

impl Stage {
    /// A cluster with controllers, which delete dependents. `None` if the executables are not available.
    fn start() -> Option<Self> {
        let binaries = [
            Binary::Etcd,
            Binary::ApiServer,
            Binary::ControllerManager,
            Binary::Scheduler,
        ];
        Self::of(&binaries, Options::new("edge01").nodes(0))
    }

    /// Only an API server. Without controllers, no foreground deletion ends.
    fn without_controllers() -> Option<Self> {
        Self::of(Binary::API_SERVER, Options::api_server("edge01"))
    }

    fn of(binaries: &[Binary], options: Options) -> Option<Self> {
        let binaries = Binaries::or_skip(binaries)?;
        let etcd = Etcd::start(&binaries);
        let cluster = Cluster::start(&etcd, &options.user("sender", &[], TOKEN));
        cluster.apply(&json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE},
        }));
        Some(Self {
            sender: sender(&cluster, cluster.admin()),
            cluster,
            runtime: Runtime::new().unwrap(),
            _etcd: etcd,
        })
    }

    /// The same stage with the rights of the user `sender`.
    fn by_user(mut self) -> Self {
        let user = Credentials::Token(TOKEN.to_owned());
        self.sender = sender(&self.cluster, &user);
        self
    }

    fn vet(&self, sent: &Sent) -> Result<(), ObjectError> {
        self.call(sent, async |object| self.sender.vet(&object).await)
    }

    /// The uid after an application.
    fn apply(&self, sent: &Sent) -> Result<String, ObjectError> {
        self.apply_object(sent).map(|applied| applied.uid)
    }

    fn apply_object(&self, sent: &Sent) -> Result<AppliedObject, ObjectError> {
        self.call(sent, async |object| self.sender.apply(&object).await)
    }

    fn preview(&self, sent: &Sent) -> Result<ObjectPreview, ObjectError> {
        self.call(sent, async |object| self.sender.preview(&object).await)
    }

    fn read(&self, sent: &Sent) -> Result<Value, ObjectError> {
        let json = self.call(sent, async |object| self.sender.read(&object).await)?;
        Ok(serde_json::from_str(&json).unwrap())
    }

    fn delete(&self, sent: &Sent) -> Result<ObjectDeletion, ObjectError> {
        self.call(sent, async |object| self.sender.delete(&object).await)
    }

    fn call<T>(
        &self,
        sent: &Sent,
        call: impl AsyncFnOnce(SentObject<'_>) -> Result<T, ObjectError>,
    ) -> Result<T, ObjectError> {
        let manifest = sent.manifest.to_string();
        self.runtime.block_on(call(SentObject {
            manifest: &manifest,
            deployment: &sent.deployment,
            rights: &sent.rights,
            uid: sent.uid.as_deref(),
            force: sent.force,
        }))
    }

    /// Applies an object again until the API server accepts it. The server must not refuse it meanwhile.
    fn apply_eventually(&self, sent: &Sent) -> String {
        let began = Instant::now();
        loop {
            match self.apply(sent) {
                Ok(uid) => return uid,
                Err(ObjectError::Unreachable(why)) => {
                    assert!(began.elapsed() < PATIENCE, "still {why}");
                    std::thread::sleep(Duration::from_millis(100));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Deletes an object again until it is gone.
    fn delete_eventually(&self, sent: &Sent) {
        let began = Instant::now();
        loop {
            match self.delete(sent).unwrap() {
                ObjectDeletion::Deleted => return,
                deletion => assert!(began.elapsed() < PATIENCE, "still {deletion:?}"),
            }
        }
    }

    fn get(&self, path: &str) -> Option<Value> {
        self.cluster.get(path)
    }
}

fn sender(cluster: &Cluster, who: &Credentials) -> ObjectSender {
    let kubeconfig = cluster.folder().join("sender.kubeconfig");
    write_kubeconfig(&kubeconfig, &[("edge01", cluster, who)]);
    let name = "lab+edge01".parse().unwrap();
    ObjectSender::new(KubernetesCluster::from_kubeconfig(name, kubeconfig, None))
}

/// A ConfigMap of the namespace with one value.
fn config_map(name: &str, colour: &str) -> Sent {
    Sent::new(json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": NAMESPACE}, "data": {"colour": colour},
    }))
}

fn path_of_map(name: &str) -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/configmaps/{name}")
}

/// The text of a refusal.
fn refused<T>(called: Result<T, ObjectError>) -> String {
    match called {
        Err(ObjectError::Refused(why)) => why,
        Err(error) => panic!("not refused: {error:?}"),
        Ok(_) => panic!("not refused"),
    }
}

/// The text of a failure that is tried again.
fn unreachable<T>(called: Result<T, ObjectError>) -> String {
    match called {
        Err(ObjectError::Unreachable(why)) => why,
        Err(error) => panic!("not tried again: {error:?}"),
        Ok(_) => panic!("not tried again"),
    }
}
