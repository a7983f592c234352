use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;

use serde_json::Value;

use super::*;

/// A server that answers one request after the other with these codes and bodies. For `None`, it closes the connection
/// without an answer. After the last one, it is away.
pub(crate) fn answering(answers: Vec<Option<(u16, Value)>>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    // Ends with the answers.
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            assert!(lines.any(|line| line.unwrap().is_empty()));
            let Some((code, body)) = answer else { continue };
            let body = body.to_string();
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 {code} OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
            );
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    Server::open(&server).unwrap()
}

/// Sends a request to a server that answers once: with `early` as soon as it has read the head, or
/// else with `answer` when it has read the body too. Returns what it read and the client's result.
fn exchange(request: &Request, early: &str, answer: &str) -> (String, anyhow::Result<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = format!("http://{}/", listener.local_addr().unwrap());
    let server = Server::open(&server).unwrap();
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut read = String::new();
            while !read.ends_with("\r\n\r\n") {
                reader.read_line(&mut read).unwrap();
            }
            let head = read.to_lowercase();
            let length = head.split_once("content-length: ");
            let length =
                length.map_or(0, |(_, rest)| rest.lines().next().unwrap().parse().unwrap());
            if early.is_empty() {
                if head.contains("expect: 100-continue") {
                    (&stream)
                        .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")
                        .unwrap();
                }
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                read.push_str(&String::from_utf8(body).unwrap());
                (&stream).write_all(answer.as_bytes()).unwrap();
            } else {
                (&stream).write_all(early.as_bytes()).unwrap();
            }
            read
        });
        let answer = request.ask(&server);
        (reader.join().unwrap(), answer)
    })
}

fn response(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
}

#[test]
fn a_body_is_sent_with_its_type_and_parameters() {
    let request = Request::to(Method::PUT, "/v2/x".to_owned())
        .with("digest", "sha256:0 1")
        .with("candidate", "true")
        .with_body("application/wasm", b"bytes".to_vec());
    let (read, answer) = exchange(&request, "", &response("200 OK", "{}"));
    assert_eq!(answer.unwrap(), "{}");
    let head = read.to_lowercase();
    assert!(
        read.starts_with("PUT /v2/x?digest=sha256%3A0%201&candidate=true HTTP/1.1\r\n"),
        "{read}"
    );
    assert!(
        head.contains("content-type: application/wasm\r\n"),
        "{read}"
    );
    assert!(read.ends_with("\r\n\r\nbytes"), "{read}");
}

#[test]
fn commands_without_a_body_are_sent() {
    for (method, length) in [
        (Method::GET, false),
        (Method::POST, true),
        (Method::DELETE, false),
    ] {
        let request = Request::to(method.clone(), "/v2/x".to_owned());
        let (read, answer) = exchange(&request, "", &response("200 OK", "done"));
        assert_eq!(answer.unwrap(), "done");
        assert!(
            read.starts_with(&format!("{method} /v2/x HTTP/1.1\r\n")),
            "{read}"
        );
        let head = read.to_lowercase();
        assert_eq!(head.contains("content-length: 0\r\n"), length, "{read}");
        assert!(!head.contains("transfer-encoding"), "{read}");
    }
}

#[test]
fn a_refusal_before_the_body_was_sent_is_reported() {
    let request = Request::to(Method::PUT, "/v2/x".to_owned())
        .with_body("application/wasm", vec![b'x'; 16 * 1024 * 1024]);
    let early = response("413 Payload Too Large", r#"{"detail": "at most 1 byte"}"#);
    let (read, answer) = exchange(&request, &early, "");
    assert!(read.ends_with("\r\n\r\n"), "only the head was sent");
    assert_eq!(
        answer.unwrap_err().to_string(),
        "the server answers 413: at most 1 byte"
    );
}

#[test]
fn a_refusal_on_a_connection_that_stays_open_is_reported_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server::open(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    let body = r#"{"detail": "no token"}"#;
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    let peer = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            reader.read_line(&mut head).unwrap();
        }
        let length = body.len();
        let answer = format!("HTTP/1.1 401 Unauthorized\r\ncontent-length: {length}\r\n\r\n{body}");
        stream.write_all(answer.as_bytes()).unwrap();
        // The connection stays open longer than the client may wait.
        let is_late = is_done.recv_timeout(Duration::from_mins(1)).is_err();
        assert!(!is_late, "the client waits for the end of the connection");
    });
    let request = Request::to(Method::PUT, "/v2/x".to_owned())
        .with_body("application/wasm", vec![b'x'; 1024 * 1024]);
    let refused = request.ask(&server).unwrap_err().to_string();
    // Fails if the peer gave up before.
    done.send(()).unwrap();
    peer.join().unwrap();
    assert!(
        refused.starts_with("the server answers 401: no token"),
        "{refused}"
    );
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let request = Request::get("/v2/x".to_owned());
    // Nothing listens on port 1.
    let nowhere = Server::open("http://127.0.0.1:1").unwrap();
    let error = format!("{:#}", request.ask(&nowhere).unwrap_err());
    assert!(
        error.starts_with("request http://127.0.0.1:1/v2/x; is `kindsight serve` running there?"),
        "{error}"
    );
}

#[test]
fn a_refusal_carries_the_problem_document_of_the_server() {
    let server = Server::open("http://127.0.0.1:1").unwrap();
    for (body, expected) in [
        ("<html>", "the server answers 422: no reason given"),
        (
            r#"{"title": "Conflict"}"#,
            "the server answers 422: Conflict",
        ),
        (
            r#"{"title": "x", "detail": "expected Ready,\u001b[2J got Pending", "step": "tried", "hint": "run the fixtures"}"#,
            "the server answers 422: expected Ready, [2J got Pending\n  step: tried",
        ),
        (
            r#"{"detail": "not found", "problems": [{"parameter": "name", "detail": "`x` is not known", "expected": "one of `apps`"}]}"#,
            "the server answers 422: not found\n  name: `x` is not known; expected: one of `apps`",
        ),
    ] {
        assert_eq!(refusal(&server, 422, body).to_string(), expected);
    }
}

#[test]
fn a_busy_server_refuses_a_request_only_for_a_moment() {
    let server = Server::open("http://127.0.0.1:1").unwrap();
    let refused = |status| refusal(&server, status, "").context("look up the application");
    for status in [408, 429, 500, 502, 503, 504] {
        assert!(is_temporary(&refused(status)), "{status}");
    }
    for status in [400, 401, 403, 404, 409, 422] {
        assert!(!is_temporary(&refused(status)), "{status}");
    }
    let unreachable = Request::get("/v2/x".to_owned()).ask(&server).unwrap_err();
    assert!(is_temporary(&unreachable), "{unreachable:#}");
    let no_token = anyhow::anyhow!("the login expired");
    assert!(!is_temporary(&no_token));
}

#[test]
fn the_date_of_an_answer_is_read_if_present() {
    let dated = response("200 OK", "{}").replace(
        "connection: close",
        "date: Sun, 22 Nov 2026 10:00:07 GMT\r\nconnection: close",
    );
    for (answer, expected) in [
        (dated, Some("2026-11-22T10:00:07Z".parse().unwrap())),
        (response("200 OK", "{}"), None),
    ] {
        let head = answer.split("\r\n").skip(1);
        let fields = head.filter_map(|line| line.split_once(": "));
        let fields = fields.map(|(name, value)| {
            let name: http::HeaderName = name.parse().unwrap();
            (name, http::HeaderValue::from_str(value).unwrap())
        });
        assert_eq!(date(&fields.collect()), expected);
    }
}
