//! Every limit is reached once.

use std::time::Duration;

use super::connections::{ask, serve_to};
use super::*;
use crate::{PEERS_MAX, REPLICAS_MAX};

pub(super) const NEVER: &str = r#"{"kind":"Never"}"#;

async fn post_to(limits: Limits, body: &str) -> Answered {
    send(
        router(state(limits)),
        "POST",
        "/v2/interpret",
        body.to_owned(),
    )
    .await
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let limits = Limits {
        interpret_bytes_max: 10,
        ..Limits::default()
    };
    assert_eq!(post_to(limits, "[        ]").await.status, StatusCode::OK);
    post_to(limits, "[         ]")
        .await
        .problem(StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn too_many_objects_are_refused() {
    let limits = Limits {
        interpret_objects_max: 2,
        ..Limits::default()
    };
    assert_eq!(post_to(limits, "[1,2]").await.status, StatusCode::OK);
    let detail = post_to(limits, "[1,2,3]")
        .await
        .problem(StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(
        detail,
        "3 objects are more than the 2 that are judged at a time"
    );
}

#[tokio::test]
async fn a_uri_that_is_too_long_is_refused() {
    let limits = Limits {
        uri_bytes_max: 8,
        ..Limits::default()
    };
    let get = |uri| send(router(state(limits)), "GET", uri, Body::empty());
    assert_eq!(get("/healthz").await.status, StatusCode::OK);
    get("/healthz?").await.problem(StatusCode::URI_TOO_LONG);
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_ended() {
    let limits = Limits {
        request_time_max: Duration::from_millis(5),
        ..Limits::default()
    };
    let detail = post_to(limits, NEVER)
        .await
        .problem(StatusCode::REQUEST_TIMEOUT);
    assert_eq!(detail, "the request took longer than 5ms");
}

/// Sends a request that is never answered. While the server works on it, sends another request, and returns its answer.
async fn second_request(limits: Limits, method: &str, uri: &str) -> Answered {
    second_of(limits, ("/v2/interpret", NEVER), method, uri).await
}

async fn second_of(
    limits: Limits,
    (never, body): (&str, &'static str),
    method: &str,
    uri: &str,
) -> Answered {
    let router = router(state(limits));
    let first = send(router.clone(), "POST", never, body);
    tokio::select! {
        biased;
        answer = first => answer,
        answer = send(router, method, uri, "[]") => answer,
    }
}

#[tokio::test]
async fn requests_over_the_limit_get_a_retry_after() {
    let limits = Limits {
        requests_max: 1,
        ..Limits::default()
    };
    let answer = second_request(limits, "GET", STATUS).await;
    answer.problem(StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(answer.header(header::RETRY_AFTER), "1");
    let health = second_request(limits, "GET", "/healthz").await;
    assert_eq!(health.status, StatusCode::OK);
}

#[tokio::test]
async fn only_so_many_bodies_are_held_at_a_time() {
    let limits = Limits {
        interpret_requests_max: 1,
        ..Limits::default()
    };
    let answer = second_request(limits, "POST", "/v2/interpret").await;
    answer.problem(StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(
        second_request(limits, "GET", STATUS).await.status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn a_component_that_is_too_large_is_refused() {
    let limits = Limits {
        component_bytes_max: 10,
        catalog_json_bytes_max: 2,
        ..Limits::default()
    };
    let put = |uri, body: &'static str| send(router(state(limits)), "PUT", uri, body);
    let loaded = put("/v2/interpreters/apps", "0123456789").await;
    assert_eq!(loaded.status, StatusCode::OK);
    let detail = put("/v2/interpreters/apps", "0123456789a")
        .await
        .problem(StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(
        detail,
        "the body is larger than 10 bytes: `kindsight serve --component-bytes-max` raises it"
    );
    let catalog = Arc::new(SampleCatalog::default());
    let recording = AppState {
        catalog: Arc::clone(&catalog) as _,
        ..state(limits)
    };
    let app = router(recording);
    for path in [
        "/v2/interpreters/apps",
        "/v2/interpreters/apps?candidate=true",
    ] {
        send(app.clone(), "PUT", path, "0123456789a").await;
    }
    let unnamed = "/v2/interpreters?candidate=true";
    send(app.clone(), "POST", unnamed, "0123456789a").await;
    // The body of a command with JSON is no component.
    send(app, "POST", "/v2/interpreters/apps/promote", "[1, 2, 3]").await;
    let noted = ["apps", "apps", ""].map(|name| (name.to_owned(), 10));
    assert_eq!(catalog.too_large(), noted);
}

#[tokio::test]
async fn a_component_that_is_said_to_be_too_large_is_not_asked_for() {
    let limits = Limits {
        component_bytes_max: 10,
        ..Limits::default()
    };
    let head = "PUT /v2/interpreters/apps HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Type: application/wasm\r\nContent-Length: 11\r\n\r\n";
    let (answer, _) = serve_to(limits, |address| ask(address, head)).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("larger than 10 bytes"), "{answer}");
}

#[tokio::test]
async fn an_empty_body_in_chunks_needs_no_type() {
    let status = async |framing: &str| {
        let head = "POST /v2/interpreters/apps/promote HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
        let request = format!("{head}{framing}");
        let (answer, _) = serve_to(Limits::default(), move |address| ask(address, &request)).await;
        answer.lines().next().unwrap_or_default().to_owned()
    };
    let without = status("Content-Length: 0\r\n\r\n").await;
    let chunked = "Transfer-Encoding: chunked\r\n\r\n";
    assert_eq!(status(&format!("{chunked}0\r\n\r\n")).await, without);
    assert!(!without.contains(" 415 "), "{without}");
    let filled = status(&format!("{chunked}2\r\n{{}}\r\n0\r\n\r\n")).await;
    assert!(filled.contains(" 415 "), "{filled}");
}

/// Many clients read the answer only after they have sent the complete body.
#[tokio::test]
async fn the_sender_of_a_body_that_is_too_large_reads_the_error() {
    const BYTES: usize = 20 << 20;
    for (media_type, status, why) in [
        ("application/json", 413, "larger than"),
        ("text/plain", 415, "has to be"),
    ] {
        let head = format!(
            "POST /v2/interpret HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {media_type}\r\nContent-Length: {BYTES}\r\n\r\n"
        );
        let request = head + &" ".repeat(BYTES);
        let (answer, _) = serve_to(Limits::default(), move |address| ask(address, &request)).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{answer}"
        );
        assert!(answer.contains(why), "{answer}");
    }
}

#[tokio::test]
async fn settings_that_are_too_large_are_refused() {
    let limits = Limits {
        catalog_json_bytes_max: 2,
        ..Limits::default()
    };
    let ask = |method, uri, body: &'static str| send(router(state(limits)), method, uri, body);
    let settings = "/v2/interpreters/apps/settings";
    assert_eq!(ask("PUT", settings, "{}").await.status, StatusCode::OK);
    let promote = "/v2/interpreters/apps/promote";
    for (method, uri) in [("PUT", settings), ("POST", promote)] {
        let detail = ask(method, uri, "{ }")
            .await
            .problem(StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(detail, "the body is larger than 2 bytes");
    }
}

#[tokio::test]
async fn a_command_has_a_longer_time_than_a_query() {
    let limits = Limits {
        request_time_max: Duration::from_millis(5),
        catalog_time_max: Duration::from_millis(50),
        ..Limits::default()
    };
    let begun = std::time::Instant::now();
    let never = "/v2/interpreters/never/rollback";
    let answer = send(router(state(limits)), "POST", never, Body::empty()).await;
    let detail = answer.problem(StatusCode::REQUEST_TIMEOUT);
    assert_eq!(
        detail,
        "the request took longer than 50ms; the command may still take effect: query the interpreter"
    );
    assert!(begun.elapsed() >= limits.catalog_time_max);
}

#[test]
fn an_idle_connection_outlives_the_longest_request() {
    let limits = Limits::default();
    assert!(limits.idle_max > limits.catalog_time_max.max(limits.request_time_max));
}

#[tokio::test]
async fn only_so_many_commands_are_worked_on_at_a_time() {
    let limits = Limits {
        quick_commands_max: 1,
        shadow_requests_max: 1,
        ..Limits::default()
    };
    let never = ("/v2/interpreters/never/rollback", "");
    for uri in ["rollback", "disable", "promote"] {
        let uri = format!("/v2/interpreters/apps/{uri}");
        let request = Request::post(uri).body(Body::empty()).unwrap();
        let router = router(state(limits));
        let first = send(router.clone(), "POST", never.0, never.1);
        let second = tokio::select! {
            biased;
            answer = first => answer,
            answer = answered(router, request) => answer,
        };
        second.problem(StatusCode::SERVICE_UNAVAILABLE);
    }
    let shadow = ("/v2/interpreters/never/shadow", "");
    let router = router(state(limits));
    let first = send(router.clone(), "POST", shadow.0, shadow.1);
    let second = tokio::select! {
        biased;
        answer = first => answer,
        answer = send(router, "POST", "/v2/interpreters/apps/shadow", "") => answer,
    };
    second.problem(StatusCode::SERVICE_UNAVAILABLE);
    for uri in [STATUS, "/v2/interpreters", "/v2/interpreters/apps"] {
        let answer = second_of(limits, never, "GET", uri).await;
        assert_eq!(answer.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn replicas_take_no_slots_of_hosts_that_share_clusters() {
    let router = router(state(Limits::default()));
    let follow = async |clusters: &str| {
        let uri = format!("/v2/replication?format=1&clusters={clusters}");
        let request = Request::get(uri).body(Body::empty()).unwrap();
        router.clone().oneshot(request).await.unwrap()
    };
    let mut streams = Vec::new();
    for (clusters, max) in [("all", REPLICAS_MAX), ("own", PEERS_MAX)] {
        for _ in 0..max {
            let stream = follow(clusters).await;
            assert_eq!(stream.status(), StatusCode::OK);
            streams.push(stream);
        }
        let refused = follow(clusters).await.status();
        assert_eq!(refused, StatusCode::SERVICE_UNAVAILABLE);
    }
}
