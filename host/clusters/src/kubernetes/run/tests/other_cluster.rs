//! Connections that lead to another cluster during a session.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// The answer of a cluster with this uid, whose application has one Service.
fn answer(target: &str, uid: &str, service: &str) -> Option<Answer> {
    if target == "/api/v1/namespaces/kube-system" {
        return Some(Answer::Json(200, json!({"metadata": {"uid": uid}})));
    }
    let shop = json!({"app.kubernetes.io/instance": "shop"});
    let services = || Answer::Json(200, list(&[object(service, &shop)]));
    (is_list_of_services(target) || is_part_of_services(target)).then(services)
}

/// Checks that the data of the previous cluster is removed before the other cluster is reported.
async fn is_replaced(source: &mut Source) {
    let mut is_removed = false;
    loop {
        match source.events.recv().await.unwrap() {
            ClusterEvent::Removed { .. } => is_removed = true,
            ClusterEvent::Added { .. } => break,
            _ => {}
        }
    }
    assert!(is_removed);
    assert_eq!(source.next().await, "back: back");
    assert_eq!(source.next().await, "synced");
}

#[tokio::test]
async fn a_new_connection_to_another_cluster_ends_the_session() {
    let is_away = Arc::new(AtomicBool::new(false));
    let away = Arc::clone(&is_away);
    let api = Api::new(move |target| {
        if away.load(Ordering::Relaxed) {
            return Some(Answer::Closed);
        }
        answer(target, "cluster-1", "front")
    });
    let other = Api::new(|target| answer(target, "cluster-2", "back"));
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    source.write_kubeconfig(&other);
    is_away.store(true, Ordering::Relaxed);
    is_replaced(&mut source).await;
}

#[tokio::test]
async fn an_address_that_leads_to_another_cluster_ends_the_session() {
    let is_moved = Arc::new(AtomicBool::new(false));
    let moved = Arc::clone(&is_moved);
    // Each request has a network connection of its own.
    let api = Api::new(move |target| {
        if moved.load(Ordering::Relaxed) {
            answer(target, "cluster-2", "back")
        } else {
            answer(target, "cluster-1", "front")
        }
    });
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    is_moved.store(true, Ordering::Relaxed);
    is_replaced(&mut source).await;
}
