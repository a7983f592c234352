//! Inventories that list resources of another cluster.

use std::collections::HashMap;

use kindsight_model::{ClusterName, DigName};

use super::inventories::{Listing, claims, deployment};
use super::*;

/// An Argo CD Application that lists Deployments of a cluster.
fn application(destination: &str, names: &[&str]) -> Value {
    let resources = names.iter().map(|name| {
        json!({"group": "apps", "version": "v1", "kind": "Deployment", "namespace": "web", "name": name})
    });
    json!({
        "metadata": {"namespace": "argocd", "name": "shop", "uid": "uid-shop"},
        "spec": {"destination": {"name": destination}},
        "status": {"resources": resources.collect::<Vec<_>>()},
    })
}

#[test]
fn an_inventory_of_another_cluster_counts_in_the_cluster_of_its_resources() {
    let hub: Arc<ClusterName> = Arc::new("p+hub".parse().unwrap());
    let (mut own, mut other) = (Listing::new(), Listing::new());
    let pass_on = |own: &mut Listing, other: &mut Listing| -> bool {
        let Some(inventories) = own.index.take_remote_inventories() else {
            return false;
        };
        let received = inventories.inventories.iter().cloned();
        let received: Vec<_> = received
            .map(|inventory| (Arc::clone(&hub), inventory))
            .collect();
        other
            .index
            .set_remote_inventories(&received, &Arc::default());
        true
    };
    own.apply("Application", &application("edge", &["front", "side"]));
    assert_eq!(own.missing(), Vec::<String>::new());
    other.apply("Deployment", &deployment("front", &json!({})));
    assert!(pass_on(&mut own, &mut other));
    assert!(!pass_on(&mut own, &mut other), "nothing changed");
    assert_eq!(other.missing(), ["-/shop/-/-: Deployment/side"]);
    assert_eq!(other.application_of("Deployment", "front"), "-/shop/-/-");
    // Any mark precedes the inventory of another cluster, also the mark of an owned object.
    let labels = json!({"app.kubernetes.io/part-of": "suite"});
    other.apply("Deployment", &deployment("side", &labels));
    let expected = "side: label app.kubernetes.io/part-of; -/shop/-/-: the inventory of Application \
        argocd/shop in cluster p+hub";
    assert_eq!(claims(&mut other), [expected]);
    assert_eq!(other.missing(), ["-/shop/-/-:"]);
    let pod = json!({"metadata": {
        "namespace": "web", "name": "front-1", "uid": "uid-front-1", "labels": labels,
        "ownerReferences": [{"kind": "Deployment", "name": "front", "uid": "uid-front"}],
    }});
    other.apply("Pod", &pod);
    assert_eq!(other.application_of("Pod", "front-1"), "-/suite/-/-");
    // It lists another resource, then names its own cluster, then another one again, and is deleted.
    own.apply("Application", &application("edge", &["front", "new"]));
    assert!(pass_on(&mut own, &mut other));
    assert_eq!(other.missing(), ["-/shop/-/-: Deployment/new"]);
    own.apply("Application", &application("in-cluster", &["front", "new"]));
    assert!(pass_on(&mut own, &mut other));
    assert_eq!(other.missing(), ["-/shop/-/-:"]);
    assert_eq!(other.application_of("Deployment", "front"), "");
    assert_eq!(
        own.missing(),
        ["-/shop/-/-: Deployment/front Deployment/new"]
    );
    let elsewhere = application("edge", &["new"]);
    own.apply("Application", &elsewhere);
    assert_eq!(own.missing(), ["-/shop/-/-:"]);
    assert!(pass_on(&mut own, &mut other));
    assert_eq!(other.missing(), ["-/shop/-/-: Deployment/new"]);
    own.delete("Application", &elsewhere);
    assert!(pass_on(&mut own, &mut other));
    assert_eq!(other.missing(), ["-/shop/-/-:"]);
}

#[test]
fn the_inventories_for_other_clusters_are_cut_at_the_limit() {
    let (mut own, mut other) = (Listing::new(), Listing::new());
    let names: Vec<String> = (0..51).map(|n| format!("n{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    own.apply("Application", &application("edge", &names));
    let inventories = own.index.take_remote_inventories().unwrap();
    let hub: Arc<ClusterName> = Arc::new("p+hub".parse().unwrap());
    let received = [(hub, inventories.inventories[0].clone())];
    other
        .index
        .set_remote_inventories(&received, &Arc::default());
    assert_eq!(other.index.take_missing()[0].resources.len(), 50);
}

#[test]
fn an_inventory_that_is_not_compared_is_a_fault_of_its_application() {
    let mut cluster = Listing::new();
    let marked =
        |name: &str, app: &str| deployment(name, &json!({"app.kubernetes.io/part-of": app}));
    cluster.apply("Deployment", &marked("front", "shop"));
    cluster.apply("Deployment", &marked("base", "base"));
    let mut faults = |uncompared: &[&str]| -> Vec<String> {
        let shop = DigName::found("shop", None).unwrap();
        let texts = uncompared.iter().map(|text| Arc::from(*text)).collect();
        let uncompared = Arc::new(HashMap::from([(shop, texts)]));
        cluster.index.set_remote_inventories(&[], &uncompared);
        let reports = cluster.index.take_reports(&Coverage::default()).into_iter();
        let faults = reports.map(|(_, report)| {
            let name = &report.objects.iter().next().unwrap().name;
            format!("{name}: {}", report.faults.join(", "))
        });
        faults.collect()
    };
    assert_eq!(faults(&["why"]), ["base: ", "front: why"]);
    assert_eq!(faults(&["why"]), Vec::<String>::new());
    assert_eq!(faults(&["why not"]), ["front: why not"]);
    assert_eq!(faults(&[]), ["front: "]);
}
