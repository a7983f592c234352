//! Shadow runs: a long run ends when its client disconnects, and a stop does not wait for it.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::stage::{CRANE, Stage, crane, pause, version, wait_for};
use crate::process::Server;

/// Number of objects. The candidate uses its complete deadline for each: one minute in total.
const SLOW: usize = 1000;
/// Duration that is only possible if the server waited for the shadow run.
const WAITED: Duration = Duration::from_secs(8);

/// A server with a live version and a candidate that loops on every object.
fn server(stage: &Stage) -> Server {
    let server = stage.serve();
    assert_eq!(server.put(CRANE, crane()).0, 200);
    let candidate = format!("{CRANE}?candidate=true");
    assert_eq!(server.put(&candidate, &version(2)).0, 200);
    wait_for(&server, crane());
    server
}

/// Begins a shadow run; its client is present while the connection is open.
fn begin(server: &Server) -> TcpStream {
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let head =
        format!("POST {CRANE}/shadow HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    // The run has begun once a later request was answered.
    assert_eq!(server.get(CRANE).0, 200);
    stream
}

#[test]
fn a_stop_does_not_wait_for_a_shadow_run() {
    let stage = Stage::new(SLOW);
    stage.report_doing(1, "loop");
    let server = server(&stage);
    let client = begin(&server);
    let disabled = Instant::now();
    assert_eq!(server.post(&format!("{CRANE}/disable"), "").0, 200);
    assert_eq!(server.post(&format!("{CRANE}/enable"), "").0, 200);
    assert!(disabled.elapsed() < WAITED, "{:?}", disabled.elapsed());
    let stopped = Instant::now();
    assert!(server.stop());
    assert!(stopped.elapsed() < WAITED, "{:?}", stopped.elapsed());
    drop(client);
}

#[test]
fn a_shadow_run_ends_when_its_client_disconnects() {
    let stage = Stage::new(SLOW);
    stage.report_doing(1, "loop");
    let server = server(&stage);
    drop(begin(&server));
    // Only one run is possible at a time. The next run begins when this run ends, with objects that are quick to judge.
    stage.report_doing(2, "undeclared-state");
    pause(3000);
    let begun = Instant::now();
    let (status, report) = server.post(&format!("{CRANE}/shadow"), "");
    assert_eq!(status, 200, "{report}");
    assert!(begun.elapsed() < WAITED, "{:?}", begun.elapsed());
    assert!(server.stop());
}
