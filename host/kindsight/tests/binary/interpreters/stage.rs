//! Fixture of these tests: a store with an application of cranes, a cluster that reports on them, and
//! components.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use base64::Engine as _;
use kindsight_appcontext::{
    Action, AppContexts, ContextMeta, NewApp, NewCluster, NewContext, NewResource, Record,
    Recorded, Records, ResourceName, StatusChange,
};
use kindsight_model::{ContextId, ContextStatus, DigName, RsyncStatus};
use kindsight_store::{RedbStore, Store};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{Server, run, text};

/// Timeout until a change shows; a busy machine compiles slowly.
const SHOWN_MAX: Duration = Duration::from_mins(1);
const CONTEXT: &str = "5577006791947779410";
const CLUSTER: &str = "docks+east";
/// Path of the status query about the cranes.
pub(crate) const STATUS: &str = "/v2/projects/port/composite-apps/quay/v1/deployment-intent-groups/cranes/status?type=cluster&explain=true";
/// Path of the interpreter of cranes.
pub(crate) const CRANE: &str = "/v2/interpreters/crane";

/// Everything that outlives a server.
pub(crate) struct Stage {
    data: TempDir,
    place: TempDir,
    cranes: usize,
}

/// State of all cranes, and the interpreter that judged them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) state: String,
    pub(crate) interpreter: String,
    pub(crate) version: String,
    pub(crate) digest: String,
}

impl Stage {
    /// Creates a store and a report with `cranes` cranes, all of them draining.
    pub(crate) fn new(cranes: usize) -> Self {
        let stage = Self {
            data: tempfile::tempdir().unwrap(),
            place: tempfile::tempdir().unwrap(),
            cranes,
        };
        for folder in ["interpreters", "reports", "elsewhere"] {
            fs::create_dir(stage.place.path().join(folder)).unwrap();
        }
        stage.fill_store();
        stage.report(0);
        copy_cache(stage.data.path());
        stage
    }

    /// Starts a server that watches the folder of interpreters.
    pub(crate) fn serve(&self) -> Server {
        self.serve_with(&[])
    }

    /// Starts a server as [`Stage::serve`] does, with further arguments.
    pub(crate) fn serve_with(&self, more: &[&str]) -> Server {
        let reports = self.place.path().join("reports");
        let cluster = format!("{CLUSTER}={}", reports.display());
        let folder = self.folder();
        let mut arguments = vec!["--interpreters", folder.to_str().unwrap()];
        arguments.extend(more);
        Server::start_with(self.data.path(), &[cluster], &arguments)
    }

    /// The data folder.
    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    /// Removes the content of the data folder.
    pub(crate) fn lose_data(&self) {
        fs::remove_dir_all(self.data.path()).unwrap();
        fs::create_dir(self.data.path()).unwrap();
    }

    /// The watched folder of interpreters.
    pub(crate) fn folder(&self) -> PathBuf {
        self.place.path().join("interpreters")
    }

    /// A file in it.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// The folder of compiled interpreters.
    pub(crate) fn cache(&self) -> PathBuf {
        self.data.path().join("aot")
    }

    /// A file outside of the folders that are watched.
    pub(crate) fn elsewhere(&self, name: &str) -> PathBuf {
        self.place.path().join("elsewhere").join(name)
    }

    /// Puts a file into the folder in one step, as careful writers do.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        let draft = self.elsewhere(name);
        fs::write(&draft, bytes).unwrap();
        fs::rename(draft, self.file(name)).unwrap();
    }

    /// Text of the note beside a file.
    pub(crate) fn note(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.file(&format!("{file}.refused.txt"))).ok()
    }

    /// Writes a new report of the cluster; each round has another one.
    pub(crate) fn report(&self, round: usize) {
        self.report_doing(round, "undeclared-state");
    }

    /// Writes a report of cranes that ask later versions of their interpreter to do this.
    pub(crate) fn report_doing(&self, round: usize, what: &str) {
        let statuses = (0..self.cranes).map(|number| {
            let crane = json!({
                "apiVersion": "example.com/v1", "kind": "Crane",
                "metadata": {"name": format!("crane-{number}"), "namespace": "quay"},
                "spec": {"do": what, "text": "Parked", "round": round},
                "status": {"phase": "Draining"},
            });
            let res = base64::engine::general_purpose::STANDARD.encode(crane.to_string());
            json!({"group": "example.com", "version": "v1", "kind": "Crane",
                "name": format!("crane-{number}"), "namespace": "quay", "res": res})
        });
        let report = json!({
            "apiVersion": "k8splugin.io/v1alpha1",
            "kind": "ResourceBundleState",
            "metadata": {"name": format!("{CONTEXT}-lift"), "labels": {"emco/deployment-id": format!("{CONTEXT}-lift")}},
            "status": {"resourceStatuses": statuses.collect::<Vec<_>>()},
        });
        let draft = self.elsewhere("report");
        fs::write(&draft, report.to_string()).unwrap();
        fs::rename(draft, self.place.path().join("reports/lift.json")).unwrap();
    }

    /// Fills the store through the AppContext library, as an orchestrator would.
    fn fill_store(&self) {
        let store = RedbStore::open(&self.data.path().join("store.redb")).unwrap();
        let store: Arc<dyn Store> = Arc::new(store);
        let dig = DigName::new("port", "quay", "v1", "cranes").unwrap();
        let id: ContextId = CONTEXT.parse().unwrap();
        let action =
            json!({"state": "Instantiated", "instance": CONTEXT, "time": "2026-11-21T12:00:00Z"});
        let action: Action = serde_json::from_value(action).unwrap();
        let record = Record {
            profile: None,
            actions: vec![action],
        };
        Records::new(Arc::clone(&store))
            .create(&dig, &record)
            .unwrap();
        let resources = (0..self.cranes).map(|number| {
            let name = format!("crane-{number}");
            NewResource {
                manifest: format!(
                    "apiVersion: example.com/v1\nkind: Crane\nmetadata:\n  name: {name}\n  namespace: quay\n"
                ),
                resource: ResourceName::new(&name, "Crane").unwrap(),
            }
        });
        let cluster = NewCluster {
            cluster: CLUSTER.parse().unwrap(),
            group: None,
            resources: resources.collect(),
        };
        let contexts = AppContexts::new(store);
        let changes: Vec<StatusChange<'_>> = cluster
            .resources
            .iter()
            .map(|object| StatusChange {
                app: "lift",
                cluster: &cluster.cluster,
                resource: &object.resource,
                status: RsyncStatus::Applied,
            })
            .collect();
        let context = NewContext {
            meta: ContextMeta::of_dig(&dig),
            apps: vec![NewApp {
                name: "lift".to_owned(),
                clusters: vec![cluster.clone()],
            }],
        };
        contexts.create_as(&id, &context).unwrap();
        let recorded = contexts.record_resource_statuses(&id, &changes).unwrap();
        assert!(matches!(recorded, Recorded::Written(_)));
        let recorded = contexts.record_status(&id, ContextStatus::Instantiated);
        assert!(matches!(recorded.unwrap(), Recorded::Written(_)));
    }
}

