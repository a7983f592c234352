//! A webhook that an API server asks whether a token is valid: here, for some seconds after its creation.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

/// A webhook that answers until the end of the test process.
pub(super) struct Webhook {
    config: PathBuf,
    refused: Arc<AtomicUsize>,
}

impl Webhook {
    /// Starts to answer. A token is `t` and the Unix time of its creation, and valid for `good_for`.
    pub(super) fn start(folder: &Path, good_for: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("its address"));
        let config = folder.join("webhook.json");
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "webhook",
            "clusters": [{"name": "webhook", "cluster": {"server": url}}],
            "users": [{"name": "api-server", "user": {}}],
            "contexts": [{"name": "webhook", "context": {"cluster": "webhook", "user": "api-server"}}],
        });
        std::fs::write(&config, kubeconfig.to_string()).expect("its configuration");
        let refused = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&refused);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let count = Arc::clone(&count);
                std::thread::spawn(move || while answer(&stream, good_for, &count).is_some() {});
            }
        });
        Self { config, refused }
    }

    /// The file for `--authentication-token-webhook-config-file`.
    pub(super) fn config(&self) -> &Path {
        &self.config
    }

    /// Number of tokens of its form that it refused.
    pub(super) fn refused(&self) -> usize {
        self.refused.load(Ordering::Relaxed)
    }
}

/// Answers one request; none at the end of the connection.
fn answer(mut stream: &TcpStream, good_for: Duration, refused: &AtomicUsize) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let review: Value = serde_json::from_slice(&body).ok()?;
    let token = review["spec"]["token"].as_str().unwrap_or_default();
    let made = token
        .strip_prefix('t')
        .and_then(|seconds| seconds.parse().ok());
    let made = made.map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
    let age = made.map(|time| time.elapsed().unwrap_or_default());
    let is_good = age.is_some_and(|age| age < good_for);
    if age.is_some() && !is_good {
        refused.fetch_add(1, Ordering::Relaxed);
    }
    let status = if is_good {
        json!({"authenticated": true, "user": {"username": "me", "groups": ["system:masters"]}})
    } else {
        json!({"authenticated": false})
    };
    let answer = json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": status,
    });
    let answer = answer.to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ";
    write!(stream, "{head}{}\r\n\r\n{answer}", answer.len()).ok()
}
