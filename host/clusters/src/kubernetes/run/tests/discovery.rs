//! Discovery beside a session: API groups that do not answer, and Kinds that discovery omits.

use super::*;

fn refused(code: u16) -> Answer {
    Answer::Json(code, json!({"code": code, "message": "no"}))
}

fn kinds_of_core() -> Answer {
    let kind = |name: &str, kind: &str| {
        json!({"name": name, "kind": kind, "namespaced": true,
        "verbs": ["list", "watch"]})
    };
    let resources = [kind("services", "Service"), kind("pods", "Pod")];
    Answer::Json(200, json!({"resources": resources}))
}

#[tokio::test]
async fn a_session_goes_on_while_the_server_does_not_answer_discovery() {
    let (held_tx, mut held) = mpsc::unbounded_channel();
    let mut discoveries = 0;
    let api = Api::new(move |target| match target {
        "/apis" => {
            discoveries += 1;
            (discoveries > 1).then(|| {
                let (release, until) = blocking::channel();
                held_tx.send(release).unwrap();
                Answer::Held(until, json!({}))
            })
        }
        // Requests discovery.
        _ => target
            .starts_with("/apis/example.org/v1/widgets?limit")
            .then(|| refused(404)),
    });
    let mut source = Source::begin(&api, Needs::default());
    let release = held.recv().await.unwrap();
    for _ in 0..2 {
        source.heard().await;
    }
    drop(release);
}

#[tokio::test]
async fn a_group_that_does_not_answer_delays_no_other() {
    let (held_tx, held) = mpsc::unbounded_channel();
    let api = Api::new(move |target| match target {
        "/api" => Some(Answer::Json(200, json!({"versions": ["v1"]}))),
        "/api/v1" => Some(kinds_of_core()),
        "/apis" => {
            let version = json!({"version": "v1"});
            let group = |name: &str| {
                json!({"name": name, "versions": [version],
                "preferredVersion": version})
            };
            let groups = [group("silent.org"), group("missing.org")];
            Some(Answer::Json(200, json!({"groups": groups})))
        }
        "/apis/silent.org/v1" => {
            let (release, until) = blocking::channel();
            held_tx.send(release).unwrap();
            Some(Answer::Held(until, json!({})))
        }
        _ => (is_list_of_services(target) || is_part_of_services(target)).then(front),
    });
    let mut source = Source::begin(&api, Needs::default());
    let coverage = source.next_coverage().await;
    let of = |group| coverage.of(Some(group), "Thing", Scope::Cluster).state;
    assert_eq!(of("silent.org"), KindState::Unavailable);
    assert_eq!(of("missing.org"), KindState::NotRequested);
    assert_eq!(source.next().await, "front: front");
    drop(held);
}

#[tokio::test]
async fn a_kind_that_discovery_omits_keeps_its_watch() {
    let (asked_tx, mut asked) = mpsc::unbounded_channel();
    let mut discoveries = 0;
    let api = Api::new(move |target| match target {
        "/apis" => {
            discoveries += 1;
            asked_tx.send(discoveries).unwrap();
            (discoveries > 1).then(|| Answer::Json(200, json!({"items": []})))
        }
        // The watch is open; later requests are refused.
        _ if target.starts_with("/apis/example.org/v1/widgets?limit=1") => {
            (discoveries > 1).then(|| refused(404))
        }
        // Requests discovery.
        _ => target
            .starts_with("/api/v1/pods?limit")
            .then(|| refused(404)),
    });
    let mut source = Source::begin(&api, Needs::default());
    let complete = KindState::Complete;
    source.states_until("example.org", "Widget", complete).await;
    while asked.recv().await.unwrap() < 2 {}
    for _ in 0..3 {
        source.heard().await;
    }
    while let Ok(event) = source.events.try_recv() {
        if let ClusterEvent::Coverage { coverage, .. } = event {
            let found = coverage.of(Some("example.org"), "Widget", Scope::Cluster);
            assert_eq!(found.state, complete);
        }
    }
}
