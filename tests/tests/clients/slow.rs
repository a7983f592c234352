//! Clients that begin requests and do not end them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::http::connect;
use crate::stage::Stage;

/// Time in which a request is answered that slow clients must not delay.
const PROMPT_MAX: Duration = Duration::from_secs(4);

/// Opens a connection and sends something that is no whole request.
fn begin(stage: &Stage, begin: &[u8]) -> TcpStream {
    let mut stream = connect(stage.address()).expect("a connection");
    stream.write_all(begin).expect("a server that listens");
    stream
}

/// Sends one more byte on each; what is closed by now does not count.
fn trickle(streams: &mut [TcpStream], byte: u8) {
    for stream in streams {
        let _ = stream.write_all(&[byte]);
    }
}

/// The head of a request with a body that does not come.
fn head(method: &str, target: &str, media_type: &str, length: usize) -> String {
    format!(
        "{method} {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n"
    )
}

/// Answered in time, whatever it is.
fn promptly<T>(ask: impl FnOnce() -> T) -> T {
    within(PROMPT_MAX, ask)
}

fn within<T>(max: Duration, ask: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let answer = ask();
    assert!(begin.elapsed() < max, "{:?}", begin.elapsed());
    answer
}

/// More connections than there may be, each a byte ahead now and then.
pub(crate) fn more_slow_heads_than_connections_keep_nobody_out() {
    let stage = Stage::with(|settings, _| settings.rest_limits.connections_max = 150);
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

/// A byte at a time is no end.
pub(crate) fn a_head_has_an_end_however_often_a_byte_comes() {
    let head_time_max = Duration::from_secs(1);
    let stage = Stage::with(|settings, _| settings.rest_limits.head_time_max = head_time_max);
    let mut slow = begin(&stage, b"GET /healthz HTTP/1.1\r\nX: ");
    let wait = Duration::from_millis(50);
    slow.set_read_timeout(Some(wait)).expect("a timeout");
    let begin = Instant::now();
    let mut byte = [0];
    while slow.write_all(b"x").is_ok() && !matches!(slow.read(&mut byte), Ok(0)) {
        assert!(begin.elapsed() < 3 * head_time_max, "still open");
    }
    stage.assert_healthy();
}

/// More bodies than are judged at a time.
pub(crate) fn slow_bodies_keep_nobody_from_judging() {
    let stage = Stage::start();
    let head = head("POST", "/v2/interpret", "application/json", 1000) + "[";
    let mut slow: Vec<_> = (0..64).map(|_| begin(&stage, head.as_bytes())).collect();
    for _ in 0..5 {
        trickle(&mut slow, b' ');
        let answer = promptly(|| stage.json("POST", "/v2/interpret", "[]"));
        assert_eq!(answer.status, 200, "{answer:?}");
        stage.assert_healthy();
    }
}

/// More uploads than commands at a time.
pub(crate) fn slow_uploads_keep_nobody_from_rolling_back() {
    let stage = Stage::start();
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

/// Bodies that come quickly but for their last byte, until the bytes of all are used up.
pub(crate) fn bodies_that_stand_still_give_way_to_those_that_move() {
    const MIB: usize = 1 << 20;
    let stage = Stage::with(|settings, _| {
        let limits = &mut settings.rest_limits;
        limits.interpret_bytes_max = MIB;
        limits.component_bytes_max = MIB;
        limits.bodies_bytes_max = 4 * MIB;
    });
    let head = head("POST", "/v2/interpret", "application/json", MIB);
    let most = [head.as_bytes(), &[b' '].repeat(MIB - 1)].concat();
    let _slow: Vec<_> = (0..8)
        .map(|_| {
            let mut stream = connect(stage.address()).expect("a connection");
            // A server without room takes less.
            let timeout = Some(Duration::from_millis(200));
            stream.set_write_timeout(timeout).expect("a timeout");
            let _ = stream.write_all(&most);
            stream
        })
        .collect();
    let objects = format!("[{}]", " ".repeat(MIB / 2));
    // Those that wait for room come first, and stand still in their turn.
    let asked = || stage.json("POST", "/v2/interpret", &objects).status == 200;
    let is_answered = within(3 * PROMPT_MAX, || (0..5).any(|_| asked()));
    assert!(is_answered, "nobody is answered any more");
    stage.assert_healthy();
}
