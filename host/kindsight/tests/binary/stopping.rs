//! The end of `kindsight serve`, and starts that are refused.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::process::{Server, pause, run, text};

/// A request whose body never arrives, and which the server has begun to read.
fn begun(server: &Server) -> TcpStream {
    let mut stream = server.connect();
    let head = "POST /v2/interpret HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100");
    stream
}

/// Waits until the server takes no connections any more.
fn wait_until_stopping(server: &Server) {
    let begin = Instant::now();
    let address = server.url.trim_start_matches("http://");
    while TcpStream::connect(address).is_ok() {
        assert!(begin.elapsed() < Duration::from_secs(20), "still listening");
        pause();
    }
}

#[test]
fn a_request_in_progress_holds_up_the_stop_for_a_limited_time() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::start_with(data.path(), &[], &["--drain-seconds-max", "1"]);
    let _body = begun(&server);
    let begin = Instant::now();
    server.terminate();
    assert!(server.wait(), "a stop is no failure");
    let took = begin.elapsed();
    assert!(took > Duration::from_millis(900), "{took:?}");
    assert!(took < Duration::from_secs(4), "{took:?}");
}

#[test]
fn a_second_signal_ends_at_once() {
    let data = tempfile::tempdir().unwrap();
    let mut server = Server::start_with(data.path(), &[], &["--drain-seconds-max", "60"]);
    let _body = begun(&server);
    server.terminate();
    wait_until_stopping(&server);
    let begin = Instant::now();
    server.terminate();
    assert!(!server.wait(), "it did not stop in order");
    let took = begin.elapsed();
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn invalid_settings_are_refused_at_the_start() {
    let data = tempfile::tempdir().unwrap();
    let data = data.path().to_str().unwrap();
    for (flags, code, expected) in [
        (&["--requests-max", "0"][..], 1, "`requests-max` is 0"),
        (&["--connections-max", "0"], 1, "`connections-max` is 0"),
        (
            &["--cluster", "p+a=/first", "--cluster", "p+a=/second"],
            1,
            "cluster p+a is given twice: as /first and as /second",
        ),
        (&["--allowed-host", "http://x"], 2, "is not a host"),
        (&["--allowed-origin", "x.example"], 2, "is not an origin"),
    ] {
        let serve = ["serve", "--listen", "127.0.0.1:0", "--data-dir", data];
        let output = run(&[&serve, flags].concat(), "");
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(error.contains(expected), "{error}");
    }
}
