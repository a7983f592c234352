//! A receiver that answers each connection as a test decides.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver as Channel, channel};
use std::thread;
use std::time::Duration;

/// Most time that a receiver waits for bytes, so that a failed test ends.
const WAIT_MAX: Duration = Duration::from_mins(1);

/// A receiver on a port of its own. Its thread ends with the process.
pub(super) struct Receiver {
    pub(super) address: SocketAddr,
    /// The head of each request, with the local address of its connection.
    requests: Channel<(IpAddr, String)>,
}

impl Receiver {
    /// A receiver on all IPv4 addresses that reads the head of a request, and then answers with `answer`.
    pub(super) fn new(answer: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sent, requests) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                stream.set_read_timeout(Some(WAIT_MAX)).unwrap();
                let head = head(&mut stream);
                let local = stream.local_addr().unwrap().ip();
                if sent.send((local, head)).is_err() {
                    return;
                }
                answer(&mut stream);
            }
        });
        Self { address, requests }
    }

    /// A receiver that answers with this text and closes the connection.
    pub(super) fn answering(text: impl Into<String>) -> Self {
        let text = text.into();
        Self::new(move |stream| {
            // The client may have closed the connection.
            let _ = stream.write_all(text.as_bytes());
        })
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.address.port())
    }

    /// The next request that has arrived.
    pub(super) fn request(&self) -> Option<(IpAddr, String)> {
        self.requests.try_recv().ok()
    }
}

/// An answer with a body, after which the connection is closed.
pub(super) fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
    )
}

/// Reads a request until the end of its head, or the end of the connection.
pub(super) fn head(stream: &mut impl Read) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count == 1) {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}
