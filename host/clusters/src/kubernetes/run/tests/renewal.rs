//! Sessions that the server ends with a 401, and the sessions that follow them.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::*;

fn refused() -> Answer {
    Answer::Json(401, json!({"code": 401, "message": "too late"}))
}

/// A server that refuses the credentials at each probe, as if they had just expired.
fn expiring(mut version: impl FnMut(usize) -> Option<Answer> + Send + 'static) -> Api {
    let mut versions = 0;
    Api::new(move |target| match target {
        "/readyz" => Some(refused()),
        "/version" => {
            versions += 1;
            version(versions)
        }
        _ => (is_list_of_services(target) || is_part_of_services(target)).then(front),
    })
}

#[tokio::test]
async fn a_session_that_is_renewed_in_time_leaves_no_gap() {
    // The connection and the session request the version once each.
    let api = expiring(|at| matches!(at, 3 | 4).then(refused));
    let mut source = Source::begin(&api, Needs::default());
    assert_eq!(source.next().await, "front: front");
    assert_eq!(source.next().await, "synced");
    assert_eq!(source.next().await, "synced");
}

#[tokio::test]
async fn a_server_that_accepts_and_refuses_in_turn_is_not_listed_without_a_pause() {
    let begun = Arc::new(Mutex::new(Vec::new()));
    let at = Arc::clone(&begun);
    let api = expiring(move |_| {
        at.lock().unwrap().push(Instant::now());
        None
    });
    let mut source = Source::begin(&api, Needs::default());
    for _ in 0..3 {
        while source.next().await != "synced" {}
    }
    let begun = begun.lock().unwrap();
    let sessions: Vec<Instant> = begun.iter().step_by(2).copied().collect();
    let (first, third) = (sessions[0], sessions[2]);
    let pauses = Duration::from_millis(200 + 400);
    // Each session ends at its first probe.
    let probes = 2 * Duration::from_secs(2);
    assert!(third - first >= pauses + probes, "{:?}", third - first);
}
