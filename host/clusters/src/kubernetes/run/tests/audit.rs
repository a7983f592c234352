//! The audit by samples.

use std::sync::Mutex;
use std::time::Duration;

use kindsight_model::AuditCounts;

use super::*;
use crate::Audits;

/// The state of the server, and the lines that its watch of Services sends next.
struct State {
    version: &'static str,
    services: Vec<Value>,
    lines: Vec<String>,
    /// The answer to lists of Services in place of the objects.
    refusal: Option<Value>,
    /// Targets of the lists of Services.
    lists: Vec<String>,
}

fn service(name: &str, version: &str) -> Value {
    let mut service = object(name, &json!({"app.kubernetes.io/instance": "shop"}));
    service["metadata"]["resourceVersion"] = json!(version);
    service
}

fn bookmark(version: &str) -> String {
    let object = json!({"metadata": {"resourceVersion": version}});
    json!({"type": "BOOKMARK", "object": object}).to_string()
}

/// A server with these Services, and its state.
fn server(services: Vec<Value>) -> (Api, Arc<Mutex<State>>) {
    let state = Arc::new(Mutex::new(State {
        version: "9",
        services,
        lines: Vec::new(),
        refusal: None,
        lists: Vec::new(),
    }));
    let shared = Arc::clone(&state);
    let api = Api::new(move |target| {
        let mut state = shared.lock().unwrap();
        let is_watch = target.starts_with("/api/v1/services?watch=1&");
        if is_watch && !target.contains("sendInitialEvents") {
            return (!state.lines.is_empty()).then(|| Answer::Lines(state.lines.clone()));
        }
        if !is_list_of_services(target) && !is_part_of_services(target) {
            return None;
        }
        state.lists.push(target.to_owned());
        if let Some(refusal) = &state.refusal {
            return Some(Answer::Json(429, refusal.clone()));
        }
        let named = |service: &&Value| {
            let selector = format!(
                "metadata.name%3D{}",
                service["metadata"]["name"].as_str().unwrap()
            );
            !target.contains("fieldSelector") || target.contains(&selector)
        };
        let found: Vec<Value> = state.services.iter().filter(named).cloned().collect();
        let mut list = list(&found);
        list["metadata"]["resourceVersion"] = json!(state.version);
        Some(Answer::Json(200, list))
    });
    (api, state)
}

fn source(api: &Api) -> Source {
    let needs = Needs {
        audits: Audits::every(Duration::from_millis(20)),
        ..Needs::default()
    };
    Source::begin_as(api, needs, |cluster| {
        cluster.with_options(WatchOptions {
            // The watch is resumed a second after its end.
            watch_lifetime: Duration::from_secs(1),
            ..WatchOptions::default()
        })
    })
}

