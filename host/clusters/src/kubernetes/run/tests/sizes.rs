//! Pages and events that are too large.

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
        let mut watches = 0;
        let (watched_tx, mut watched) = mpsc::unbounded_channel();
        let api = Api::new(move |target| {
            let is_watch = target.starts_with("/api/v1/services?watch=1&");
            if is_watch && !target.contains("sendInitialEvents") {
                watches += 1;
                watched_tx.send(watches).unwrap();
                return Some(Answer::Lines(lines.clone()));
            }
            if is_part_of_services(target) {
                let both = list(&[service("back"), service("front")]);
                return Some(Answer::Json(200, both));
            }
            is_list_of_services(target).then(front)
        });
        let mut source = Source::begin(&api, Needs::default());
        let (mut has_back, mut state) = (false, KindState::Listing);
        while !has_back || state != KindState::Incomplete {
            match source.events.recv().await.unwrap() {
                ClusterEvent::Reports { reports, .. } => {
                    has_back = reports
                        .iter()
                        .any(|report| text_of(report).contains("back"));
                }
                ClusterEvent::Coverage { coverage, .. } => {
                    state = coverage.of(Some(""), "Service", Scope::Cluster).state;
                }
                _ => {}
            }
        }
        source.heard().await;
        let mut opened = 0;
        while let Ok(watch) = watched.try_recv() {
            opened = watch;
        }
        // Once with metadata, and once with complete objects.
        assert!(opened <= 2, "the watch was opened {opened} times");
    }
}