/// Copies the cache that all tests share: compiling the built-in interpreters takes seconds.
fn copy_cache(data: &Path) {
    static FILLED: OnceLock<()> = OnceLock::new();
    FILLED.get_or_init(|| {
        let output = run(&["interpret"], r#"{"apiVersion": "v1", "kind": "Pod"}"#);
        assert!(output.status.success(), "{}", text(&output.stderr));
    });
    let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache/kindsight");
    let mut private = fs::DirBuilder::new();
    private.mode(0o700).create(data.join("aot")).unwrap();
    fs::copy(shared.join("aot.key"), data.join("aot.key")).unwrap();
    for entry in fs::read_dir(shared.join("aot")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension() == Some("cwasm".as_ref()) {
            fs::copy(&path, data.join("aot").join(path.file_name().unwrap())).unwrap();
        }
    }
}

/// The interpreter of cranes, version 1.0.0: a draining crane is `Draining`.
pub(crate) fn crane() -> &'static [u8] {
    let mut guests = kindsight_tests::GUESTS.iter();
    guests.find(|guest| guest.name == "crane").unwrap().wasm
}

/// A later version of the interpreter of cranes: every crane is `Parked`.
pub(crate) fn version(number: usize) -> Vec<u8> {
    named("crane", number, "Crane")
}

/// An interpreter of this name for a Kind of example.com.
pub(crate) fn named(name: &str, number: usize, kind: &str) -> Vec<u8> {
    let fixture = json!({"apiVersion": "example.com/v1", "kind": kind, "spec": {"do": "undeclared-state", "text": "Parked"}});
    let description = json!({
        "name": name,
        "version": format!("{number}.0.0"),
        "kinds": [["example.com", "*", kind]],
        "states": ["Parked", "Ready"],
        "fixtures": [["a parked one", fixture.to_string(), "Parked"]],
    });
    kindsight_tests::hostile(&description.to_string())
}

/// `sha256:…` of a component, as the host prints it.
pub(crate) fn digest(bytes: &[u8]) -> String {
    kindsight_model::Digest::of(bytes).to_string()
}

/// Every resource of an answer.
pub(crate) fn resources(answer: &Value) -> &[Value] {
    let resources = &answer["apps"][0]["clusters"][0]["resources"];
    resources.as_array().map_or(&[], Vec::as_slice)
}

/// Queries the state of all cranes; fails if an answer mixes states or interpreters.
pub(crate) fn judged(server: &Server) -> Judged {
    let (status, answer) = server.get(STATUS);
    assert_eq!(status, 200, "{answer}");
    let mut judged: Vec<Judged> = resources(&answer).iter().map(judged_of).collect();
    judged.dedup();
    assert_eq!(judged.len(), 1, "a mixed answer: {answer}");
    judged.remove(0)
}

fn judged_of(resource: &Value) -> Judged {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let by = &resource["interpreter"];
    Judged {
        state: text(&resource["cluster-status"]),
        interpreter: text(&by["name"]),
        version: text(&by["version"]),
        digest: text(&by["digest"]),
    }
}

/// Waits until a condition holds. The pause leaves the processors to the server.
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < SHOWN_MAX, "timed out waiting for: {what}");
        pause(20);
    }
}

/// Waits until the cranes are judged by this component.
pub(crate) fn wait_for(server: &Server, bytes: &[u8]) -> Judged {
    let digest = digest(bytes);
    wait_until(&format!("judged by {digest}"), || {
        judged(server).digest == digest
    });
    judged(server)
}

/// Waits until the cranes are judged by the generic interpreter.
pub(crate) fn wait_for_generic(server: &Server) {
    wait_until("judged by the generic interpreter", || {
        judged(server).interpreter == "generic"
    });
    assert_eq!(judged(server).state, "Pending");
}

/// Sleeps between two steps of a writer or a kill.
pub(crate) fn pause(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}
