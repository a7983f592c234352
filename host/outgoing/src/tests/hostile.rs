//! Receivers that never answer, answer without end, slowly or with nonsense.

use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use super::receiver::{Receiver, answer, head};
use super::{GET, destinations, settings};
use crate::{ANSWER_BYTES_MAX, Endpoint, RequestError};

/// The timeout of requests in these tests.
const TIMEOUT: Duration = Duration::from_millis(700);

/// Most time that a request with this timeout may take on a busy machine.
const TIMEOUT_SEEN_MAX: Duration = Duration::from_secs(10);

fn request(url: &str) -> RequestError {
    let mut settings = settings(url);
    settings.timeout = TIMEOUT;
    let endpoint = Endpoint::new(settings, &destinations(&["127.0.0.0/8"])).unwrap();
    let started = Instant::now();
    let error = endpoint.request(GET).unwrap_err();
    assert!(started.elapsed() < TIMEOUT_SEEN_MAX, "{error}");
    let is_unsent = matches!(error, RequestError::NotConnected(_));
    assert_eq!(error.is_unsent(), is_unsent, "{error}");
    error
}

fn error(answer: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> RequestError {
    let receiver = Receiver::new(answer);
    request(&receiver.url())
}

/// Writes a text again and again until the client closes the connection.
fn endless(stream: &mut TcpStream, text: &str, pause: Duration) {
    while stream.write_all(text.as_bytes()).is_ok() {
        thread::sleep(pause);
    }
}

#[test]
fn a_receiver_that_never_answers_is_left() {
    let error = error(|stream| {
        // Waits until the client closes the connection.
        head(stream);
    });
    assert!(matches!(error, RequestError::TimedOut { .. }), "{error}");
}

#[test]
fn a_receiver_that_answers_byte_by_byte_is_left() {
    let slow_head = error(|stream| endless(stream, "H", Duration::from_millis(50)));
    // A head of one letter is no HTTP; either way the request ends.
    let is_ended = matches!(
        slow_head,
        RequestError::TimedOut { .. } | RequestError::Unreachable(_)
    );
    assert!(is_ended, "{slow_head}");
    let slow_lines = error(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        endless(stream, "a: b\r\n", Duration::from_millis(50));
    });
    assert!(
        matches!(slow_lines, RequestError::TimedOut { .. }),
        "{slow_lines}"
    );
    let slow_body = error(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
        endless(stream, "x", Duration::from_millis(50));
    });
    assert!(
        matches!(slow_body, RequestError::TimedOut { .. }),
        "{slow_body}"
    );
}

#[test]
fn an_endless_answer_is_refused() {
    let head = error(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        endless(stream, &"header: value\r\n".repeat(100), Duration::ZERO);
    });
    assert!(!matches!(head, RequestError::TimedOut { .. }), "{head}");
    let long_line = error(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\na: ");
        endless(stream, &"x".repeat(1000), Duration::ZERO);
    });
    assert!(
        matches!(long_line, RequestError::AnswerTooLarge(_)),
        "{long_line}"
    );
    for framing in ["transfer-encoding: chunked", "connection: close"] {
        let body = error(move |stream| {
            let head = format!("HTTP/1.1 200 OK\r\n{framing}\r\n\r\n");
            let _ = stream.write_all(head.as_bytes());
            let chunk = format!("400\r\n{}\r\n", "x".repeat(0x400));
            endless(stream, &chunk, Duration::ZERO);
        });
        assert!(
            matches!(body, RequestError::AnswerTooLarge(_)),
            "{framing}: {body}"
        );
    }
}

#[test]
fn the_largest_answer_is_accepted() {
    let body = "x".repeat(ANSWER_BYTES_MAX);
    let receiver = Receiver::answering(answer("200 OK", "", &body));
    let response = super::endpoint(&receiver.url()).request(GET).unwrap();
    assert_eq!(response.body.len(), ANSWER_BYTES_MAX);
    let receiver = Receiver::answering(answer("500 No", "", &format!("{body}y")));
    let error = super::endpoint(&receiver.url()).request(GET).unwrap_err();
    assert!(matches!(error, RequestError::AnswerTooLarge(_)), "{error}");
}

#[test]
fn a_closed_connection_is_an_error() {
    let texts = [
        "",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 9999 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
    ];
    for text in texts {
        let receiver = Receiver::answering(text);
        let error = request(&receiver.url());
        assert!(
            matches!(error, RequestError::Unreachable(_)),
            "{text}: {error}"
        );
    }
}

#[test]
fn a_closed_port_is_an_error_with_its_place() {
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let error = request(&format!("http://127.0.0.1:{port}/secret"));
    assert!(error.is_unsent(), "{error}");
    let text = error.to_string();
    assert!(text.contains(&format!("127.0.0.1:{port}")), "{text}");
    assert!(!text.contains("secret"), "{text}");
}
