//! A proxy that loses events of watches, as a faulty server or a faulty network device would.

use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::client::Client;
use crate::cluster::Cluster;

/// Maximum time of one request, longer than the lifetime of a watch.
const REQUEST_MAX: Duration = Duration::from_mins(15);

/// A proxy in front of an API server, which reads lists and watches as the administrator. Its clients speak HTTP/1.1
/// without TLS. It stops when it is dropped.
#[derive(Debug)]
pub struct WatchProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    server: Client,
    /// The names of objects whose events are lost.
    lost_names: Mutex<Vec<String>>,
    lost: AtomicU64,
    has_ended: AtomicBool,
}

impl WatchProxy {
    /// Starts a proxy in front of an API server, on a free port of loopback.
    ///
    /// # Panics
    /// If there is no free port.
    pub fn start(cluster: &Cluster) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let shared = Arc::new(Shared {
            server: cluster.client().with_timeout(REQUEST_MAX),
            lost_names: Mutex::default(),
            lost: AtomicU64::new(0),
            has_ended: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if accepting.has_ended.load(Ordering::Relaxed) {
                    break;
                }
                let serving = Arc::clone(&accepting);
                // A client that disconnects is ignored.
                thread::spawn(move || serving.serve(client));
            }
        });
        Self { address, shared }
    }

    /// The address for clients.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Loses each later event about objects of this name. Lists contain these objects.
    pub fn lose(&self, name: &str) {
        let names = self.shared.lost_names.lock();
        let mut names = names.unwrap_or_else(PoisonError::into_inner);
        names.push(format!("\"name\":\"{name}\""));
    }

    /// Number of events that were lost.
    pub fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Relaxed)
    }
}

impl Drop for WatchProxy {
    fn drop(&mut self) {
        self.shared.has_ended.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts connections.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    /// Answers one request of a connection.
    fn serve(&self, mut client: TcpStream) -> io::Result<()> {
        let lines = BufReader::new(client.try_clone()?).lines();
        let head: Vec<String> = lines
            .map_while(Result::ok)
            .take_while(|line| !line.is_empty())
            .collect();
        let target = head.first().and_then(|line| line.split(' ').nth(1));
        let target = target.unwrap_or("/");
        let accept = head.iter().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("accept").then_some(value)
        });
        let answer = self.server.read(target, accept.unwrap_or("*/*"));
        let mut answer = answer.map_err(io::Error::other)?;
        let (status, is_watch) = (answer.status().as_u16(), target.contains("watch=1"));
        let mut body = answer.body_mut().as_reader();
        if status == 200 && is_watch {
            client.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")?;
            return self.pass_events(target, BufReader::new(body), client);
        }
        let mut bytes = Vec::new();
        body.read_to_end(&mut bytes)?;
        let length = bytes.len();
        let head =
            format!("HTTP/1.1 {status} -\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
        client.write_all(head.as_bytes())?;
        client.write_all(&bytes)
    }

    /// Forwards the events of a watch.
    fn pass_events(
        &self,
        target: &str,
        mut events: impl io::BufRead,
        mut client: impl Write,
    ) -> io::Result<()> {
        let mut is_list = target.contains("sendInitialEvents=true");
        let mut line = Vec::new();
        while events.read_until(b'\n', &mut line)? > 0 {
            let text = String::from_utf8_lossy(&line);
            is_list &= !text.contains("k8s.io/initial-events-end");
            if !is_list && self.is_lost(&text) {
                self.lost.fetch_add(1, Ordering::Relaxed);
            } else {
                write!(client, "{:x}\r\n", line.len())?;
                client.write_all(&line)?;
                client.write_all(b"\r\n")?;
            }
            line.clear();
        }
        client.write_all(b"0\r\n\r\n")
    }

    fn is_lost(&self, event: &str) -> bool {
        let names = self.lost_names.lock();
        let names = names.unwrap_or_else(PoisonError::into_inner);
        names.iter().any(|name| event.contains(name))
    }
}