/// Waits until the counts meet a condition. Returns the counts and the reports until then.
async fn counts_until(
    source: &mut Source,
    is_so: impl Fn(&AuditCounts) -> bool,
) -> (AuditCounts, Vec<String>) {
    let mut reported = Vec::new();
    loop {
        match source.events.recv().await.unwrap() {
            ClusterEvent::Facts { facts, .. } if is_so(&facts.audit) => {
                return (facts.audit, reported);
            }
            ClusterEvent::Reports { reports, .. } => reported.extend(reports.iter().map(text_of)),
            ClusterEvent::Stale { reason, .. } => panic!("{reason}"),
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_drift_is_counted_once_and_repaired_by_a_list() {
    let (api, state) = server(vec![service("front", "5"), service("old", "6")]);
    let mut source = source(&api);
    assert_eq!(source.next().await, "front: front, old: old");
    let (counts, _) = counts_until(&mut source, |counts| counts.same > 2).await;
    assert_eq!((counts.drifted, counts.drifts), (0, 0));
    // The watch has seen this version, without the events before it.
    {
        let mut state = state.lock().unwrap();
        state.version = "15";
        state.services = vec![service("front", "12"), service("new", "13")];
        state.lines = vec![bookmark("15")];
    }
    let (counts, mut reported) = counts_until(&mut source, |counts| counts.drifted > 0).await;
    assert_eq!((counts.drifted, counts.drifts), (1, 3));
    let after = counts.same + 5;
    let (counts, later) = counts_until(&mut source, |counts| counts.same > after).await;
    assert_eq!(counts.drifts, 3, "it is repaired");
    reported.extend(later);
    reported.sort();
    assert_eq!(reported, ["front: front", "new: new", "old:  Deleted: old"]);
}

#[tokio::test]
async fn events_in_flight_are_no_drift() {
    let (api, state) = server(vec![service("front", "5")]);
    let mut source = source(&api);
    assert_eq!(source.next().await, "front: front");
    {
        let mut state = state.lock().unwrap();
        state.version = "15";
        state.services = vec![service("front", "12")];
    }
    // The watch is silent.
    sleep(Duration::from_millis(500)).await;
    let modified = json!({"type": "MODIFIED", "object": service("front", "12")});
    state.lock().unwrap().lines = vec![modified.to_string(), bookmark("15")];
    let (_, reported) = counts_until(&mut source, |counts| counts.same > 0).await;
    let known = reported.len();
    let (counts, _) = counts_until(&mut source, |counts| counts.same > 5).await;
    assert_eq!((counts.drifted, counts.inconclusive), (0, 0));
    assert!(known <= 1, "{reported:?}");
}

#[tokio::test]
async fn a_server_that_is_busy_gets_fewer_requests_and_is_not_stale() {
    let (api, state) = server(vec![service("front", "5")]);
    let mut source = source(&api);
    assert_eq!(source.next().await, "front: front");
    let lists = {
        let mut state = state.lock().unwrap();
        let details = json!({"retryAfterSeconds": 1});
        state.refusal = Some(json!({"code": 429, "message": "busy", "details": details}));
        state.lists.len()
    };
    let (counts, _) = counts_until(&mut source, |counts| counts.inconclusive > 1).await;
    assert_eq!(counts.drifts, 0);
    assert!(state.lock().unwrap().lists.len() <= lists + 4);
}

#[tokio::test]
async fn a_kind_is_sampled_in_pages_and_expired_lists_are_continued() {
    let (asked_tx, asked) = blocking::channel();
    let shop = json!({"app.kubernetes.io/instance": "shop"});
    let page = move |names: &[&str], next: Option<&str>| {
        let objects: Vec<Value> = names.iter().map(|name| object(name, &shop)).collect();
        let mut list = list(&objects);
        list["metadata"]["continue"] = json!(next);
        Answer::Json(200, list)
    };
    let mut has_begun = false;
    let api = Api::new(move |target| {
        if !is_list_of_services(target) {
            return is_part_of_services(target).then(|| page(&["a", "b"], None));
        }
        if has_begun {
            asked_tx.send(target.to_owned()).unwrap();
        }
        let (_, token) = target.split_once("&continue=").unwrap_or_default();
        has_begun |= token == "begun";
        Some(match token {
            "" => page(&["a"], Some(if has_begun { "old" } else { "begun" })),
            "old" => {
                let metadata = json!({"continue": "fresh"});
                let status = json!({"code": 410, "message": "expired", "metadata": metadata});
                Answer::Json(410, status)
            }
            _ => page(&["b"], None),
        })
    });
    let mut source = source(&api);
    assert_eq!(source.next().await, "a: a, b: b");
    let (counts, _) = counts_until(&mut source, |counts| counts.objects > 6).await;
    assert_eq!((counts.drifts, counts.inconclusive), (0, 0));
    let asked: Vec<String> = asked.try_iter().take(3).collect();
    let tokens = asked
        .iter()
        .map(|target| target.split_once("&continue=").map(|it| it.1));
    assert_eq!(
        tokens.collect::<Vec<_>>(),
        [None, Some("old"), Some("fresh")]
    );
}
