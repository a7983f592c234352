//! Changes of the configuration while a session runs.

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use super::*;

fn answer(target: &str) -> Option<Answer> {
    if target == "/api/v1/namespaces/kube-system" {
        return Some(Answer::Json(200, json!({"metadata": {"uid": "cluster-1"}})));
    }
    (is_list_of_services(target) || is_part_of_services(target)).then(front)
}

impl Source {
    /// Waits for the coverage that is sent next. No application may change until then.
    async fn next_coverage_without_reports(&mut self) {
        loop {
            match self.events.recv().await.unwrap() {
                ClusterEvent::Coverage { coverage, .. } => {
                    self.coverage = coverage;
                    return;
                }
                ClusterEvent::Facts { .. } | ClusterEvent::Heard { .. } => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn another_kubeconfig_is_used_although_the_previous_one_still_works() {
    let previous = Api::new(answer);
    let is_asked = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&is_asked);
    let next = Api::new(move |target| {
        asked.store(true, Ordering::Relaxed);
        answer(target)
    });
    let mut source = Source::begin(&previous, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    let path = source.folder.path().join("next");
    std::fs::write(&path, kubeconfig(&next)).unwrap();
    let name = source.cluster.name.clone();
    let cluster = KubernetesCluster::from_kubeconfig(name, path, None);
    let changed = ClusterSource::Kubernetes(Box::new(cluster));
    source.configured.send_replace(changed);
    assert_eq!(source.next().await, "synced");
    assert!(is_asked.load(Ordering::Relaxed));
}

#[tokio::test]
async fn a_namespace_that_may_not_be_listed_alone_keeps_its_objects_until_it_is_listed() {
    let is_refused = Arc::new(AtomicBool::new(false));
    let is_empty = Arc::new(AtomicBool::new(false));
    let (refused, empty) = (Arc::clone(&is_refused), Arc::clone(&is_empty));
    let api = Api::new(move |target| {
        if !is_part_of_services(target) {
            return answer(target);
        }
        Some(if empty.load(Ordering::Relaxed) {
            Answer::Json(200, list(&[]))
        } else if refused.load(Ordering::Relaxed) {
            Answer::Json(403, json!({"code": 403, "message": "no"}))
        } else {
            front()
        })
    });
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    is_refused.store(true, Ordering::Relaxed);
    source.configure(WatchOptions {
        namespaces: BTreeSet::from(["web".into()]),
        // A refused Kind is requested again after this time.
        watch_lifetime: Duration::from_secs(1),
        ..WatchOptions::default()
    });
    assert_eq!(source.next().await, "synced");
    let web = Scope::Namespace("web");
    let services = |source: &Source| source.coverage.of(Some(""), "Service", web).state;
    while services(&source) != KindState::Forbidden {
        source.next_coverage_without_reports().await;
    }
    is_empty.store(true, Ordering::Relaxed);
    assert_eq!(source.next().await, "front:  OutOfScope: front");
}

/// Polls a future once. Returns whether it continues.
fn continues(future: Pin<&mut impl Future>) -> bool {
    let mut cx = Context::from_waker(Waker::noop());
    future.poll(&mut cx).is_pending()
}

#[tokio::test]
async fn a_session_is_not_cancelled_while_an_event_waits_for_room() {
    let cluster = KubernetesCluster::in_cluster("p+c".parse().unwrap());
    let (events_tx, mut events) = mpsc::channel::<ClusterEvent>(1);
    let sender = EventSender::new(&cluster, events_tx);
    let source = ClusterSource::Kubernetes(Box::new(cluster));
    let (configured_tx, mut configured) = watch::channel(source);
    let mut sending = sender.sending();
    let mut change = pin!(changed_between_events(&mut configured, &mut sending));
    assert!(continues(change.as_mut()), "nothing changed");
    assert!(sender.added().await.is_ok());
    let mut waiting = pin!(sender.added());
    assert!(continues(waiting.as_mut()), "the channel is full");
    configured_tx.send_modify(|_| ());
    assert!(continues(change.as_mut()), "an event waits");
    events.recv().await.unwrap();
    assert!(waiting.await.is_ok());
    change.await;
}
