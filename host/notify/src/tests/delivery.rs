//! Deliveries across stops, kills and failures.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use kindsight_model::Phase;

use super::receiver::{HttpReceiver, Received, Reply};
use super::stage::{Stage, settings};

/// Number of kills.
const KILLS: usize = 12;
/// Longest time between a start and a kill.
const LIFE_MAX: Duration = Duration::from_millis(700);
/// Clusters whose connections change.
const CLUSTERS: usize = 10;

fn id(request: &Received) -> String {
    request.json()["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_while_no_server_runs_is_sent_at_the_next_start() {
    let mut stage = Stage::new();
    stage.application(Some(Phase::Ready));
    stage.connection("edge01", true);
    let receiver = HttpReceiver::start(|_| Reply::status(200));
    let running = stage.run(vec![settings("ops", &receiver)]);
    running.until_scoped().await;
    running.stop().await;
    stage.application(None);
    stage.connection("edge01", false);
    let running = stage.run(vec![settings("ops", &receiver)]);
    let events = receiver.wait_for(2).await;
    running.stop().await;
    let mut changes: Vec<(String, String)> = events
        .iter()
        .map(|request| {
            let event = request.json();
            let to = event["data"]["to"]["state"].as_str().unwrap_or("gone");
            (event["subject"].as_str().unwrap().to_owned(), to.to_owned())
        })
        .collect();
    changes.sort();
    let expected = [
        ("applications/-/shop/-/web", "gone"),
        ("clusters/p+edge01", "Stale"),
    ];
    assert_eq!(
        changes,
        expected.map(|(subject, to)| (subject.to_owned(), to.to_owned()))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_was_not_accepted_is_repeated_with_its_id_after_a_kill() {
    let mut stage = Stage::new();
    stage.connection("edge01", true);
    let accepts = Arc::new(AtomicBool::new(false));
    let is_open = Arc::clone(&accepts);
    let receiver = HttpReceiver::start(move |_| {
        Reply::status(if is_open.load(Ordering::SeqCst) {
            200
        } else {
            503
        })
    });
    let running = stage.run(vec![settings("ops", &receiver)]);
    running.until_scoped().await;
    stage.connection("edge01", false);
    receiver.wait_for(1).await;
    running.kill().await;
    accepts.store(true, Ordering::SeqCst);
    // The state was never notified, and changes back while no server runs.
    stage.connection("edge01", true);
    let running = stage.run(vec![settings("ops", &receiver)]);
    receiver.wait_for(2).await;
    let done = running
        .until(|it| it.delivered >= 2 && it.waiting == 0)
        .await;
    running.stop().await;
    assert_eq!(done.error, None);
    let received = receiver.received();
    let last = &received[received.len() - 2..];
    assert_eq!(id(&received[0]), id(&last[0]));
    assert_ne!(id(&last[0]), id(&last[1]));
    assert_eq!(last[1].json()["data"]["from"]["state"], "Stale");
    assert_eq!(last[1].json()["data"]["to"]["state"], "Connected");
}

/// The changes of a receiver that ignores repeated ids: the state of each subject after each event.
fn effects(requests: &[Received]) -> BTreeMap<String, Vec<(String, String, String)>> {
    let mut seen = BTreeSet::new();
    let mut effects: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for request in requests {
        let event = request.json();
        if !seen.insert(id(request)) {
            continue;
        }
        let text = |of: &serde_json::Value| of.as_str().unwrap_or("-").to_owned();
        let data = &event["data"];
        let changes = effects.entry(text(&event["subject"])).or_default();
        changes.push((
            text(&event["sequence"]),
            text(&data["from"]["state"]),
            text(&data["to"]["state"]),
        ));
    }
    effects
}

#[tokio::test(flavor = "multi_thread")]
async fn no_event_is_lost_or_takes_effect_twice_when_the_server_is_killed() {
    let mut stage = Stage::new();
    for number in 0..CLUSTERS {
        stage.connection(&format!("c{number}"), true);
    }
    let count = Arc::new(AtomicUsize::new(0));
    let is_faulty = Arc::new(AtomicBool::new(true));
    let (counted, faulty) = (Arc::clone(&count), Arc::clone(&is_faulty));
    // Two of seven requests fail, some of them after they took effect.
    let receiver = HttpReceiver::start(move |_| {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        match number % 7 {
            _ if !faulty.load(Ordering::SeqCst) => Reply::status(200),
            2 => Reply::bytes(""),
            4 => Reply::with(429, "Retry-After: 0\r\n", ""),
            _ => Reply::status(200).after(Duration::from_millis(3)),
        }
    });
    let running = stage.run(vec![settings("ops", &receiver)]);
    running.until_scoped().await;
    running.kill().await;
    let mut is_connected = true;
    for kill in 0..KILLS {
        let running = stage.run(vec![settings("ops", &receiver)]);
        is_connected = !is_connected;
        for number in 0..CLUSTERS {
            stage.connection(&format!("c{number}"), is_connected);
        }
        // Each kill comes after another number of requests: before, during and after the deliveries. There are none if
        // the server before did not observe its change.
        let expected = count.load(Ordering::SeqCst) + kill % 4 * 5;
        let requests = receiver.wait_for(expected);
        let _ = tokio::time::timeout(LIFE_MAX, requests).await;
        running.kill().await;
    }
    is_faulty.store(false, Ordering::SeqCst);
    let running = stage.run(vec![settings("ops", &receiver)]);
    stage.connection("last", true);
    let is_last = |request: &Received| {
        let text = String::from_utf8_lossy(&request.body).into_owned();
        text.contains("p+last")
    };
    while !receiver.received().iter().any(is_last) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    running.until(|it| it.waiting == 0).await;
    running.stop().await;
    let effects = effects(&receiver.received());
    let expected = if is_connected { "Connected" } else { "Stale" };
    for (subject, changes) in &effects {
        if subject == "clusters/p+last" {
            continue;
        }
        let mut was = "Connected".to_owned();
        for pair in changes.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{subject}: {changes:?}");
        }
        for (_, from, to) in changes {
            assert_eq!(*from, was, "{subject}: {changes:?}");
            was.clone_from(to);
        }
        assert_eq!(was, expected, "{subject}: {changes:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_event_becomes_a_dead_letter_and_the_next_one_is_sent() {
    let mut stage = Stage::new();
    for cluster in ["bad", "good"] {
        stage.connection(cluster, true);
    }
    let receiver = HttpReceiver::start(|request| {
        let is_bad = request.json()["subject"] == "clusters/p+bad";
        if is_bad {
            Reply::with(422, "", "no such \u{1b}[31m cluster")
        } else {
            Reply::status(202)
        }
    });
    let running = stage.run(vec![settings("ops", &receiver)]);
    running.until_scoped().await;
    stage.connection("bad", false);
    receiver.wait_for(1).await;
    stage.connection("good", false);
    let answer = running
        .until(|it| it.delivered == 1 && !it.dead_letters.is_empty() && it.waiting == 0)
        .await;
    let [letter] = answer.dead_letters.as_slice() else {
        panic!("{answer:#?}");
    };
    assert_eq!(letter.subject, "clusters/p+bad");
    assert_eq!(letter.phase, Some(Phase::Unknown));
    assert_eq!(
        letter.error,
        "the receiver answered 422: no such  [31m cluster"
    );
    running.kill().await;
    let running = stage.run(vec![settings("ops", &receiver)]);
    assert_eq!(running.receivers()[0].dead_letters, answer.dead_letters);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_event_shows_the_answer_of_the_receiver() {
    let stage = Stage::new();
    let open = HttpReceiver::start(|_| Reply::status(200));
    let closed = HttpReceiver::start(|_| Reply::with(403, "", "no"));
    let running = stage.run(vec![settings("closed", &closed), settings("open", &open)]);
    let notifications = running.notifications.clone();
    let tests = tokio::task::spawn_blocking(move || {
        ["open", "closed", "other"].map(|name| notifications.test(name))
    });
    let [opened, refused, unknown] = tests.await.unwrap();
    running.stop().await;
    let opened = opened.unwrap();
    assert!(opened.delivered && opened.status == Some(200));
    let refused = refused.unwrap();
    assert_eq!(
        refused.error.as_deref(),
        Some("the receiver answered 403: no")
    );
    assert!(!refused.delivered);
    let why = format!("{:?}", unknown.unwrap_err());
    assert!(why.contains("`closed`, `open`"), "{why}");
}
