//! The three flows of the examples, on the stores that there are.

use std::sync::Arc;

use kindsight_appcontext::{
    AppContexts, ContextMeta, ContextSnapshot, NewApp, NewCluster, NewContext, NewResource,
    Recorded, ResourceName,
};
use kindsight_cluster::{Binaries, Binary, Etcd};
use kindsight_model::{ClusterName, ContextId};
use kindsight_store::{EtcdOptions, RedbStore, Store};

#[expect(dead_code, reason = "an example has a `main` of its own")]
#[path = "../examples/action_controller.rs"]
mod action_controller;
#[expect(dead_code, reason = "an example has a `main` of its own")]
#[path = "../examples/orchestrator.rs"]
mod orchestrator;
#[expect(dead_code, reason = "an example has a `main` of its own")]
#[path = "../examples/placement_controller.rs"]
mod placement_controller;

const CLUSTERS: [&str; 3] = ["p+edge01", "p+edge02", "q+edge01"];

/// Runs a flow on the embedded store, and on an etcd where its binary is there or can be built.
fn on_every_store(flow: impl Fn(&AppContexts)) {
    let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().expect("a store"));
    flow(&AppContexts::new(store));
    let Some(binaries) = Binaries::or_skip(Binary::ETCD) else {
        return;
    };
    let etcd = Etcd::start(&binaries);
    let (_, endpoint) = etcd.url().split_once("://").expect("a URL");
    let address = format!("etcd://{endpoint}").parse().expect("an address");
    let store = kindsight_store::open(&address, &EtcdOptions::default()).expect("a store");
    flow(&AppContexts::new(store));
}

fn read(contexts: &AppContexts, id: &ContextId) -> ContextSnapshot {
    let snapshot = contexts.read(id).expect("an answer").expect("a context");
    assert_eq!(snapshot.unreadable, []);
    snapshot
}

fn apps(snapshot: &ContextSnapshot) -> Vec<&str> {
    snapshot.apps.iter().map(|app| app.name.as_str()).collect()
}

fn edge() -> ClusterName {
    CLUSTERS[0].parse().expect("a cluster")
}

#[test]
fn an_orchestrator_creates_a_context_at_once_or_in_steps() {
    on_every_store(|contexts| {
        let whole = orchestrator::instantiate(contexts, &CLUSTERS).unwrap();
        let grown = orchestrator::instantiate_in_steps(contexts, &CLUSTERS).unwrap();
        let [whole, grown] = [whole, grown].map(|id| read(contexts, &id));
        assert_eq!(apps(&whole), ["sink", "firewall"]);
        assert_eq!(apps(&whole), apps(&grown));
        assert_eq!(whole.meta, grown.meta);
        assert_eq!(whole.status, None);
        assert_eq!(grown.apps[1].depends_on[0].app, "sink");
        for snapshot in [&whole, &grown] {
            let clusters = &snapshot.apps[0].clusters;
            let groups: Vec<_> = clusters
                .iter()
                .map(|cluster| cluster.group.as_deref())
                .collect();
            assert_eq!(groups, [Some("1"), Some("2"), Some("3")]);
            assert_eq!(clusters[2].resources[0].name, "sink-config");
        }
    });
}

#[test]
fn an_action_controller_changes_a_resource_of_a_loaded_context() {
    on_every_store(|contexts| {
        let id = orchestrator::instantiate(contexts, &CLUSTERS).unwrap();
        action_controller::customize(contexts, &id, "sink", &edge()).unwrap();
        let snapshot = read(contexts, &id);
        let resources = &snapshot.apps[0].clusters[0].resources;
        let names: Vec<_> = resources
            .iter()
            .map(|resource| resource.name.as_str())
            .collect();
        assert_eq!(names, ["sink-config", "sink-route"]);
        let manifest = resources[0].manifest.as_deref().unwrap();
        assert!(manifest.ends_with("name: sink-config\ndata:\n  level: debug\n"));
        assert_eq!(snapshot.apps[0].clusters[1].resources.len(), 1);
    });
}

#[test]
fn a_placement_controller_deletes_the_clusters_it_rejects() {
    on_every_store(|contexts| {
        let id = orchestrator::instantiate(contexts, &CLUSTERS).unwrap();
        let app = contexts.load(&id).unwrap().app("sink").unwrap();
        for name in &CLUSTERS[..2] {
            let cluster = app.cluster(&name.parse().unwrap()).unwrap();
            cluster.group().set(&"1".to_owned()).unwrap();
        }
        let is_edge02 =
            |cluster: &ClusterName| &*cluster.name == "edge02" || &*cluster.provider == "q";
        let rejected = placement_controller::place(contexts, &id, "sink", is_edge02).unwrap();
        assert_eq!(rejected, [edge()]);
        let snapshot = read(contexts, &id);
        let left = snapshot.apps[0]
            .clusters
            .iter()
            .map(|cluster| cluster.cluster.to_string());
        assert_eq!(left.collect::<Vec<_>>(), CLUSTERS[1..]);
        assert!(app.cluster(&edge()).is_err());
    });
}

/// More resources than an etcd takes in one request.
#[test]
fn a_large_context_is_created_read_and_deleted() {
    const RESOURCES: usize = 300;
    on_every_store(|contexts| {
        let id = orchestrator::instantiate(contexts, &CLUSTERS).unwrap();
        let resource = |number| NewResource {
            resource: ResourceName::new(&format!("x{number}"), "Pod").unwrap(),
            manifest: "kind: Pod\n".repeat(500),
        };
        let new = NewContext {
            meta: ContextMeta::default(),
            apps: vec![NewApp {
                name: "sink".to_owned(),
                clusters: vec![NewCluster {
                    cluster: edge(),
                    group: None,
                    resources: (0..RESOURCES).map(resource).collect(),
                }],
            }],
        };
        let large = contexts.create(&new).unwrap();
        let snapshot = read(contexts, &large);
        assert_eq!(snapshot.apps[0].clusters[0].resources.len(), RESOURCES);
        let bundle = format!(r#"{{"podStatuses":[{}"x"]}}"#, r#""x","#.repeat(600_000));
        let recorded = contexts.record_bundle(&large, "sink", &edge(), &bundle);
        assert!(matches!(recorded, Ok(Recorded::Written(_))), "{recorded:?}");
        let whole = read(contexts, &large).apps[0].clusters[0].bundle.clone();
        assert!(whole.json() == Some(&*bundle));
        assert!(contexts.delete(&large).unwrap());
        assert_eq!(contexts.list().unwrap().ids, [id]);
    });
}
