//! Outages, and servers with similar symptoms.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::*;

fn failed() -> Answer {
    Answer::Json(500, json!({"code": 500, "message": "no"}))
}

fn is_front(target: &str) -> bool {
    is_list_of_services(target) || is_part_of_services(target)
}

#[tokio::test]
async fn a_server_whose_readyz_fails_or_hangs_but_whose_lists_answer_is_heard() {
    let (held_tx, held) = mpsc::unbounded_channel();
    for hangs in [false, true] {
        let held_tx = held_tx.clone();
        let api = Api::new(move |target| match target {
            "/readyz" if hangs => {
                let (release, until) = blocking::channel();
                held_tx.send(release).unwrap();
                Some(Answer::Held(until, json!("ok")))
            }
            "/readyz" => Some(failed()),
            _ => is_front(target).then(front),
        });
        let mut source = Source::begin(&api, Needs::default());
        assert_eq!(source.next().await, "front: front");
        assert_eq!(source.next().await, "synced");
        for _ in 0..4 {
            source.heard().await;
        }
    }
    drop(held);
}

#[tokio::test]
async fn a_server_that_accepts_no_connection_cannot_be_reached_until_it_does() {
    let is_away = Arc::new(AtomicBool::new(false));
    let away = Arc::clone(&is_away);
    let api = Api::new(move |target| {
        if away.load(Ordering::Relaxed) {
            return Some(Answer::Closed);
        }
        is_front(target).then(front)
    });
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    is_away.store(true, Ordering::Relaxed);
    let event = source.next().await;
    let why = "stale: the cluster cannot be reached: ";
    assert!(event.starts_with(why), "{event}");
    is_away.store(false, Ordering::Relaxed);
    assert_eq!(source.next().await, "synced");
}

#[tokio::test]
async fn a_server_that_cannot_read_its_store_cannot_be_reached_after_three_probes() {
    let probes = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&probes);
    let is_broken = Arc::new(AtomicBool::new(false));
    let broken = Arc::clone(&is_broken);
    let api = Api::new(move |target| {
        if !broken.load(Ordering::Relaxed) {
            return is_front(target).then(front);
        }
        let is_first = ["/readyz", "/api/v1/namespaces/kube-system"].contains(&target);
        counted.fetch_add(usize::from(is_first), Ordering::Relaxed);
        (target != "/version").then(failed)
    });
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    is_broken.store(true, Ordering::Relaxed);
    let why = "stale: the cluster cannot be reached: it answers 500: no";
    assert_eq!(source.next().await, why);
    // Each probe asks for the health over the connection in use, and for the cluster over a new one.
    assert!(probes.load(Ordering::Relaxed) >= 6);
}

#[tokio::test]
async fn a_watch_that_outlives_its_lifetime_is_opened_again() {
    let (watched_tx, mut watched) = mpsc::unbounded_channel();
    let api = Api::new(move |target| {
        let is_watch = target.starts_with("/api/v1/services?watch=1&");
        if is_watch && !target.contains("sendInitialEvents") {
            watched_tx.send(()).unwrap();
        }
        is_front(target).then(front)
    });
    let mut source = Source::begin(&api, Needs::default());
    source.configure(WatchOptions {
        watch_lifetime: Duration::from_secs(1),
        ..WatchOptions::default()
    });
    // The server ends none of them.
    for _ in 0..4 {
        watched.recv().await.unwrap();
    }
    while let Ok(event) = source.events.try_recv() {
        assert!(!matches!(event, ClusterEvent::Stale { .. }), "{event:?}");
    }
}

#[tokio::test]
async fn a_server_that_returned_to_an_earlier_state_is_listed_again() {
    let is_restored = Arc::new(AtomicBool::new(false));
    let restored = Arc::clone(&is_restored);
    let api = Api::new(move |target| {
        let is_restored = restored.load(Ordering::Relaxed);
        if is_restored && target.contains("limit=") {
            return Some(Answer::Json(
                200,
                json!({"metadata": {"resourceVersion": "7"}, "items": []}),
            ));
        }
        is_front(target).then(front)
    });
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    is_restored.store(true, Ordering::Relaxed);
    assert_eq!(source.next().await, "front:  Deleted: front");
}

