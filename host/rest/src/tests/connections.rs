//! Connections over a real network, and their limits.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;

use super::limited::NEVER;
use super::*;
use crate::{Ended, serve};

/// Serves while `client` runs on its own thread, then stops.
pub(super) async fn serve_to<T: Send + 'static>(
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
    let state = state(limits);
    let slots = state.slots.clone();
    let ended = serve(listener, None, router(state), limits, slots, stop)
        .await
        .unwrap();
    (client.await.unwrap(), ended)
}

pub(super) fn ask(address: std::net::SocketAddr, request: &str) -> String {
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
async fn a_silent_connection_is_closed() {
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
async fn a_connection_with_an_endless_head_is_closed() {
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
        // The loop ends when the connection ends, or when a byte cannot be sent.
        while stream.write_all(b"x").is_ok() && !matches!(stream.read(&mut byte), Ok(0)) {
            assert!(begun.elapsed() < Duration::from_secs(20), "still open");
        }
    };
    serve_to(limits, client).await;
}

#[tokio::test]
async fn a_slow_body_is_refused_and_does_not_block_other_requests() {
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

/// Sends without a check that the server accepts all bytes.
fn ask_rudely(address: std::net::SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn requests_that_do_not_end_are_cut_off_at_the_stop() {
    let limits = Limits {
        drain_max: Duration::from_millis(5),
        ..Limits::default()
    };
    let (_stream, ended) = serve_to(limits, begin_never).await;
    assert_eq!(ended, Ended::CutOff);
}
