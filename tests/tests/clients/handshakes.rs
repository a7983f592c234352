//! TLS handshakes that fail, or that do not end.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::http;
use crate::stage::Stage;
use crate::transport::{Transport, connect};

/// The beginning of a `ClientHello` of 512 bytes.
const HELLO: &[u8] = &[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3];

/// Opens a connection without TLS and sends bytes.
fn begin(stage: &Stage, bytes: &[u8]) -> TcpStream {
    let mut stream = connect(stage.address()).expect("a connection");
    stream.write_all(bytes).expect("a server that listens");
    stream
}

/// More handshakes than connections, each with one more byte from time to time, and connections without any byte.
pub(crate) fn more_slow_handshakes_than_connections_do_not_block_other_clients(
    transport: Transport,
) {
    let stage = Stage::with(transport, |settings, _| {
        settings.rest_limits.connections_max = 150;
    });
    let mut slow = Vec::new();
    for number in 0..300 {
        let bytes = if number % 2 == 0 { HELLO } else { b"" };
        slow.push(begin(&stage, bytes));
        if number % 60 == 0 {
            stage.assert_healthy();
        }
    }
    for _ in 0..10 {
        for stream in slow.iter_mut().step_by(2) {
            // The server may have closed this connection in favour of another.
            let _ = stream.write_all(&[0]);
        }
        stage.assert_healthy();
        assert_eq!(stage.get("/v2/interpreters").status, 200);
    }
}

/// Neither single bytes nor silence prolong a handshake.
pub(crate) fn an_endless_handshake_is_cut_off(transport: Transport) {
    let time_max = Duration::from_secs(1);
    let stage = Stage::with(transport, |settings, _| {
        settings.rest_limits.head_time_max = time_max;
    });
    let mut silent = begin(&stage, b"");
    let mut slow = begin(&stage, HELLO);
    let wait = Duration::from_millis(50);
    slow.set_read_timeout(Some(wait)).expect("a timeout");
    let begin = Instant::now();
    let mut byte = [0];
    while slow.write_all(&[0]).is_ok() && !matches!(slow.read(&mut byte), Ok(0)) {
        assert!(begin.elapsed() < 10 * time_max, "still open");
    }
    assert!(matches!(silent.read(&mut byte), Ok(0) | Err(_)));
    assert!(begin.elapsed() < 10 * time_max, "still open");
    stage.assert_healthy();
}

/// A client that uses the wrong scheme.
pub(crate) fn a_request_without_tls_is_answered_with_the_reason(transport: Transport) {
    let stage = Stage::start(transport);
    let stream = connect(stage.address()).expect("a connection");
    let answer = http::send_raw(stream, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let answer = answer.expect("an answer");
    assert_eq!(answer.status, 400, "{answer:?}");
    let detail = answer.json()["detail"].to_string();
    assert!(detail.contains("https://"), "{answer:?}");
    stage.assert_healthy();
}

/// Bytes that are no handshake.
pub(crate) fn garbage_does_not_affect_other_clients(transport: Transport) {
    let stage = Stage::start(transport);
    let record = [vec![0x16, 3, 1, 0xff, 0xff], vec![0xff; 1 << 16]].concat();
    let zeros = vec![0; 1 << 16];
    let alert = [0x15, 3, 3, 0, 2, 2, 40];
    for garbage in [&record[..], &alert, &zeros, b"\r\n\r\n", &[0x80; 64]] {
        for _ in 0..20 {
            let mut stream = connect(stage.address()).expect("a connection");
            // The server may close the connection before it has read everything.
            let _ = stream.write_all(garbage);
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            assert!(answer.len() < 64, "{} bytes", answer.len());
        }
        stage.assert_healthy();
    }
}