#[tokio::test]
async fn a_new_connection_reads_the_kubeconfig_again() {
    let is_away = Arc::new(AtomicBool::new(false));
    let away = Arc::clone(&is_away);
    let api = Api::new(move |target| {
        if away.load(Ordering::Relaxed) {
            return Some(Answer::Closed);
        }
        is_front(target).then(front)
    });
    let other = Api::new(|target| is_front(target).then(front));
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    source.write_kubeconfig(&other);
    is_away.store(true, Ordering::Relaxed);
    source.heard().await;
    source.heard().await;
    while let Ok(event) = source.events.try_recv() {
        assert!(!matches!(event, ClusterEvent::Stale { .. }), "{event:?}");
    }
}

#[tokio::test]
async fn a_kind_whose_watch_a_busy_server_puts_off_is_unavailable() {
    let api = Api::new(|target| {
        let is_watch = target.starts_with("/api/v1/services?watch=1&");
        if is_watch && !target.contains("sendInitialEvents") {
            let details = json!({"retryAfterSeconds": 60});
            let busy = json!({"code": 429, "message": "busy", "details": details});
            return Some(Answer::Json(429, busy));
        }
        is_front(target).then(front)
    });
    let mut source = Source::begin(&api, Needs::default());
    source
        .states_until("", "Service", KindState::Unavailable)
        .await;
}

#[tokio::test]
async fn a_kind_that_is_not_listed_again_in_time_is_unavailable() {
    let (held_tx, mut held) = mpsc::unbounded_channel();
    let too_old = json!({"code": 410, "message": "too old"});
    let mut watches = 0;
    let api = Api::new(move |target| {
        let is_watch = target.starts_with("/api/v1/services?watch=1&");
        if is_watch && !target.contains("sendInitialEvents") {
            watches += 1;
            if watches == 1 {
                let (release, until) = blocking::channel();
                held_tx.send(release).unwrap();
                return Some(Answer::Held(until, json!({})));
            }
            let error = json!({"type": "ERROR", "object": too_old});
            return Some(Answer::Lines(vec![error.to_string()]));
        }
        if is_list_of_services(target) && watches > 1 {
            return Some(Answer::Json(410, too_old.clone()));
        }
        is_front(target).then(front)
    });
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    assert_eq!(source.services(), KindState::Complete);
    drop(held.recv().await.unwrap());
    source.services_become(KindState::Unavailable).await;
    // A pause before the next list is shown first.
    loop {
        let shown = source.coverage.of(Some(""), "Service", Scope::Cluster);
        assert_eq!(shown.state, KindState::Unavailable);
        if shown.cause() == "its list has not ended for a minute" {
            break;
        }
        source.next_coverage().await;
    }
}

#[tokio::test]
async fn a_kind_that_cannot_be_watched_again_is_not_heard_as_complete() {
    let (held_tx, mut held) = mpsc::unbounded_channel();
    let mut watches = 0;
    let api = Api::new(move |target| {
        if !target.starts_with("/api/v1/services?watch=1&") || target.contains("sendInitialEvents")
        {
            return is_front(target).then(front);
        }
        watches += 1;
        // Closed often enough to be reported, then silent for longer than a watch keeps its state.
        if watches <= 3 {
            return Some(Answer::Closed);
        }
        let (release, until) = blocking::channel();
        held_tx.send(release).unwrap();
        Some(Answer::Held(until, json!({})))
    });
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    let release = held.recv().await.unwrap();
    // Events from before the loss.
    while let Ok(event) = source.events.try_recv() {
        if let ClusterEvent::Coverage { coverage, .. } = event {
            source.coverage = coverage;
        }
    }
    while source.services() == KindState::Complete {
        match source.events.recv().await.unwrap() {
            ClusterEvent::Coverage { coverage, .. } => source.coverage = coverage,
            ClusterEvent::Heard { .. } => panic!("heard although Services are not watched"),
            _ => {}
        }
    }
    assert_eq!(source.services(), KindState::Unavailable);
    drop(release);
}
