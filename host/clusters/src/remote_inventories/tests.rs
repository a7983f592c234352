use kindsight_cluster_index::{ApiKind, Body, ClusterIndex, Decoded, Labels, MembershipRules};
use kindsight_contract::Tree;
use kindsight_model::{Gvk, Object};
use serde_json::{Value, json};

use super::*;

fn endpoint(server: &str, names: &[&str]) -> Endpoint {
    Endpoint {
        server: server.parse().unwrap(),
        names: names.iter().copied().map(Arc::from).collect(),
        kubeconfigs: BTreeSet::new(),
    }
}

/// The inventory of an Argo CD Application with a destination.
fn inventory(destination: &Value) -> OutgoingInventories {
    outgoing(
        &Gvk::new("argoproj.io", "v1alpha1", "Application"),
        &json!({
            "metadata": {"namespace": "argocd", "name": "shop"},
            "spec": {"destination": destination},
            "status": {"resources": [{"version": "v1", "kind": "ConfigMap", "namespace": "web", "name": "a"}]},
        }),
    )
}

/// The inventory of a Kustomization with this `spec.kubeConfig`.
fn inventory_of_flux(kubeconfig: &Value) -> OutgoingInventories {
    outgoing(
        &Gvk::new("kustomize.toolkit.fluxcd.io", "v1", "Kustomization"),
        &json!({
            "metadata": {"namespace": "flux-system", "name": "shop"},
            "spec": {"kubeConfig": kubeconfig},
            "status": {"inventory": {"entries": [{"id": "web_a__ConfigMap", "v": "v1"}]}},
        }),
    )
}

/// The inventories of a cluster that has only this object.
fn outgoing(gvk: &Gvk, object: &Value) -> OutgoingInventories {
    let kind = ApiKind {
        gvk: gvk.clone(),
        plural: format!("{}s", gvk.kind.to_lowercase()),
        is_namespaced: true,
    };
    let mut index = ClusterIndex::default();
    let scope = index.watch(&Arc::new(kind), None, &Labels::None);
    let text = object.to_string();
    let body = Body::Whole(Object::from_json_as(text.clone(), gvk).unwrap());
    let tree = Tree::read(&text).unwrap();
    let root = tree.document(&text);
    let rules = MembershipRules::default();
    let decoded = Decoded::read(gvk, root.root(), &rules, &Labels::None, body);
    index.apply(scope, decoded);
    index.take_remote_inventories().unwrap()
}

/// The cluster that receives the inventory of a hub, or the fault.
fn found(clusters: &RemoteInventories, destination: &Value) -> String {
    found_of(clusters, &inventory(destination))
}

fn found_of(clusters: &RemoteInventories, inventory: &OutgoingInventories) -> String {
    let hub = "p+hub".parse().unwrap();
    let entered = clusters.enter(&hub, endpoint("https://192.0.2.1:6443", &["hub"]));
    entered.publish(inventory);
    let receiver = clusters.subscribe();
    let exchange = receiver.borrow();
    let received = exchange.received.keys().map(ToString::to_string);
    let faults = exchange.uncompared.values().flatten();
    let faults = faults.map(ToString::to_string);
    let all: Vec<String> = received.chain(faults).collect();
    drop(exchange);
    all.join(", ")
}

#[test]
fn a_destination_is_the_watched_cluster_with_its_address_or_its_name() {
    let clusters = RemoteInventories::default();
    let name = |name: &str| name.parse().unwrap();
    let edge = endpoint("https://Edge.example.com", &["edge", "admin@edge"]);
    let _edge = clusters.enter(&name("p+edge"), edge);
    let other = endpoint("https://192.0.2.3:6443/k8s/c-1/", &["twice"]);
    let _other = clusters.enter(&name("p+other"), other);
    let _twice = clusters.enter(
        &name("q+twice"),
        endpoint("https://192.0.2.4:6443", &["twice"]),
    );
    for (destination, cluster) in [
        (json!({"server": "https://edge.example.com:443/"}), "p+edge"),
        (
            json!({"server": "https://192.0.2.3:6443/k8s/c-1"}),
            "p+other",
        ),
        (json!({"server": "https://192.0.2.1:6443"}), "p+hub"),
        (json!({"name": "edge"}), "p+edge"),
        (json!({"name": "admin@edge"}), "p+edge"),
    ] {
        assert_eq!(found(&clusters, &destination), cluster, "{destination}");
    }
    for (destination, why) in [
        (
            json!({"server": "https://192.0.2.3:6443"}),
            "no watched cluster has the address https://192.0.2.3:6443",
        ),
        (
            json!({"server": "not an address"}),
            "no watched cluster has the address not an address",
        ),
        (
            json!({"name": "p+edge"}),
            "no watched cluster has the name p+edge",
        ),
        (
            json!({"name": "twice"}),
            "several watched clusters have the name twice",
        ),
    ] {
        let fault = format!(
            "Application argocd/shop in cluster p+hub is not compared with its cluster: {why}; missing resources may be unknown"
        );
        assert_eq!(found(&clusters, &destination), fault);
    }
}

