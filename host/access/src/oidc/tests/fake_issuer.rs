//! An issuer that answers as a test wants it to.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// The paths of the documents.
pub(super) const DISCOVERY: &str = "/.well-known/openid-configuration";
pub(super) const KEYS: &str = "/keys";

/// A server on loopback. It does not answer requests for paths without an answer.
pub(super) struct FakeIssuer {
    pub(super) url: String,
    answers: Arc<Answers>,
    /// Ends with the issuer.
    _serving: JoinSet<()>,
}

#[derive(Default)]
struct Answers {
    by_path: Mutex<BTreeMap<String, String>>,
    requests: AtomicUsize,
}

impl FakeIssuer {
    /// Starts an issuer that publishes these keys.
    pub(super) async fn start(keys: &[Value]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answers = Arc::new(Answers::default());
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, Arc::clone(&answers)));
        let issuer = Self {
            url,
            answers,
            _serving: serving,
        };
        issuer.publish(keys);
        issuer.set_discovery(&issuer.url, &format!("{}{KEYS}", issuer.url));
        issuer
    }

    pub(super) fn publish(&self, keys: &[Value]) {
        self.set(KEYS, &ok(&json!({"keys": keys}).to_string()));
    }

    pub(super) fn set_discovery(&self, issuer: &str, keys: &str) {
        let document = json!({"issuer": issuer, "jwks_uri": keys});
        self.set(DISCOVERY, &ok(&document.to_string()));
    }

    /// Answers requests for a path with these bytes.
    pub(super) fn set(&self, path: &str, answer: &str) {
        let mut answers = self.answers.by_path.lock().unwrap();
        answers.insert(path.to_owned(), answer.to_owned());
    }

    /// Leaves requests for a path without an answer.
    pub(super) fn hang(&self, path: &str) {
        self.answers.by_path.lock().unwrap().remove(path);
    }

    /// The number of requests so far.
    pub(super) fn requests(&self) -> usize {
        self.answers.requests.load(Ordering::SeqCst)
    }
}

/// An answer with status 200.
pub(super) fn ok(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

async fn serve(listener: TcpListener, answers: Arc<Answers>) {
    let mut connections = JoinSet::new();
    while let Ok((connection, _)) = listener.accept().await {
        connections.spawn(answer(connection, Arc::clone(&answers)));
    }
}

async fn answer(mut connection: TcpStream, answers: Arc<Answers>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(byte) = connection.read_u8().await else {
            return;
        };
        head.push(byte);
    }
    answers.requests.fetch_add(1, Ordering::SeqCst);
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap();
    let answer = answers.by_path.lock().unwrap().get(path).cloned();
    match answer {
        // The client may have gone.
        Some(answer) => drop(connection.write_all(answer.as_bytes()).await),
        None => std::future::pending().await,
    }
}
