//! Invalid heads of requests.

use crate::stage::Stage;
use crate::transport::Transport;

fn refused(stage: &Stage, request: &[u8], status: u16) {
    let answer = stage.send_raw(request).expect("an answer");
    assert_eq!(answer.status, status, "{answer:?}");
    assert!(
        answer.head.contains("application/problem+json"),
        "{answer:?}"
    );
    let problem = answer.json();
    assert_eq!(problem["status"], status, "{answer:?}");
    assert!(
        problem["detail"]
            .as_str()
            .is_some_and(|detail| !detail.is_empty())
    );
}

/// Raw bytes in a target, and methods and versions that do not exist.
pub(crate) fn an_invalid_request_target_is_answered_with_the_reason(transport: Transport) {
    let stage = Stage::start(transport);
    for target in [&b"/<script>"[..], b"/\xff", b"/a b", b"/\x7f", b"http://"] {
        let request = [
            b"GET ",
            target,
            b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        ];
        refused(&stage, &request.concat(), 400);
    }
    refused(&stage, b"G@T / HTTP/1.1\r\nHost: localhost\r\n\r\n", 400);
    refused(&stage, b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", 400);
    refused(&stage, b"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400);
    stage.assert_healthy();
}

/// One long header, and many short ones.
pub(crate) fn a_head_that_is_too_long_is_answered_with_the_reason(transport: Transport) {
    let stage = Stage::start(transport);
    for headers in [
        format!("X: {}\r\n", "x".repeat(40_000)),
        "X: x\r\n".repeat(150),
    ] {
        let request = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
        refused(&stage, request.as_bytes(), 431);
    }
    stage.assert_healthy();
}
