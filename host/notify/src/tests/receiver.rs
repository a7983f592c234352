//! A receiver of HTTP requests, as a test wants it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

/// Time until expected requests arrive, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A request that arrived completely.
#[derive(Debug, Clone)]
pub(super) struct Received {
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Received {
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// A header by its name in lower case; empty without the header.
    pub(super) fn header(&self, name: &str) -> &str {
        let lines = self.head.lines().skip(1);
        let pairs = lines.filter_map(|line| line.split_once(": "));
        let mut found = pairs.filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.next().map_or("", |(_, value)| value)
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    /// Time before the answer.
    pub(super) delay: Duration,
    /// The bytes of the answer. The connection ends after them.
    pub(super) bytes: Vec<u8>,
    /// Repeats the last bytes until the client disconnects.
    pub(super) is_endless: bool,
}

impl Reply {
    pub(super) fn status(status: u16) -> Self {
        Self::with(status, "", "")
    }

    /// An answer with a header line and a body.
    pub(super) fn with(status: u16, header: &str, body: &str) -> Self {
        let length = body.len();
        Self::bytes(&format!(
            "HTTP/1.1 {status} Status\r\nContent-Length: {length}\r\nConnection: close\r\n{header}\r\n{body}"
        ))
    }

    pub(super) fn bytes(text: &str) -> Self {
        Self {
            delay: Duration::ZERO,
            bytes: text.as_bytes().to_vec(),
            is_endless: false,
        }
    }

    pub(super) fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    pub(super) fn endless(self) -> Self {
        Self {
            is_endless: true,
            ..self
        }
    }
}

type Answers = dyn Fn(&Received) -> Reply + Send + Sync;

/// A listener on a loopback address, and the requests that arrived. Its threads end with the process.
pub(super) struct HttpReceiver {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
}

impl HttpReceiver {
    pub(super) fn start(answers: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::<Mutex<Vec<Received>>>::default();
        let (all, answers): (_, Arc<Answers>) = (Arc::clone(&received), Arc::new(answers));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (all, answers) = (Arc::clone(&all), Arc::clone(&answers));
                std::thread::spawn(move || answer(stream, &all, &*answers));
            }
        });
        Self { address, received }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    pub(super) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    pub(super) fn count(&self) -> usize {
        self.received.lock().unwrap().len()
    }

    /// Waits for at least this number of requests.
    pub(super) async fn wait_for(&self, count: usize) -> Vec<Received> {
        let begin = Instant::now();
        while self.count() < count {
            assert!(begin.elapsed() < PATIENCE, "{} of {count}", self.count());
            sleep(Duration::from_millis(5)).await;
        }
        self.received()
    }
}

/// Reads one request and answers it. Errors of the connection end it.
fn answer(stream: TcpStream, all: &Mutex<Vec<Received>>, answers: &Answers) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or_default() == 0 {
            return;
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line.replace("\r\n", "\n"));
    }
    let mut request = Received {
        head,
        body: Vec::new(),
    };
    let length = request.header("content-length").parse().unwrap_or_default();
    request.body = vec![0; length];
    if reader.read_exact(&mut request.body).is_err() {
        return;
    }
    let reply = answers(&request);
    all.lock().unwrap().push(request);
    std::thread::sleep(reply.delay);
    let mut stream = reader.into_inner();
    while stream.write_all(&reply.bytes).is_ok() && reply.is_endless {}
}
