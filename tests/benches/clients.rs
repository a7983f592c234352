//! Latency of `/healthz` and memory of a server under attack. The server and its clients run in this process.
//!
//! `cargo bench -p kindsight-tests --bench clients`

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kindsight_server::{Server, Settings};
use kindsight_store::{RedbStore, Store};

/// The allocator of the program: memory is measured here.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Time under each attack.
const LASTS: Duration = Duration::from_secs(4);
/// Interval of health checks.
const PERIOD: Duration = Duration::from_millis(10);
/// Connections of an attack that holds connections. Both ends of all connections stay below the usual limit of 1,024
/// open files.
const CONNECTIONS: usize = 350;
/// Clients of an attack that sends its next request after each answer.
const CLIENTS: usize = 16;
/// Time after which a client gives up.
const PATIENCE: Duration = Duration::from_secs(10);

/// One attack: its name, its number of threads, and the function that each thread runs until the flag is set.
type Attack = (&'static str, usize, fn(SocketAddr, &AtomicBool));

const ATTACKS: &[Attack] = &[
    ("nobody", 0, |_, _| {}),
    ("slow heads", 1, slow_heads),
    ("interpret", CLIENTS, interpret),
    ("junk uploads", CLIENTS, junk),
    ("unread answers", 1, unread),
    ("nobody again", 0, |_, _| {}),
];

fn main() {
    // The server compiles uploads in a child, which is this executable.
    if kindsight_server::is_compiler() {
        let _ = kindsight_interpreter::compile_child();
        return;
    }
    let runtime = tokio::runtime::Runtime::new().expect("an executor");
    let store: Arc<dyn Store> = Arc::new(RedbStore::in_memory().expect("a store"));
    let begin_mib = resident_mib();
    let server = runtime.block_on(Server::start(Settings::new(store)));
    let server = server.expect("a server");
    let address = server.address();
    runtime.spawn(async move { server.failed().await });
    println!("memory before the server: {begin_mib} MiB; times of /healthz in ms\n");
    println!(
        "{:<16} {:>6} {:>8} {:>8} {:>8} {:>7} {:>9} {:>9}",
        "attack", "asked", "p50", "p99", "max", "failed", "MiB most", "MiB after"
    );
    for (name, threads, attack) in ATTACKS {
        let stop = AtomicBool::new(false);
        let (mut times, mut failed, mut most) = (Vec::new(), 0, 0);
        thread::scope(|scope| {
            for _ in 0..*threads {
                scope.spawn(|| attack(address, &stop));
            }
            let begin = Instant::now();
            while begin.elapsed() < LASTS {
                match health(address) {
                    Some(time) => times.push(time),
                    None => failed += 1,
                }
                most = most.max(resident_mib());
                thread::sleep(PERIOD);
            }
            stop.store(true, Ordering::Relaxed);
        });
        // Gives the server time to close abandoned connections.
        thread::sleep(Duration::from_millis(500));
        times.sort_unstable();
        println!(
            "{name:<16} {:>6} {:>8.2} {:>8.2} {:>8.2} {failed:>7} {most:>9} {:>9}",
            times.len(),
            quantile(&times, 50),
            quantile(&times, 99),
            quantile(&times, 100),
            resident_mib()
        );
    }
    print_rate(address);
    runtime.shutdown_background();
}

/// Requests a second on one connection, for the cost of a request without an attack.
fn print_rate(address: SocketAddr) {
    let mut stream = connect(address).expect("a connection");
    let request = b"GET /v2/interpreters/apps HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let (begin, mut count) = (Instant::now(), 0_u32);
    while begin.elapsed() < Duration::from_secs(2) {
        stream.write_all(request).expect("a server that reads");
        read_answer(&mut stream);
        count += 1;
    }
    let rate = f64::from(count) / begin.elapsed().as_secs_f64();
    println!("\nrequests a second on one connection: {rate:.0}");
}

/// Reads one answer of known length.
fn read_answer(stream: &mut TcpStream) {
    let mut answer = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        let read = stream.read(&mut buffer).expect("an answer");
        answer.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&answer);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.and_then(|text| text.parse().ok()).expect("a length");
        if body.len() >= length {
            return;
        }
    }
}

fn connect(address: SocketAddr) -> Option<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    Some(stream)
}

fn send(address: SocketAddr, request: &[u8]) -> Option<Vec<u8>> {
    let mut stream = connect(address)?;
    stream.write_all(request).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    Some(answer)
}

fn health(address: SocketAddr) -> Option<Duration> {
    let begin = Instant::now();
    let request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answer = send(address, request)?;
    answer.starts_with(b"HTTP/1.1 200").then(|| begin.elapsed())
}

fn request(method: &str, target: &str, media_type: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Connections that send a byte of a head now and then, and are opened again when they are closed.
fn slow_heads(address: SocketAddr, stop: &AtomicBool) {
    let mut streams = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        streams.retain_mut(|stream: &mut TcpStream| stream.write_all(b"x").is_ok());
        while streams.len() < CONNECTIONS
            && let Some(mut stream) = connect(address)
        {
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nX: ");
            streams.push(stream);
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// Objects to judge, as many as fit.
fn interpret(address: SocketAddr, stop: &AtomicBool) {
    let pod =
        r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"status":{"phase":"Running"}}"#;
    let body = format!("[{}{pod}]", format!("{pod},").repeat(9_999));
    let request = request("POST", "/v2/interpret", "application/json", &body);
    while !stop.load(Ordering::Relaxed) {
        let _ = send(address, &request);
    }
}

/// Uploads of bytes that are not components.
fn junk(address: SocketAddr, stop: &AtomicBool) {
    let body = "\0asm".repeat(1 << 18);
    let target = "/v2/interpreters/junk";
    let request = request("PUT", target, "application/wasm", &body);
    while !stop.load(Ordering::Relaxed) {
        let _ = send(address, &request);
    }
}

/// Connections that request large answers, and do not read them.
fn unread(address: SocketAddr, stop: &AtomicBool) {
    let body = format!("[{}7]", "7,".repeat(9_999));
    let request = request("POST", "/v2/interpret", "application/json", &body);
    let mut streams = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        if streams.len() < CONNECTIONS
            && let Some(mut stream) = connect(address)
        {
            let _ = stream.write_all(&request);
            streams.push(stream);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// A quantile in milliseconds, of sorted times.
fn quantile(times: &[Duration], percent: usize) -> f64 {
    let index = (times.len() * percent).div_ceil(100).saturating_sub(1);
    times
        .get(index)
        .map_or(f64::NAN, |time| time.as_secs_f64() * 1000.0)
}

/// Memory of this process that is in use, in MiB.
fn resident_mib() -> u64 {
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Option<u64> = statm.split(' ').nth(1).and_then(|text| text.parse().ok());
    pages.unwrap_or(0) * 4096 / (1 << 20)
}
