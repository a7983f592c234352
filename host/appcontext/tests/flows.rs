//! The three flows of the examples, on the stores that there are.

use std::sync::Arc;

use kindsight_appcontext::{AppContexts, ContextSnapshot};
use kindsight_model::{ClusterName, ContextId};
use kindsight_store::{RedbStore, Store};

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

fn on_every_store(flow: impl Fn(&AppContexts)) {
    let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().unwrap());
    flow(&AppContexts::new(store));
}

fn read(contexts: &AppContexts, id: &ContextId) -> ContextSnapshot {
    let snapshot = contexts.read(id).unwrap().unwrap();
    assert_eq!(snapshot.unreadable, []);
    snapshot
}

fn apps(snapshot: &ContextSnapshot) -> Vec<&str> {
    snapshot.apps.iter().map(|app| app.name.as_str()).collect()
}

fn edge() -> ClusterName {
    CLUSTERS[0].parse().unwrap()
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
            let groups: Vec<_> = clusters.iter().map(|it| it.group.as_deref()).collect();
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
        let names: Vec<_> = resources.iter().map(|it| it.name.as_str()).collect();
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
        let is_edge02 = |it: &ClusterName| &*it.name == "edge02" || &*it.provider == "q";
        let rejected = placement_controller::place(contexts, &id, "sink", is_edge02).unwrap();
        assert_eq!(rejected, [edge()]);
        let snapshot = read(contexts, &id);
        let left = snapshot.apps[0]
            .clusters
            .iter()
            .map(|it| it.cluster.to_string());
        assert_eq!(left.collect::<Vec<_>>(), CLUSTERS[1..]);
        assert!(app.cluster(&edge()).is_err());
    });
}
