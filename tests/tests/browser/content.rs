//! Applications in a store, and reports of a folder cluster about them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kindsight_appcontext::{
    AppContexts, ContextMeta, NewApp, NewCluster, NewContext, NewResource, Record, Records,
    ResourceName,
};
use kindsight_model::DigName;
use kindsight_store::Store;
use serde_json::{Value, json};

/// The cluster of [`crate::stage::Stage::filled`].
pub(crate) const CLUSTER: &str = "provider+edge01";
/// The only app of each application.
const APP: &str = "app";

/// Writes applications, all in one cluster, and reports of the cluster.
pub(crate) struct Content {
    store: Arc<dyn Store>,
    cluster: &'static str,
    /// The folder of reports.
    reports: PathBuf,
}

impl Content {
    /// Content of a store and of a cluster whose folder is in `folder`.
    pub(crate) fn new(store: &Arc<dyn Store>, cluster: &'static str, folder: &Path) -> Self {
        let reports = folder.join(cluster);
        fs::create_dir_all(&reports).expect("a folder of reports");
        Self {
            store: Arc::clone(store),
            cluster,
            reports,
        }
    }

    /// Stores an application with resources, each of a Kind and a name. `id` is the id of its `AppContext`.
    pub(crate) fn application(&self, id: usize, name: &str, resources: &[(&str, &str)]) {
        let dig = DigName::new("shop", "store", "v1", name).expect("a name");
        let resources = resources.iter().map(|(kind, name)| NewResource {
            resource: ResourceName::new(name, kind).expect("a name"),
            manifest: manifest(kind, name).to_string(),
        });
        let cluster = NewCluster {
            cluster: self.cluster.parse().expect("a cluster"),
            group: None,
            resources: resources.collect(),
        };
        let context = NewContext {
            meta: ContextMeta::of_dig(&dig),
            apps: vec![NewApp {
                name: APP.to_owned(),
                clusters: vec![cluster],
            }],
        };
        let context_id = id.to_string().parse().expect("an id");
        let contexts = AppContexts::new(Arc::clone(&self.store));
        contexts
            .create_as(&context_id, &context)
            .expect("a context");
        let action = json!({"state": "Instantiated", "instance": id.to_string(), "time": "2026-11-22T12:00:00Z"});
        let record = Record {
            profile: None,
            actions: vec![serde_json::from_value(action).expect("an action")],
        };
        let records = Records::new(Arc::clone(&self.store));
        records.create(&dig, &record).expect("a record");
    }

    /// Writes the report on an application: the lists of a `ResourceBundleState`.
    pub(crate) fn report(&self, id: usize, lists: &Value) {
        write_report(&self.reports.join(file_of(id)), id, lists);
    }
}

/// The link to an application of [`Content::application`].
pub(crate) fn place_of(name: &str) -> String {
    format!("#/application/shop/store/v1/{name}")
}

/// The file of the report on an application.
pub(crate) fn file_of(id: usize) -> String {
    format!("{id}-{APP}.json")
}

/// Replaces a report as monitors do: readers never find an unfinished file.
pub(crate) fn write_report(file: &Path, id: usize, lists: &Value) {
    let deployment = format!("{id}-{APP}");
    let report = json!({
        "apiVersion": "k8splugin.io/v1alpha1",
        "kind": "ResourceBundleState",
        "metadata": {"name": deployment, "labels": {"emco/deployment-id": deployment}},
        "status": lists,
    });
    replace(file, &report.to_string());
}

/// Replaces a file in one step.
pub(crate) fn replace(file: &Path, text: &str) {
    let fresh = file.with_extension("new");
    fs::write(&fresh, text).expect("a file");
    fs::rename(&fresh, file).expect("a file");
}

/// A Deployment with one of one Pods ready, or with an exceeded deadline and a message.
pub(crate) fn deployment(name: &str, failed: Option<&str>) -> Value {
    let ready = u8::from(failed.is_none());
    let progressing = match failed {
        None => {
            json!({"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"})
        }
        Some(message) => {
            json!({"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": message})
        }
    };
    let mut object = manifest("Deployment", name);
    object["metadata"]["generation"] = json!(1);
    object["spec"] = json!({"replicas": 1});
    object["status"] = json!({
        "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": ready, "availableReplicas": ready,
        "conditions": [
            {"type": "Available", "status": if failed.is_none() { "True" } else { "False" }},
            progressing,
        ],
    });
    object
}

/// A ConfigMap with one entry.
pub(crate) fn config_map(name: &str) -> Value {
    let mut object = manifest("ConfigMap", name);
    object["data"] = json!({"colour": "blue"});
    object
}

/// The report on a crane of `example.com`, which has no list of its own. The built-in interpreters have no rule for it.
pub(crate) fn crane(name: &str, phase: &str) -> Value {
    let mut object = manifest("Crane", name);
    object["spec"] = json!({"do": "undeclared-state", "text": "Parked"});
    object["status"] = json!({"phase": phase});
    let res = BASE64_STANDARD.encode(object.to_string());
    json!({"group": "example.com", "version": "v1", "kind": "Crane", "name": name, "namespace": "default", "res": res})
}

fn manifest(kind: &str, name: &str) -> Value {
    let version = match kind {
        "Deployment" => "apps/v1",
        "Crane" => "example.com/v1",
        _ => "v1",
    };
    json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "default"}})
}
