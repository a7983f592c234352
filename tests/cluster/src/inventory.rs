//! An inventory like ONAP's A&AI, over HTTP.
//!
//! A real A&AI needs Cassandra and several Java services. This server enforces the rules of A&AI's REST documentation
//! that matter to a client: `resource-version` on each write, required and known members, relations to objects that
//! exist, children that a PUT replaces, and the headers. It also fails as a test decides.

mod graph;
mod http;
mod tls;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Authority, Identity};
use graph::Graph;
use http::{Answer, Request};

/// Time for which a receiver that hangs keeps a connection.
const HANG: Duration = Duration::from_mins(2);

/// A failure of the inventory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InventoryFault {
    /// Each request gets this status.
    Status(u16),
    /// No request is answered.
    Hang,
    /// The connection ends before the request has an effect.
    CloseBefore,
    /// The connection ends after the request had its effect.
    CloseAfter,
}

/// A write that had an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InventoryWrite {
    /// `PUT` or `DELETE`.
    pub method: String,
    /// The path below the version of the API.
    pub path: String,
    /// The object after a `PUT`.
    pub object: Value,
}

#[derive(Default)]
struct State {
    graph: Graph,
    writes: Vec<InventoryWrite>,
    /// Requests that break a rule that every client must keep.
    violations: Vec<String>,
    transactions: Vec<String>,
    /// The times of all requests.
    requests: Vec<Instant>,
    /// The present failure, with the number of writes that it still concerns.
    fault: Option<(InventoryFault, usize)>,
    /// The status of the next writes, and their number.
    refused_writes: Option<(u16, usize)>,
    authorization: Option<String>,
}

/// A running inventory.
pub struct Inventory {
    url: String,
    state: Arc<Mutex<State>>,
}

impl Inventory {
    /// Starts an inventory with one tenant, a VNF `vnf-1` and its modules `module-1` and `module-2`. Its thread ends with
    /// the process.
    pub fn start() -> Self {
        let (listener, address) = listener();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&shared);
                thread::spawn(move || serve(stream, &shared));
            }
        });
        let url = format!("http://{address}");
        Self { url, state }
    }

    /// Starts the same inventory over TLS. It accepts only clients with a certificate of an authority.
    pub fn start_with_tls(identity: &Identity, clients_of: &Authority) -> Self {
        let config = tls::config(identity, clients_of);
        let (listener, address) = listener();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (shared, config) = (Arc::clone(&shared), Arc::clone(&config));
                thread::spawn(move || serve(tls::accept(stream, config), &shared));
            }
        });
        let url = format!("https://{address}");
        Self { url, state }
    }

    /// The URL, without the path of the API.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Requires this value of the header `Authorization`.
    pub fn require_authorization(&self, value: &str) {
        self.locked().authorization = Some(value.to_owned());
    }

    /// Makes the next requests fail: all of them, or of the faults that end connections, this number of writes.
    pub fn fail(&self, fault: Option<InventoryFault>, writes: usize) {
        self.locked().fault = fault.map(|fault| (fault, writes));
    }

    /// Answers the next writes with a status, without an effect.
    pub fn fail_writes(&self, status: u16, writes: usize) {
        self.locked().refused_writes = Some((status, writes));
    }

    /// Adds or replaces an object without any check, as another client did.
    pub fn set(&self, path: &str, object: Value) {
        self.locked().graph.set(path, object);
    }

    /// Removes an object without any check.
    pub fn remove(&self, path: &str) {
        self.locked().graph.remove(path);
    }

    /// The object with this path below the version of the API.
    pub fn object(&self, path: &str) -> Option<Value> {
        self.locked().graph.object(path)
    }

    /// All vservers, by their names.
    pub fn vservers(&self) -> Vec<(String, Value)> {
        self.locked().graph.vservers()
    }

    /// All writes that had an effect, in order.
    pub fn writes(&self) -> Vec<InventoryWrite> {
        self.locked().writes.clone()
    }

    /// Requests that break a rule: a missing or repeated header, an unknown member, and others.
    pub fn violations(&self) -> Vec<String> {
        self.locked().violations.clone()
    }

    /// The times of all requests.
    pub fn requests(&self) -> Vec<Instant> {
        self.locked().requests.clone()
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("the inventory")
    }
}

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    (listener, address)
}