#[test]
fn a_kubeconfig_leads_to_the_watched_cluster_that_has_its_name_or_lists_it() {
    let clusters = RemoteInventories::default();
    let listing = |address: &str, names: &[&str], listed: &[&str]| Endpoint {
        kubeconfigs: listed.iter().map(|text| text.parse().unwrap()).collect(),
        ..endpoint(address, names)
    };
    let name = |name: &str| name.parse().unwrap();
    let of_edge = listing(
        "https://192.0.2.2:6443",
        &["edge"],
        &["flux-system/to-edge"],
    );
    let _edge = clusters.enter(&name("p+edge"), of_edge);
    let only_of_hub = [
        "p+hub/flux-system/far",
        "flux-system/twice",
        "flux-system/shared",
    ];
    let of_far = listing(
        "https://192.0.2.3:6443",
        &["renamed", "twice"],
        &only_of_hub,
    );
    let _far = clusters.enter(&name("p+renamed"), of_far);
    let of_other = listing(
        "https://192.0.2.4:6443",
        &["other", "twice", "both"],
        &["p+other/flux-system/unlisted", "flux-system/shared"],
    );
    let _other = clusters.enter(&name("p+other"), of_other);
    let of_both = listing("https://192.0.2.5:6443", &["both-kubeconfig"], &[]);
    let _both = clusters.enter(&name("p+both-kubeconfig"), of_both);
    let found = |member: &str, object: &str| {
        found_of(
            &clusters,
            &inventory_of_flux(&json!({member: {"name": object}})),
        )
    };
    for (member, object, cluster) in [
        ("secretRef", "edge", "p+edge"),
        ("secretRef", "edge-kubeconfig", "p+edge"),
        ("configMapRef", "edge", "p+edge"),
        ("secretRef", "to-edge", "p+edge"),
        ("configMapRef", "far", "p+renamed"),
        // The configuration precedes names.
        ("secretRef", "twice", "p+renamed"),
        ("secretRef", "hub", "p+hub"),
    ] {
        assert_eq!(found(member, object), cluster, "{member} {object}");
    }
    let unlisted = |object: &str, count: &str| {
        format!(
            "the name of Secret flux-system/{object} is the name of {count} watched cluster, and no table [[cluster]] has flux-system/{object} in `kubeconfig-refs`"
        )
    };
    for (object, why) in [
        ("unlisted", unlisted("unlisted", "no")),
        ("both-kubeconfig", unlisted("both-kubeconfig", "more than one")),
        (
            "shared",
            "the tables [[cluster]] of several watched clusters have flux-system/shared in `kubeconfig-refs`".to_owned(),
        ),
    ] {
        let fault = format!(
            "Kustomization flux-system/shop in cluster p+hub is not compared with its cluster: {why}; missing resources may be unknown"
        );
        assert_eq!(found("secretRef", object), fault);
    }
}

#[test]
fn a_kubeconfig_without_a_name_is_a_fault() {
    let clusters = RemoteInventories::default();
    let fault = found_of(&clusters, &inventory_of_flux(&json!({})));
    assert!(
        fault.contains("its object names a kubeconfig that kindsight does not read"),
        "{fault}"
    );
}

#[test]
fn a_stored_inventory_of_flux_keeps_the_name_of_its_kubeconfig() {
    let published = inventory_of_flux(&json!({"secretRef": {"name": "edge"}}));
    let stored = serde_json::to_string(&published.inventories[0]).unwrap();
    let expected = r#""destination":{"kubeconfig-in":{"kind":"Secret","namespace":"flux-system","name":"edge"}}"#;
    assert!(stored.contains(expected), "{stored}");
    let restored: RemoteInventory = serde_json::from_str(&stored).unwrap();
    assert_eq!(
        restored.destination(),
        published.inventories[0].destination()
    );
}

