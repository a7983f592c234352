//! Time of a query on one connection, without and with access control, in one run.
//!
//! `cargo bench -p kindsight-tests --bench access`

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kindsight_server::access::{AccessSettings, TokenFile};
use kindsight_server::{Server, Settings};
use kindsight_store::{RedbStore, Store};

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Rounds, in which each server answers [`REQUESTS`] requests.
const ROUNDS: usize = 50;
/// Requests of one round.
const REQUESTS: usize = 400;
/// Other bindings of the role file.
const OTHERS: usize = 500;

fn main() {
    if kindsight_server::is_compiler() {
        let _ = kindsight_interpreter::compile_child();
        return;
    }
    let runtime = tokio::runtime::Runtime::new().expect("an executor");
    let start = |access: Option<AccessSettings>| {
        let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().expect("a store"));
        let settings = Settings {
            access,
            ..Settings::new(store)
        };
        let server = runtime.block_on(Server::start(settings)).expect("a server");
        let address = server.address();
        runtime.spawn(async move { server.failed().await });
        address
    };
    let folder = tempfile::tempdir().expect("a folder");
    let (access, token) = access(folder.path());
    let head = format!("Authorization: Bearer {token}\r\n");
    let mut asked = [
        Asked::new("without access control", start(None), ""),
        Asked::new("with a token", start(Some(access)), &head),
    ];
    for _ in 0..ROUNDS {
        asked.iter_mut().for_each(Asked::round);
    }
    println!("time of GET /v2/applications on one connection, in µs\n");
    let medians = asked.map(|mut asked| {
        asked.times.sort_unstable();
        let of = |percent: usize| asked.times[(asked.times.len() - 1) * percent / 100];
        let [p50, p99] = [50, 99].map(|percent| of(percent).as_secs_f64() * 1e6);
        println!("{:<24} p50 {p50:>7.1}  p99 {p99:>7.1}", asked.name);
        p50
    });
    println!("\nratio of the medians: {:.3}", medians[1] / medians[0]);
    runtime.shutdown_background();
}

/// Access control with a token whose user has one of many bindings.
fn access(folder: &std::path::Path) -> (AccessSettings, String) {
    let (roles, tokens) = (folder.join("roles.toml"), folder.join("tokens.toml"));
    let expires = "2999-01-01T00:00:00Z".parse().expect("a time");
    let binding = |name: &str| {
        format!(
            "[[binding]]\nrole = \"viewer\"\nusers = [\"token:{name}\"]\napplications = [\"*/{name}\"]\n"
        )
    };
    let mut bindings = String::new();
    for other in 0..OTHERS {
        bindings += &binding(&format!("other-{other}"));
    }
    bindings += &binding("bench");
    fs::write(&roles, bindings).expect("a file");
    let token = TokenFile::create(&tokens, "bench".parse().expect("a name"), expires);
    let settings = AccessSettings {
        roles,
        tokens: Some(tokens),
        verifiers: Vec::new(),
        code_flow: None,
    };
    (settings, token.expect("a token").text.to_string())
}

/// A connection to a server, and the times of its requests.
struct Asked {
    name: &'static str,
    stream: TcpStream,
    request: String,
    times: Vec<Duration>,
}

impl Asked {
    fn new(name: &'static str, address: SocketAddr, headers: &str) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        Self {
            name,
            stream,
            request: format!("GET /v2/applications HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n"),
            times: Vec::new(),
        }
    }

    fn round(&mut self) {
        for _ in 0..REQUESTS {
            let begin = Instant::now();
            let written = self.stream.write_all(self.request.as_bytes());
            written.expect("a server that reads");
            self.read();
            self.times.push(begin.elapsed());
        }
    }

    /// Reads one answer of known length.
    fn read(&mut self) {
        let (mut answer, mut buffer) = (Vec::new(), [0; 16 * 1024]);
        loop {
            let read = self.stream.read(&mut buffer).expect("an answer");
            assert!(read > 0, "the server closed the connection");
            answer.extend_from_slice(&buffer[..read]);
            let text = String::from_utf8_lossy(&answer);
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            assert!(head.starts_with("HTTP/1.1 200"), "{text}");
            let head = head.to_ascii_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.expect("a length").parse().expect("a number");
            if body.len() >= length {
                return;
            }
        }
    }
}
