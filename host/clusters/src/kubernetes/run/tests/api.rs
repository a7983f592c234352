//! An API server that fails on demand.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use serde_json::{Value, json};

/// The answer to a request.
pub(super) enum Answer {
    Json(u16, Value),
    /// Lines of a watch, which remains open.
    Lines(Vec<String>),
    /// The connection ends without an answer.
    Closed,
    /// The answer is sent after the other end of the channel is dropped.
    Held(mpsc::Receiver<()>, Value),
}

type Answers = Box<dyn FnMut(&str) -> Option<Answer> + Send>;

/// An API server of Services and Pods, and of Widgets of an extension server. It refuses to stream lists, and its
/// watches send no events.
pub(super) struct Api {
    pub(super) url: String,
}

impl Api {
    /// A server that answers each request, by its path and query, as `answers` says. If `answers` returns none, it
    /// answers like a server without objects.
    pub(super) fn new(answers: impl FnMut(&str) -> Option<Answer> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answers: Arc<Mutex<Answers>> = Arc::new(Mutex::new(Box::new(answers)));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let answers = Arc::clone(&answers);
                thread::spawn(move || serve(stream, &answers));
            }
        });
        Self { url }
    }
}

/// Answers one request of a connection. A client that disconnects is ignored.
fn serve(mut stream: TcpStream, answers: &Mutex<Answers>) {
    let lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let lines: Vec<String> = lines
        .map_while(Result::ok)
        .take_while(|line| !line.is_empty())
        .collect();
    let Some(target) = lines.first().and_then(|line| line.split(' ').nth(1)) else {
        return;
    };
    let is_watch = target.contains("watch=1");
    let answer = answers.lock().unwrap()(target);
    if is_watch && !target.contains("sendInitialEvents") && answer.is_none() {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        // Open until the client closes it.
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
        return;
    }
    if let Some(Answer::Lines(lines)) = answer {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        for line in lines {
            let chunk = format!("{:x}\r\n{line}\n\r\n", line.len() + 1);
            let _ = stream.write_all(chunk.as_bytes());
        }
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
        return;
    }
    let (status, body) = match answer.unwrap_or_else(|| known(target)) {
        Answer::Json(status, body) => (status, body),
        Answer::Closed | Answer::Lines(_) => return,
        Answer::Held(until, body) => {
            let _ = until.recv();
            (200, body)
        }
    };
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status} OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}

fn known(target: &str) -> Answer {
    let kind = |kind: &str, plural: &str| {
        json!({"resource": plural, "responseKind": {"kind": kind},
            "scope": "Namespaced", "verbs": ["list", "watch"]})
    };
    let path = target.split('?').next().unwrap_or_default();
    match path {
        _ if target.contains("sendInitialEvents") => Answer::Json(400, json!({})),
        "/version" => Answer::Json(200, json!({"gitVersion": "v1.31.0"})),
        "/readyz" => Answer::Json(200, json!("ok")),
        "/api" => Answer::Json(
            200,
            json!({"items": [{"metadata": {"name": ""}, "versions": [{"version": "v1",
                "resources": [kind("Service", "services"), kind("Pod", "pods")]}]}]}),
        ),
        "/apis" => Answer::Json(
            200,
            json!({"items": [{"metadata": {"name": "example.org"}, "versions": [{"version": "v1",
                "resources": [kind("Widget", "widgets")]}]}]}),
        ),
        "/api/v1/pods" | "/api/v1/services" | "/apis/example.org/v1/widgets" => {
            Answer::Json(200, list(&[]))
        }
        _ => Answer::Json(404, json!({"code": 404, "message": "not found"})),
    }
}

/// A list of objects.
pub(super) fn list(items: &[Value]) -> Value {
    json!({"metadata": {"resourceVersion": "9"}, "items": items})
}
