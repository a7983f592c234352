//! Clusters that wait until fewer clusters list at the same time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::*;
use crate::ListTurns;
use crate::kubernetes::turn::ListTurn;

/// Lets other clusters list until the value is dropped.
fn take_all(turns: &ListTurns) -> Vec<ListTurn> {
    let mut taken = Vec::new();
    while let Some(turn) = turns.of_cluster().try_list() {
        taken.push(turn);
    }
    taken
}

/// Needs with these turns.
fn with_turns(turns: &ListTurns) -> Needs {
    Needs {
        turns: turns.clone(),
        ..Needs::default()
    }
}

/// Number of watches of a Kind before this request for one; `None` for another request and for a streamed list.
fn number_of_watch(target: &str, plural: &str, watches: &AtomicUsize) -> Option<usize> {
    let is_watch = target.starts_with(&format!("/api/v1/{plural}?watch=1&"));
    let is_opened = is_watch && !target.contains("sendInitialEvents");
    is_opened.then(|| watches.fetch_add(1, Ordering::Relaxed))
}

#[tokio::test]
async fn a_kind_whose_list_waits_is_unavailable_and_a_watch_that_resumes_does_not_wait() {
    let (services, pods) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let lists = Arc::new(AtomicUsize::new(0));
    let (held_tx, mut held) = mpsc::unbounded_channel();
    let counted = (Arc::clone(&services), Arc::clone(&pods), Arc::clone(&lists));
    let api = Api::new(move |target| {
        let (services, pods, lists) = &counted;
        let number = number_of_watch(target, "services", services);
        if number == Some(1) {
            let error = json!({"type": "ERROR", "object": {"code": 410, "message": "too old"}});
            return Some(Answer::Lines(vec![error.to_string()]));
        }
        if number.or(number_of_watch(target, "pods", pods)) == Some(0) {
            let (release, until) = blocking::channel();
            held_tx.send(release).unwrap();
            return Some(Answer::Held(until, json!({})));
        }
        lists.fetch_add(usize::from(is_list_of_services(target)), Ordering::Relaxed);
        (is_list_of_services(target) || is_part_of_services(target)).then(front)
    });
    let turns = ListTurns::default();
    let mut source = Source::begin(&api, with_turns(&turns));
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    let first_watches = (held.recv().await.unwrap(), held.recv().await.unwrap());
    let listed = lists.load(Ordering::Relaxed);
    let taken = take_all(&turns);
    assert!(!taken.is_empty());
    drop(first_watches);
    source.services_become(KindState::Unavailable).await;
    let shown = source.coverage.of(Some(""), "Service", Scope::Cluster);
    let why = "it is listed again once fewer clusters are listed at the same time";
    assert_eq!(shown.cause(), why);
    while pods.load(Ordering::Relaxed) < 2 {
        source.heard().await;
    }
    assert_eq!(lists.load(Ordering::Relaxed), listed, "it waits");
    drop(taken);
    source.services_become(KindState::Complete).await;
    assert_eq!(lists.load(Ordering::Relaxed), listed + 1);
}

#[tokio::test]
async fn a_cluster_whose_next_session_waits_becomes_stale() {
    let is_refused = Arc::new(AtomicBool::new(false));
    let refused = Arc::clone(&is_refused);
    let api = Api::new(move |target| {
        if target == "/readyz" && refused.load(Ordering::Relaxed) {
            let answer = json!({"code": 401, "message": "too late"});
            return Some(Answer::Json(401, answer));
        }
        (is_list_of_services(target) || is_part_of_services(target)).then(front)
    });
    let turns = ListTurns::default();
    let mut source = Source::begin(&api, with_turns(&turns));
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    let taken = take_all(&turns);
    is_refused.store(true, Ordering::Relaxed);
    let why = "stale: the credentials are not accepted: too late";
    assert_eq!(source.next().await, why);
    is_refused.store(false, Ordering::Relaxed);
    drop(taken);
    assert_eq!(source.next().await, "synced");
}

#[tokio::test]
async fn a_cluster_whose_changed_configuration_waits_becomes_stale() {
    let api =
        Api::new(|target| (is_list_of_services(target) || is_part_of_services(target)).then(front));
    let turns = ListTurns::default();
    let mut source = Source::begin(&api, with_turns(&turns));
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    let taken = take_all(&turns);
    source.configure(WatchOptions::default());
    assert_eq!(source.next().await, "stale: the next session has not begun");
    drop(taken);
    assert_eq!(source.next().await, "synced");
}

#[tokio::test]
async fn a_cluster_that_hangs_does_not_stop_the_others() {
    let (held_tx, held) = mpsc::unbounded_channel();
    let hanging = Api::new(move |target| {
        is_list_of_services(target).then(|| {
            let (release, until) = blocking::channel();
            held_tx.send(release).unwrap();
            Answer::Held(until, json!({}))
        })
    });
    let api =
        Api::new(|target| (is_list_of_services(target) || is_part_of_services(target)).then(front));
    let turns = ListTurns::default();
    // The hanging cluster gets the only turn that is left.
    let mut taken = take_all(&turns);
    taken.pop();
    let first = Source::begin(&hanging, with_turns(&turns));
    while turns.of_cluster().try_list().is_some() {
        tokio::task::yield_now().await;
    }
    let mut second = Source::begin(&api, with_turns(&turns));
    assert_eq!(second.next().await, "front: front");
    assert_eq!(second.next().await, "synced");
    drop((first, held, taken));
}
