//! Clients that request large answers and do not read them.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::http::Request;
use crate::stage::{STATUS, Stage};
use crate::transport::{Connection, Transport};

const MIB: usize = 1 << 20;
/// The most bytes of answers that the server may hold.
const ANSWERS_BYTES_MAX: usize = 8 * MIB;
/// Further memory that an attack may cost: buffers of connections, and answers that are being judged and written.
/// A server in its own process (the image) grew by 84 to 104 MiB over HTTPS with the limit on answers, and by at least
/// 153 MiB without this limit.
const OTHER_BYTES_MAX: usize = 120 * MIB;

/// Time in which a client that tries again gets its answer.
const ANSWERED_MAX: Duration = Duration::from_secs(15);

/// Sends a request on each of `connections` connections, and does not read the answers.
fn ask(stage: &Stage, connections: usize, request: &Request<'_>) -> Vec<Connection> {
    let bytes = request.bytes(stage.address());
    let open = |number| {
        let mut stream = stage.connect().expect("a connection");
        // The server may have closed this connection in favour of another.
        let _ = stream.write_all(&bytes);
        if number % 50 == 0 {
            stage.assert_healthy();
        }
        stream
    };
    (0..connections).map(open).collect()
}

fn attack(stage: &Stage, connections: usize, request: &Request<'_>) {
    // Memory that is allocated once does not count as cost of the attack.
    assert_eq!(stage.send(request).status, 200);
    let before = stage.resident_bytes();
    let unread = ask(stage, connections, request);
    stage.assert_healthy();
    let grown = stage.resident_bytes().saturating_sub(before);
    assert!(
        grown < ANSWERS_BYTES_MAX + OTHER_BYTES_MAX,
        "{} MiB more",
        grown / MIB
    );
    // Bytes are free again as soon as a client reads its answer.
    let begin = Instant::now();
    while stage.send(request).status != 200 {
        assert!(begin.elapsed() < ANSWERED_MAX, "nobody is answered");
    }
    drop(unread);
}

/// Some hundred answers of half a MiB each.
pub(crate) fn unread_answers_on_a_status_are_bounded(transport: Transport) {
    let stage = Stage::filled(transport, 2000, |settings, _| {
        settings.rest_limits.answers_bytes_max = ANSWERS_BYTES_MAX;
    });
    let target = format!("{STATUS}?output=detail");
    let request = Request {
        method: "GET",
        target: &target,
        ..Request::default()
    };
    let answer = stage.send(&request);
    assert!(answer.body.len() > MIB / 4, "{} bytes", answer.body.len());
    attack(&stage, 300, &request);
}

/// The verdicts on many small things.
pub(crate) fn unread_verdicts_are_bounded(transport: Transport) {
    let stage = Stage::with(transport, |settings, _| {
        settings.rest_limits.answers_bytes_max = ANSWERS_BYTES_MAX;
    });
    let body = format!("[{}7]", "7,".repeat(9_999));
    let request = Request {
        method: "POST",
        target: "/v2/interpret",
        headers: &[("Content-Type", "application/json")],
        body: body.as_bytes(),
    };
    attack(&stage, 200, &request);
}
