//! Several contexts of kubeconfigs that lead to one cluster.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

fn uid() -> Answer {
    Answer::Json(200, json!({"metadata": {"uid": "cluster-1"}}))
}

fn answer(target: &str) -> Option<Answer> {
    if target == "/api/v1/namespaces/kube-system" {
        return Some(uid());
    }
    (is_list_of_services(target) || is_part_of_services(target)).then(front)
}

fn begin(api: &Api, name: &str, needs: &Needs) -> Source {
    Source::begin_as(api, needs.clone(), |cluster| KubernetesCluster {
        name: format!("p+{name}").parse().unwrap(),
        origin: name.into(),
        is_found: true,
        ..cluster
    })
}

impl Source {
    /// Waits until the cluster is removed in favour of another name.
    async fn removed(&mut self) {
        let is_removed = |event: &ClusterEvent| matches!(event, ClusterEvent::Removed { .. });
        while !is_removed(&self.events.recv().await.unwrap()) {}
    }
}

#[tokio::test]
async fn a_cluster_keeps_its_name_and_is_reached_by_a_context_that_works() {
    let is_away = Arc::new(AtomicBool::new(false));
    let away = Arc::clone(&is_away);
    let api = Api::new(move |target| {
        if away.load(Ordering::Relaxed) {
            return Some(Answer::Closed);
        }
        answer(target)
    });
    let other = Api::new(answer);
    let needs = Needs::default();
    let mut held = begin(&api, "b", &needs);
    assert_eq!(held.next().await, "front: front");
    assert_eq!(held.next().await, "synced");
    let mut waiting = begin(&other, "a", &needs);
    waiting.removed().await;
    is_away.store(true, Ordering::Relaxed);
    // The next session begins with the access of the other context.
    assert_eq!(held.next().await, "synced");
    held.heard().await;
}

#[tokio::test]
async fn a_context_that_may_list_more_is_used_under_the_name_of_the_cluster() {
    let narrow = Api::new(|target| {
        let forbidden = json!({"code": 403, "message": "no"});
        let is_list = target.starts_with("/api/v1/services?limit");
        let refused = is_list.then_some(Answer::Json(403, forbidden));
        refused.or_else(|| answer(target))
    });
    let wide = Api::new(answer);
    let needs = Needs::default();
    let mut held = begin(&narrow, "a", &needs);
    held.states_until("", "Service", KindState::Forbidden).await;
    let mut waiting = begin(&wide, "b", &needs);
    waiting.removed().await;
    held.states_until("", "Service", KindState::Complete).await;
}
