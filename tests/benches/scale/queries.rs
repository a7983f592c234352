//! Queries beside a measurement, and their latency.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kindsight_simulator::Simulator;

/// Time between two queries.
const EVERY: Duration = Duration::from_millis(10);

/// Runs work, and meanwhile queries one application after the other. Returns the result of the work, and prints the
/// latencies.
pub(crate) fn beside<T>(address: &str, paths: &[String], work: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let querying = scope.spawn(|| {
            let mut connection = Connection::open(address);
            let mut times = Vec::new();
            for path in paths.iter().cycle() {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                times.push(connection.get(path).as_secs_f64() * 1000.0);
                thread::sleep(EVERY);
            }
            times
        });
        let result = work();
        is_over.store(true, Ordering::Relaxed);
        print(&querying.join().expect("queries"));
        result
    })
}

/// The paths of the summaries of all applications.
pub(crate) fn summaries(simulator: &Simulator) -> Vec<String> {
    let mut applications = applications(simulator);
    for application in &mut applications {
        *application = format!("{}?output=summary", status(application));
    }
    applications
}

/// The names of all applications.
pub(crate) fn applications(simulator: &Simulator) -> Vec<String> {
    let mut names: Vec<String> = simulator
        .clusters()
        .iter()
        .flat_map(|cluster| {
            let seed = cluster.seed();
            (0..seed.units).map(move |unit| seed.application(unit))
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The path of the status of an application.
pub(crate) fn status(application: &str) -> String {
    format!("/v2/projects/-/composite-apps/{application}/-/deployment-intent-groups/-/status")
}

/// A connection that stays open.
struct Connection {
    stream: BufReader<TcpStream>,
}

impl Connection {
    fn open(address: &str) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        let _ = stream.set_nodelay(true);
        Self {
            stream: BufReader::new(stream),
        }
    }

    /// Time until a query is answered completely.
    fn get(&mut self, path: &str) -> Duration {
        let began = Instant::now();
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let stream = self.stream.get_mut();
        stream.write_all(request.as_bytes()).expect("a request");
        let (mut length, mut line) = (0_usize, String::new());
        loop {
            line.clear();
            self.stream.read_line(&mut line).expect("a head");
            let (name, value) = line.split_once(':').unwrap_or((line.trim(), ""));
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().expect("a length");
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).expect("a body");
        began.elapsed()
    }
}

fn print(times: &[f64]) {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    let quantile = |per_mille: usize| {
        let at = (times.len() * per_mille).div_ceil(1000).saturating_sub(1);
        times.get(at).copied().unwrap_or_default()
    };
    println!(
        "  {} queries: p50 {:.2} ms, p99 {:.2} ms, maximum {:.1} ms",
        times.len(),
        quantile(500),
        quantile(990),
        quantile(1000)
    );
}
