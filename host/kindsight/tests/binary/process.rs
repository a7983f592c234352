//! Runs the binary, and kills it at the end of a test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::compiled;

/// Timeout until a server is ready: it compiles every interpreter first, and unoptimized builds of
/// wasmtime are slow on a busy machine.
const READY_MAX: Duration = Duration::from_mins(2);

/// Timeout of a request: a component that is loaded is compiled first.
const ANSWER_MAX: Duration = Duration::from_mins(2);

/// A command of the binary, with a cache of compiled interpreters that all tests of this build share.
pub(crate) fn kindsight(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kindsight"));
    let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");
    command.env("XDG_CACHE_HOME", cache).args(args);
    // The servers and logins of the person who runs the tests do not count.
    let none = concat!(env!("CARGO_TARGET_TMPDIR"), "/no-user");
    command
        .env("XDG_CONFIG_HOME", none)
        .env("XDG_STATE_HOME", none);
    for name in [
        "CLIENT_CONFIG",
        "SERVER",
        "SERVICE",
        "TOKEN",
        "TOKEN_FILE",
        "CA",
    ] {
        command.env_remove(format!("KINDSIGHT_{name}"));
    }
    command
}

/// Runs a command to its end with `input` on its standard input.
pub(crate) fn run(args: &[&str], input: &str) -> Output {
    let mut child = kindsight(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start the binary");
    let mut stdin = child.stdin.take().expect("its standard input");
    std::thread::scope(|scope| {
        // The process may end on an invalid command line before it has read anything.
        scope.spawn(move || drop(stdin.write_all(input.as_bytes())));
        child.wait_with_output().expect("its output")
    })
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Waits a moment before the next look at a server, and leaves the processor to this server.
pub(crate) fn pause() {
    std::thread::sleep(Duration::from_millis(10));
}

/// A running `serve` or `demo`, killed when it is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
    /// The line of the log about the start, which has all addresses.
    started: String,
}

/// An address of this machine without a listener. Its port is below the range of automatic ports, so no other test uses it.
/// Each call returns another address.
pub(crate) fn free_address() -> String {
    static NEXT: AtomicU16 = AtomicU16::new(20_000);
    loop {
        let address = format!("127.0.0.1:{}", NEXT.fetch_add(1, Ordering::Relaxed));
        if TcpListener::bind(&address).is_ok() {
            return address;
        }
    }
}

impl Server {
    /// Starts `serve` over a data directory, with clusters as `provider+name=DIR`, and waits until it
    /// is ready.
    pub(crate) fn start(data: &Path, clusters: &[String]) -> Self {
        Self::start_with(data, clusters, &[])
    }

    /// Starts `serve` as [`Server::start`] does, with further arguments.
    pub(crate) fn start_with(data: &Path, clusters: &[String], more: &[&str]) -> Self {
        let server = Self::start_unready(data, clusters, more);
        server.wait_until_ready();
        server
    }

    /// Starts `serve` as [`Server::start_with`] does, and waits only until it listens.
    pub(crate) fn start_unready(data: &Path, clusters: &[String], more: &[&str]) -> Self {
        Self::start_on("127.0.0.1:0", data, clusters, more)
    }

    /// Starts `serve` on this address, and waits until it listens.
    pub(crate) fn start_on(address: &str, data: &Path, clusters: &[String], more: &[&str]) -> Self {
        compiled::share(data);
        let data = data.to_str().expect("a UTF-8 path");
        let mut command = kindsight(&["serve", "--listen", address, "--data-dir", data]);
        for cluster in clusters {
            command.args(["--cluster", cluster]);
        }
        command.args(more);
        Self::of(command)
    }

    /// Starts `demo`, and waits until it shows its application.
    pub(crate) fn demo() -> Self {
        Self::of(kindsight(&["demo", "--listen", "127.0.0.1:0"]))
    }

    /// Starts a command that serves, and waits until it shows its URL.
    fn of(mut command: Command) -> Self {
        let mut child = command
            .stderr(Stdio::piped())
            .spawn()
            .expect("start the server");
        let stderr = BufReader::new(child.stderr.take().expect("its log"));
        let mut lines = stderr.lines().map_while(Result::ok);
        let mut log = Vec::new();
        let url = lines.find_map(|line| {
            // A replica may name its upstream host first.
            let own = Some(&*line).filter(|line| !line.contains("upstream"));
            let begin = own.and_then(|line| line.find("https://").or_else(|| line.find("http://")));
            let url = begin.and_then(|begin| line.get(begin..)?.split(' ').next());
            let url = url.map(|url| url.trim_end_matches(['/', ';']).to_owned());
            log.push(line);
            url
        });
        let url = url.unwrap_or_else(|| panic!("it ended instead of serving: {log:#?}"));
        // A process that writes to a closed pipe ends, so the log is read until the server ends.
        std::thread::spawn(move || lines.for_each(drop));
        let started = log.pop().unwrap_or_default();
        Self {
            child,
            url,
            started,
        }
    }

    fn wait_until_ready(&self) {
        let begin = std::time::Instant::now();
        while self.get("/readyz").0 != 200 {
            assert!(
                begin.elapsed() < READY_MAX,
                "not ready: {}",
                self.get("/readyz").1
            );
            pause();
        }
    }

    /// The URL of the server of gRPC.
    pub(crate) fn grpc(&self) -> String {
        let begin = self.started.find("grpc://").expect("a server of gRPC");
        let address = self.started[begin..].trim_start_matches("grpc://");
        let end = address.find([',', '"', ' ']).unwrap_or(address.len());
        format!("http://{}", &address[..end])
    }

    /// Status code and body of a GET.
    pub(crate) fn get(&self, path: &str) -> (u16, Value) {
        let agent = agent();
        let mut response = agent
            .get(format!("{}{path}", self.url))
            .call()
            .expect("an answer");
        (response.status().as_u16(), body(&mut response))
    }

    /// Status code and body of a POST.
    pub(crate) fn post(&self, path: &str, content: &str) -> (u16, Value) {
        let agent = agent();
        let request = agent
            .post(format!("{}{path}", self.url))
            .content_type("application/json");
        let mut response = request.send(content).expect("an answer");
        (response.status().as_u16(), body(&mut response))
    }

    /// Status code and body of a PUT.
    pub(crate) fn put(&self, path: &str, content: &[u8]) -> (u16, Value) {
        try_put(&self.url, path, content).expect("an answer")
    }

    /// Status code and body of a PUT with JSON.
    pub(crate) fn put_json(&self, path: &str, content: &str) -> (u16, Value) {
        let agent = agent();
        let request = agent.put(format!("{}{path}", self.url));
        let request = request.content_type("application/json");
        let mut response = request.send(content).expect("an answer");
        (response.status().as_u16(), body(&mut response))
    }

    /// Status code and body of a DELETE.
    pub(crate) fn delete(&self, path: &str) -> (u16, Value) {
        let agent = agent();
        let request = agent.delete(format!("{}{path}", self.url));
        let mut response = request.call().expect("an answer");
        (response.status().as_u16(), body(&mut response))
    }

    /// Process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM and waits for the end; returns whether the exit code is 0.
    pub(crate) fn stop(mut self) -> bool {
        self.terminate();
        self.wait()
    }

    /// Sends SIGTERM.
    pub(crate) fn terminate(&self) {
        let pid = i32::try_from(self.child.id()).expect("a process id");
        let pid = rustix::process::Pid::from_raw(pid).expect("a process id");
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("SIGTERM");
    }

    /// Waits for the end; returns whether the exit code is 0.
    pub(crate) fn wait(&mut self) -> bool {
        self.child.wait().expect("its end").success()
    }

    /// Opens a new connection.
    pub(crate) fn connect(&self) -> std::net::TcpStream {
        let address = self.url.trim_start_matches("http://");
        std::net::TcpStream::connect(address).expect("a connection")
    }

    /// Sends SIGKILL, the nearest to a power cut.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("SIGKILL");
        self.child.wait().expect("its end");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Status code and body of a PUT to a server that may have been killed.
pub(crate) fn try_put(url: &str, path: &str, content: &[u8]) -> Option<(u16, Value)> {
    let agent = agent();
    let request = agent
        .put(format!("{url}{path}"))
        .content_type("application/wasm");
    let mut response = request.send(content).ok()?;
    let status = response.status().as_u16();
    let mut text = String::new();
    let mut reader = response.body_mut().as_reader();
    reader.read_to_string(&mut text).ok()?;
    Some((status, serde_json::from_str(&text).unwrap_or_default()))
}

fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder().http_status_as_error(false);
    config.timeout_global(Some(ANSWER_MAX)).build().into()
}

fn body(response: &mut ureq::http::Response<ureq::Body>) -> Value {
    let mut text = String::new();
    let mut reader = response.body_mut().as_reader();
    reader.read_to_string(&mut text).expect("a body");
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}