fn serve(mut stream: impl Read + Write, shared: &Mutex<State>) {
    while let Some(request) = http::read(&mut stream) {
        let mut state = shared.lock().expect("the inventory");
        state.requests.push(Instant::now());
        let fault = state.take_fault(&request);
        match fault {
            Some(InventoryFault::Hang) => {
                drop(state);
                thread::sleep(HANG);
                return;
            }
            Some(InventoryFault::CloseBefore) => return,
            Some(InventoryFault::Status(status)) => {
                drop(state);
                http::write(&mut stream, &graph::error(status, "out of order", &[]));
                continue;
            }
            Some(InventoryFault::CloseAfter) | None => {}
        }
        let answer = state.answer(&request);
        drop(state);
        if fault.is_some() {
            return;
        }
        http::write(&mut stream, &answer);
    }
}

/// The version of the API and the path below it.
fn versioned(path: &str) -> Option<(u32, &str)> {
    let (version, path) = path.strip_prefix("/aai/v")?.split_once('/')?;
    Some((version.parse().ok()?, path))
}

impl State {
    /// The failure for a request. Faults that end connections concern only writes.
    fn take_fault(&mut self, request: &Request) -> Option<InventoryFault> {
        let (fault, writes) = self.fault?;
        let ends = matches!(
            fault,
            InventoryFault::CloseBefore | InventoryFault::CloseAfter
        );
        if ends {
            if request.method == "GET" || writes == 0 {
                return None;
            }
            self.fault = Some((fault, writes - 1));
        }
        Some(fault)
    }

    fn answer(&mut self, request: &Request) -> Answer {
        if let Some(violation) = self.violation(request) {
            let answer = graph::error(400, &violation, &[]);
            self.violations.push(violation);
            return answer;
        }
        if self.authorization.is_some()
            && request.header("authorization") != self.authorization.as_deref()
        {
            return graph::error(401, "not authorized", &[]);
        }
        let Some((version, path)) = versioned(&request.path) else {
            return graph::error(404, "unknown URL", &[]);
        };
        if request.method != "GET"
            && let Some((status, writes @ 1..)) = self.refused_writes
        {
            self.refused_writes = Some((status, writes - 1));
            return graph::error(status, "another client was faster", &[]);
        }
        let answer = match request.method.as_str() {
            "GET" => self.graph.get(path, request.query("depth").as_deref()),
            "PUT" => self.graph.put(version, path, &request.body),
            "DELETE" => {
                let version = request.query("resource-version");
                self.graph.delete(path, version.as_deref())
            }
            _ => graph::error(405, "method not allowed", &[]),
        };
        if request.method != "GET" && (200..300).contains(&answer.status) {
            self.writes.push(InventoryWrite {
                method: request.method.clone(),
                path: path.to_owned(),
                object: self.graph.object(path).unwrap_or_default(),
            });
        }
        if answer.status == 400 {
            self.violations.push(answer.body.clone());
        }
        answer
    }

    /// The rule about headers that a request breaks.
    fn violation(&mut self, request: &Request) -> Option<String> {
        if request.header("x-fromappid").is_none_or(str::is_empty) {
            return Some("X-FromAppId is missing".to_owned());
        }
        let transaction = request.header("x-transactionid").unwrap_or_default();
        let is_uuid = transaction.len() == 36 && transaction.split('-').count() == 5;
        if !is_uuid || self.transactions.iter().any(|known| known == transaction) {
            return Some(format!("X-TransactionId `{transaction}` is not unique"));
        }
        self.transactions.push(transaction.to_owned());
        None
    }
}