#[test]
fn inventories_follow_the_clusters_that_are_watched() {
    let clusters = RemoteInventories::default();
    let name = |name: &str| name.parse().unwrap();
    let mut changes = clusters.subscribe();
    let hub = clusters.enter(&name("p+hub"), endpoint("https://192.0.2.1:6443", &["hub"]));
    assert!(!changes.has_changed().unwrap(), "there are no inventories");
    hub.publish(&inventory(&json!({"name": "edge"})));
    let edge = name("p+edge");
    let state = |changes: &mut watch::Receiver<Exchange>| {
        let exchange = changes.borrow_and_update();
        (exchange.received(&edge).len(), exchange.uncompared().len())
    };
    assert_eq!(state(&mut changes), (0, 1));
    let entered = clusters.enter(&edge, endpoint("https://192.0.2.2:6443", &["edge"]));
    assert_eq!(state(&mut changes), (1, 0));
    hub.publish(&inventory(&json!({"name": "edge"})));
    assert!(
        !changes.has_changed().unwrap(),
        "the inventories are the same"
    );
    entered.move_to(endpoint("https://192.0.2.2:6443", &["other"]));
    assert_eq!(state(&mut changes), (0, 1));
    entered.move_to(endpoint("https://192.0.2.2:6443", &["edge"]));
    hub.move_to(endpoint("https://192.0.2.9:6443", &["hub"]));
    assert_eq!(state(&mut changes), (1, 0));
    drop(entered);
    assert_eq!(state(&mut changes), (0, 1));
    drop(hub);
    assert_eq!(state(&mut changes), (0, 0));
}

#[test]
fn a_restored_inventory_counts_until_its_kind_is_read() {
    let clusters = RemoteInventories::default();
    let (hub, edge): (ClusterName, ClusterName) =
        ("p+hub".parse().unwrap(), "p+edge".parse().unwrap());
    let published = inventory(&json!({"name": "edge"}));
    let stored = serde_json::to_string(&published.inventories[0]).unwrap();
    assert_eq!(
        stored,
        r#"{"application":"-/shop/-/-","kind":"Application","text":"Application argocd/shop","destination":{"name":"edge"},"listed":[{"GVK":{"Group":"","Version":"v1","Kind":"ConfigMap"},"namespace":"web","name":"a"}]}"#
    );
    let restored: RemoteInventory = serde_json::from_str(&stored).unwrap();
    clusters.restore(BTreeMap::from([
        (Arc::new(hub.clone()), vec![restored.clone()]),
        (Arc::new("p+away".parse().unwrap()), vec![restored]),
    ]));
    let receiver = clusters.subscribe();
    let received = || receiver.borrow().received(&edge).len();
    assert_eq!(
        received(),
        0,
        "the cluster with the resources is not known yet"
    );
    let _entered = clusters.enter(&edge, endpoint("https://192.0.2.2:6443", &["edge"]));
    assert_eq!(received(), 2, "no cluster with an inventory was read");
    clusters.forget_restored(&"p+away".parse().unwrap());
    assert_eq!(received(), 1);
    let hub_entered = clusters.enter(&hub, endpoint("https://192.0.2.1:6443", &["hub"]));
    let none = |unread: &[&str]| OutgoingInventories {
        inventories: Arc::default(),
        unread: unread.iter().copied().map(Arc::from).collect(),
    };
    hub_entered.publish(&none(&["Application"]));
    assert_eq!(received(), 1, "its Kind cannot be read");
    hub_entered.publish(&none(&["HelmRelease"]));
    assert_eq!(received(), 0, "its Kind was read without it");
    hub_entered.publish(&published);
    assert_eq!(received(), 1, "the restored inventory is the same");
    hub_entered.publish(&none(&["Application"]));
    assert_eq!(received(), 0, "it was read and removed");
}

#[test]
fn a_restored_inventory_ends_with_the_list_of_its_kind() {
    let clusters = RemoteInventories::default();
    let published = inventory(&json!({"name": "hub"}));
    let hub: Arc<ClusterName> = Arc::new("p+hub".parse().unwrap());
    let restored = vec![published.inventories[0].clone()];
    clusters.restore(BTreeMap::from([(Arc::clone(&hub), restored)]));
    let entered = clusters.enter(&hub, endpoint("https://192.0.2.1:6443", &["hub"]));
    assert_eq!(clusters.by_cluster().len(), 1);
    entered.publish(&OutgoingInventories::default());
    assert!(clusters.by_cluster().is_empty());
}

#[test]
fn the_restored_inventories_of_another_cluster_with_the_name_are_forgotten() {
    let clusters = RemoteInventories::default();
    let hub: Arc<ClusterName> = Arc::new("p+hub".parse().unwrap());
    let published = inventory(&json!({"name": "hub"}));
    let text = serde_json::to_string(&published.inventories[0]).unwrap();
    let restored = serde_json::from_str(&text.replace("argocd/shop", "argocd/base")).unwrap();
    clusters.restore(BTreeMap::from([(Arc::clone(&hub), vec![restored])]));
    let entered = clusters.enter(&hub, endpoint("https://192.0.2.1:6443", &["hub"]));
    // The index of this test has no coverage, so no Kind counts as read.
    entered.publish(&published);
    assert_eq!(clusters.by_cluster()[&hub].len(), 2);
    clusters.forget_restored(&hub);
    assert_eq!(*clusters.by_cluster()[&hub], *published.inventories);
}
