//! Clients that begin requests and do not end them.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use crate::stage::Stage;
use crate::transport::{Connection, Transport};

/// Maximum time of a request that slow clients must not delay.
const PROMPT_MAX: Duration = Duration::from_secs(4);

/// Opens a connection and sends an incomplete request.
fn begin(stage: &Stage, begin: &[u8]) -> Connection {
    let mut stream = stage.connect().expect("a connection");
    stream.write_all(begin).expect("a server that listens");
    stream
}

/// Sends one more byte on each connection; ignores closed connections.
fn trickle(streams: &mut [Connection], byte: u8) {
    for stream in streams {
        let _ = stream.write_all(&[byte]);
    }
}

/// The head of a request whose body is never sent.
fn head(method: &str, target: &str, media_type: &str, length: usize) -> String {
    format!(
        "{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// Calls `ask`, and checks that it returns in time.
fn promptly<T>(ask: impl FnOnce() -> T) -> T {
    within(PROMPT_MAX, ask)
}

fn within<T>(max: Duration, ask: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let answer = ask();
    assert!(begin.elapsed() < max, "{:?}", begin.elapsed());
    answer
}

/// More connections than the limit, each with one more byte from time to time.
pub(crate) fn more_slow_heads_than_connections_do_not_block_other_clients(transport: Transport) {
    let stage = Stage::with(transport, |settings, _| {
        settings.rest_limits.connections_max = 150;
    });
    let mut slow = Vec::new();
    for number in 0..300 {
        slow.push(begin(&stage, b"GET /healthz HTTP/1.1\r\nX: "));
        if number % 60 == 0 {
            trickle(&mut slow, b'x');
            stage.assert_healthy();
        }
    }
    for _ in 0..10 {
        trickle(&mut slow, b'x');
        stage.assert_healthy();
        assert_eq!(stage.get("/v2/interpreters").status, 200);
    }
}

/// A client that sends one byte at a time cannot prolong its request indefinitely.
pub(crate) fn an_endless_head_is_cut_off(transport: Transport) {
    let head_time_max = Duration::from_secs(1);
    let stage = Stage::with(transport, |settings, _| {
        settings.rest_limits.head_time_max = head_time_max;
    });
    let mut slow = begin(&stage, b"GET /healthz HTTP/1.1\r\nX: ");
    let wait = Duration::from_millis(50);
    slow.tcp().set_read_timeout(Some(wait)).expect("a timeout");
    let begin = Instant::now();
    let mut byte = [0];
    while slow.write_all(b"x").is_ok() && !matches!(slow.read(&mut byte), Ok(0)) {
        assert!(begin.elapsed() < 3 * head_time_max, "still open");
    }
    stage.assert_healthy();
}

/// More slow bodies than requests that are judged at a time.
pub(crate) fn slow_bodies_do_not_delay_other_requests(transport: Transport) {
    let stage = Stage::start(transport);
    let head = head("POST", "/v2/interpret", "application/json", 1000) + "[";
    let mut slow: Vec<_> = (0..64).map(|_| begin(&stage, head.as_bytes())).collect();
    for _ in 0..5 {
        trickle(&mut slow, b' ');
        let answer = promptly(|| stage.json("POST", "/v2/interpret", "[]"));
        assert_eq!(answer.status, 200, "{answer:?}");
        stage.assert_healthy();
    }
}

/// More slow uploads than concurrent commands.
pub(crate) fn slow_uploads_do_not_delay_rollbacks(transport: Transport) {
    let stage = Stage::start(transport);
    let head = head("PUT", "/v2/interpreters/apps", "application/wasm", 1 << 20);
    let mut slow: Vec<_> = (0..16).map(|_| begin(&stage, head.as_bytes())).collect();
    for command in ["rollback", "disable", "enable"] {
        trickle(&mut slow, 0);
        let target = format!("/v2/interpreters/apps/{command}");
        let answer = promptly(|| stage.json("POST", &target, ""));
        assert!(matches!(answer.status, 200 | 409), "{answer:?}");
        stage.assert_healthy();
    }
}

/// Bodies that arrive quickly except for their last byte, until the limit of bytes is reached.
pub(crate) fn bodies_that_stand_still_give_way_to_those_that_move(transport: Transport) {
    const MIB: usize = 1 << 20;
    let stage = Stage::with(transport, |settings, _| {
        let limits = &mut settings.rest_limits;
        limits.interpret_bytes_max = MIB;
        limits.component_bytes_max = MIB;
        limits.bodies_bytes_max = 4 * MIB;
    });
    let head = head("POST", "/v2/interpret", "application/json", MIB);
    let most = [head.as_bytes(), &[b' '].repeat(MIB - 1)].concat();
    let _slow: Vec<_> = (0..8)
        .map(|_| {
            let mut stream = stage.connect().expect("a connection");
            // A server without free bytes reads less.
            let timeout = Some(Duration::from_millis(200));
            stream.tcp().set_write_timeout(timeout).expect("a timeout");
            let _ = stream.write_all(&most);
            stream
        })
        .collect();
    let objects = format!("[{}]", " ".repeat(MIB / 2));
    // Requests that wait for free bytes have priority, and then stall themselves.
    let asked = || stage.json("POST", "/v2/interpret", &objects).status == 200;
    let is_answered = within(3 * PROMPT_MAX, || (0..5).any(|_| asked()));
    assert!(is_answered, "the server no longer answers");
    stage.assert_healthy();
}
