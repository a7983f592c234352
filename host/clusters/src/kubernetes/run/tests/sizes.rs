//! Pages and events that are too large.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

fn service(name: &str) -> Value {
    object(name, &json!({"app.kubernetes.io/instance": "shop"}))
}

#[tokio::test]
async fn a_page_that_is_too_large_is_requested_again_with_a_tenth_of_its_objects() {
    let (asked_tx, mut asked) = mpsc::unbounded_channel();
    let api = Api::new(move |target| {
        if !is_list_of_services(target) {
            return is_part_of_services(target).then(front);
        }
        let limit = target.split(['=', '&']).nth(1).unwrap();
        asked_tx.send(limit.to_owned()).unwrap();
        let mut front = service("front");
        if limit != "5" {
            front["metadata"]["annotations"] = json!({"large": "x".repeat(300_000)});
        }
        Some(Answer::Json(200, list(&[front])))
    });
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    let limits = [asked.recv().await, asked.recv().await, asked.recv().await];
    assert_eq!(limits.map(Option::unwrap), ["500", "50", "5"]);
}

#[tokio::test]
async fn a_watch_continues_after_an_event_that_cannot_be_decoded() {
    let large = json!({"type": "ADDED", "object": {"metadata": {"name": "x".repeat(20_000)}}});
    let unknown = json!({"type": "TURNED", "object": {}});
    for undecodable in [large, unknown] {
        let added = json!({"type": "ADDED", "object": service("back")});
        let lines = vec![undecodable.to_string(), added.to_string()];
        let opened = Arc::new(AtomicUsize::new(0));
        let watches = Arc::clone(&opened);
        let api = Api::new(move |target| {
            let is_watch = target.starts_with("/api/v1/services?watch=1&");
            // The watch begins with metadata, and continues with complete objects.
            if is_watch
                && !target.contains("sendInitialEvents")
                && watches.fetch_add(1, Ordering::SeqCst) < 2
            {
                return Some(Answer::Lines(lines.clone()));
            }
            if is_part_of_services(target) {
                let both = list(&[service("back"), service("front")]);
                return Some(Answer::Json(200, both));
            }
            is_list_of_services(target).then(front)
        });
        let mut source = Source::begin(&api, Needs::default());
        let (mut has_back, mut states) = (false, Vec::new());
        while !has_back || states != [KindState::Unavailable, KindState::Complete] {
            match source.events.recv().await.unwrap() {
                ClusterEvent::Reports { reports, .. } => {
                    has_back |= reports
                        .iter()
                        .any(|report| text_of(report).contains("back"));
                }
                ClusterEvent::Coverage { coverage, .. } => {
                    let found = coverage.of(Some(""), "Service", Scope::Cluster);
                    // Before the event, and then until its Kind is listed again.
                    let is_first = states.is_empty() && found.state != KindState::Unavailable;
                    if !is_first && states.last() != Some(&found.state) {
                        states.push(found.state);
                    }
                }
                _ => {}
            }
        }
        source.heard().await;
        let opened = opened.load(Ordering::SeqCst);
        assert!(opened <= 4, "the watch was opened {opened} times");
    }
}
