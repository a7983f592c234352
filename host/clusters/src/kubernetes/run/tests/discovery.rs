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

/// A server with these Widgets, whose discovery omits their Kind after the first time. Each discovery is sent to
/// `asked`.
fn omitting(widgets: Vec<Value>, asked: mpsc::UnboundedSender<usize>) -> Api {
    let mut discoveries = 0;
    Api::new(move |target| match target {
        "/apis" => {
            discoveries += 1;
            // The test may have ended.
            let _ = asked.send(discoveries);
            (discoveries > 1).then(|| Answer::Json(200, json!({"items": []})))
        }
        // The watch is open; later requests are refused.
        _ if target.starts_with("/apis/example.org/v1/widgets?limit") => Some(if discoveries > 1 {
            refused(404)
        } else {
            Answer::Json(200, list(&widgets))
        }),
        // Requests discovery.
        _ if target.starts_with("/api/v1/pods?limit") => Some(refused(404)),
        _ => (is_list_of_services(target) || is_part_of_services(target)).then(front),
    })
}

/// The state of Widgets in a coverage.
fn widgets(coverage: &Coverage) -> KindState {
    coverage
        .of(Some("example.org"), "Widget", Scope::Cluster)
        .state
}

#[tokio::test]
async fn a_kind_with_objects_that_discovery_omits_keeps_its_watch() {
    let (asked_tx, mut asked) = mpsc::unbounded_channel();
    let api = omitting(vec![object("gear", &json!({}))], asked_tx);
    let mut source = Source::begin(&api, Needs::default());
    let complete = KindState::Complete;
    source.states_until("example.org", "Widget", complete).await;
    while asked.recv().await.unwrap() < 2 {}
    let mut heard = 0;
    while heard < 3 {
        match source.events.recv().await.unwrap() {
            ClusterEvent::Heard { .. } => heard += 1,
            ClusterEvent::Coverage { coverage, .. } => assert_eq!(widgets(&coverage), complete),
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_kind_without_objects_that_discovery_omits_is_not_searched_any_more() {
    let (asked_tx, _asked) = mpsc::unbounded_channel();
    let api = omitting(Vec::new(), asked_tx);
    let mut source = Source::begin(&api, needs_of("example.org", "Widget"));
    let (complete, not_requested) = (KindState::Complete, KindState::NotRequested);
    let mut state = KindState::Listing;
    let mut found = Vec::new();
    let mut is_heard = false;
    while !is_heard {
        match source.events.recv().await.unwrap() {
            ClusterEvent::Coverage { coverage, .. } => state = widgets(&coverage),
            ClusterEvent::Reports { reports, .. } => {
                let related = reports.iter().map(|it| widgets(&it.1.related_coverage));
                found.extend(related);
            }
            ClusterEvent::Heard { .. } => is_heard = state == not_requested,
            _ => {}
        }
    }
    assert!(found.contains(&complete), "{found:?}");
    assert_ne!(found.last(), Some(&complete), "{found:?}");
}
