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
    let head = "PUT /v2/interpreters/apps HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Type: application/wasm\r\nContent-Length: 11\r\n\r\n";
    let (answer, _) = serve_to(limits, |address| ask(address, head)).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("larger than 10 bytes"), "{answer}");
}

/// Many clients look for an answer only when they have sent everything.
#[tokio::test]
async fn who_sends_too_much_still_reads_why() {
    const BYTES: usize = 20 << 20;
    let head = format!(
        "POST /v2/interpret HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {BYTES}\r\n\r\n"
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
        catalog_requests_max: 1,
        ..Limits::default()
    };
    let never = ("/v2/interpreters/never/rollback", "");
    let answer = second_of(limits, never, "PUT", "/v2/interpreters/apps").await;
    answer.problem(StatusCode::SERVICE_UNAVAILABLE);
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

const HEALTHZ: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

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
async fn a_connection_too_many_closes_that_without_a_request_for_longest() {
    let limits = Limits {
        connections_max: 2,
        ..Limits::default()
    };
    let client = |address| {
        let mut silent = TcpStream::connect(address).unwrap();
        let mut slow = TcpStream::connect(address).unwrap();
        slow.write_all(b"GET /healthz HTTP/1.1\r\nHost: ").unwrap();
        let answers = [ask(address, HEALTHZ), ask(address, HEALTHZ)];
        let mut rest = String::new();
        let closed = silent.read_to_string(&mut rest);
        assert!(closed.is_err() || rest.is_empty(), "{rest}");
        answers
    };
    let (answers, _) = serve_to(limits, client).await;
    for answer in answers {
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    }
}

#[tokio::test]
async fn a_connection_that_is_worked_on_is_not_closed_for_another() {
    let limits = Limits {
        connections_max: 1,
        request_time_max: Duration::from_millis(300),
        ..Limits::default()
    };
    let client = |address| {
        let begin_of_never = begin_never(address);
        let waiting = ask(address, HEALTHZ);
        (rest_of(begin_of_never), waiting)
    };
    let ((never, waiting), _) = serve_to(limits, client).await;
    assert!(never.starts_with("HTTP/1.1 408 "), "{never}");
    assert!(waiting.starts_with("HTTP/1.1 200 OK"), "{waiting}");
}

fn rest_of(mut stream: TcpStream) -> String {
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    let (_continue, answer) = rest.split_once("\r\n\r\n").unwrap();
    answer.to_owned()
}

/// Begins a request that is never answered, and that the server is working on.
fn begin_never(address: std::net::SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = NEVER.len();
    let head = format!(
        "POST /v2/interpret HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The server asks for the body when it reads it: the request has begun.
    let mut ready = [0; 12];
    stream.read_exact(&mut ready).unwrap();
    assert_eq!(&ready, b"HTTP/1.1 100");
    stream.write_all(NEVER.as_bytes()).unwrap();
    stream
}

#[tokio::test]
async fn a_head_that_does_not_end_is_closed_however_often_a_byte_comes() {
    let limits = Limits {
        head_time_max: Duration::from_millis(100),
        ..Limits::default()
    };
    let client = |address| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /healthz HTTP/1.1\r\nX: ").unwrap();
        let timeout = Some(Duration::from_millis(10));
        stream.set_read_timeout(timeout).unwrap();
        let begun = std::time::Instant::now();
        let mut byte = [0];
        // Ends with the connection: by its end, or a byte that nobody takes.
        while stream.write_all(b"x").is_ok() && !matches!(stream.read(&mut byte), Ok(0)) {
            assert!(begun.elapsed() < Duration::from_secs(20), "still open");
        }
    };
    serve_to(limits, client).await;
}

#[tokio::test]
async fn a_body_that_comes_too_slowly_is_refused_and_keeps_nobody_out() {
    let limits = Limits {
        interpret_requests_max: 1,
        requests_max: 1,
        stall_max: Duration::from_millis(300),
        ..Limits::default()
    };
    let client = |address| {
        let head = "POST /v2/interpret HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n[";
        let mut slow: Vec<_> = (0..3)
            .map(|_| {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.write_all(head.as_bytes()).unwrap();
                stream
            })
            .collect();
        let quick = head.replace("100\r\n\r\n[", "2\r\n\r\n[]");
        let quick = ask(address, &quick);
        let mut refused = String::new();
        slow[0].read_to_string(&mut refused).unwrap();
        (quick, refused)
    };
    let ((quick, refused), _) = serve_to(limits, client).await;
    assert!(quick.starts_with("HTTP/1.1 200 "), "{quick}");
    assert!(refused.starts_with("HTTP/1.1 408 "), "{refused}");
    assert!(refused.contains("of the body came in 300ms"), "{refused}");
}

#[tokio::test]
async fn a_head_that_is_not_http_is_answered_with_the_reason() {
    let long = format!(
        "GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n",
        "x".repeat(100_000)
    );
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "X: x\r\n".repeat(200));
    for (request, status) in [
        (
            "GET /<x HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "400 Bad Request",
        ),
        ("GET /\x7f HTTP/1.1\r\n\r\n", "400 Bad Request"),
        ("G(T / HTTP/1.1\r\n\r\n", "400 Bad Request"),
        (&long, "431 Request Header Fields Too Large"),
        (&many, "431 Request Header Fields Too Large"),
    ] {
        let request = request.to_owned();
        let client = move |address| ask_rudely(address, request.as_bytes());
        let (answer, _) = serve_to(Limits::default(), client).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(
            head.starts_with(&format!("HTTP/1.1 {status}\r\n")),
            "{head}"
        );
        assert!(head.contains("application/problem+json"), "{head}");
        let length = format!("content-length: {}\r\n", body.len());
        assert!(head.contains(&length), "{head}");
        let json: Value = serde_json::from_str(body).unwrap();
        assert_eq!(json["status"].to_string(), status[..3]);
    }
}

/// Sends without looking whether everything is taken.
fn ask_rudely(address: std::net::SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn what_does_not_end_is_cut_off_when_it_stops() {
    let limits = Limits {
        drain_max: Duration::from_millis(5),
        ..Limits::default()
    };
    let (_stream, ended) = serve_to(limits, begin_never).await;
    assert_eq!(ended, Ended::CutOff);
}
