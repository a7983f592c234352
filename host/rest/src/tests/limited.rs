//! Every limit, met.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::*;
use crate::{Ended, serve};

const NEVER: &str = r#"{"kind":"Never"}"#;

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

/// Sends what is never answered and, while that is being worked on, one more.
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
async fn more_requests_than_are_worked_on_at_a_time_are_told_to_come_back() {
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
    assert_eq!(detail, "the body is larger than 10 bytes");
}

#[tokio::test]
async fn a_component_that_is_said_to_be_too_large_is_not_asked_for() {
    let limits = Limits {
        component_bytes_max: 10,
        ..Limits::default()
    };
    let head = "PUT /v2/interpreters/apps HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n";
    let (answer, _) = serve_to(limits, |address| ask(address, head)).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("larger than 10 bytes"), "{answer}");
}

/// Many clients look for an answer only when they have sent everything.
#[tokio::test]
async fn who_sends_too_much_still_reads_why() {
    const BYTES: usize = 20 << 20;
    let head = format!(
        "POST /v2/interpret HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {BYTES}\r\n\r\n"
    );
    let request = head + &" ".repeat(BYTES);
    let (answer, _) = serve_to(Limits::default(), move |address| ask(address, &request)).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("larger than"), "{answer}");
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
        "the request took longer than 50ms; what it began may still take effect: ask for the interpreter"
    );
    assert!(begun.elapsed() >= limits.catalog_time_max);
}

#[test]
fn a_connection_is_not_cut_off_before_a_slow_request_is_told_so() {
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

/// Serves while `client` runs on a thread of its own, then stops.
async fn serve_to<T: Send + 'static>(
    limits: Limits,
    client: impl FnOnce(std::net::SocketAddr) -> T + Send + 'static,
) -> (T, Ended) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (done_tx, done_rx) = oneshot::channel::<()>();
    let client = tokio::task::spawn_blocking(move || {
        let result = client(address);
        drop(done_tx);
        result
    });
    let stop = async move { drop(done_rx.await) };
    let ended = serve(listener, router(state(limits)), limits, stop)
        .await
        .unwrap();
    (client.await.unwrap(), ended)
}

fn ask(address: std::net::SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

const HEALTHZ: &str = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

#[tokio::test]
async fn connections_are_answered_until_it_stops() {
    let client = |address| ask(address, HEALTHZ);
    let (answer, ended) = serve_to(Limits::default(), client).await;
    assert!(
        answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("ok"),
        "{answer}"
    );
    assert_eq!(ended, Ended::Drained);
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_closed() {
    let limits = Limits {
        idle_max: Duration::from_millis(5),
        ..Limits::default()
    };
    let (answer, _) = serve_to(limits, |address| ask(address, "GET /healthz HT")).await;
    assert_eq!(answer, "");
}

#[tokio::test]
async fn a_connection_too_many_waits_until_another_is_closed() {
    let limits = Limits {
        connections_max: 1,
        idle_max: Duration::from_millis(50),
        ..Limits::default()
    };
    let client = |address| {
        let begun = std::time::Instant::now();
        let silent = TcpStream::connect(address).unwrap();
        let answer = ask(address, HEALTHZ);
        drop(silent);
        (answer, begun.elapsed())
    };
    let ((answer, waited), _) = serve_to(limits, client).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert!(waited >= limits.idle_max, "{waited:?}");
}

#[tokio::test]
async fn what_does_not_end_is_cut_off_when_it_stops() {
    let limits = Limits {
        drain_max: Duration::from_millis(5),
        ..Limits::default()
    };
    let client = |address| {
        let mut stream = TcpStream::connect(address).unwrap();
        let length = NEVER.len();
        let head = format!(
            "POST /v2/interpret HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        // The server asks for the body once the handler reads it: the request has begun.
        let mut ready = [0; 12];
        stream.read_exact(&mut ready).unwrap();
        stream.write_all(NEVER.as_bytes()).unwrap();
        (String::from_utf8(ready.to_vec()).unwrap(), stream)
    };
    let ((ready, _stream), ended) = serve_to(limits, client).await;
    assert_eq!(ready, "HTTP/1.1 100");
    assert_eq!(ended, Ended::CutOff);
}
