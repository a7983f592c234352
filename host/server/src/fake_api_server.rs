//! An API server for tests.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use kindsight_clusters::{ClusterSource, KubernetesCluster};
use serde_json::{Value, json};

/// A cluster with this name. Its API server gives every request the same answer, and its watches send no events. The
/// kubeconfig is in `folder`.
pub(crate) fn fake_cluster(name: &str, folder: &Path, answer: &Value) -> ClusterSource {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer: Arc<str> = answer.to_string().into();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let answer = Arc::clone(&answer);
            // A client that disconnects is ignored.
            thread::spawn(move || serve(stream, &answer));
        }
    });
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": format!("http://{address}")}}],
        "users": [{"name": "u", "user": {}}],
    });
    let path = folder.join(address.port().to_string());
    std::fs::write(&path, kubeconfig.to_string()).unwrap();
    let cluster = KubernetesCluster::from_kubeconfig(name.parse().unwrap(), path, None);
    ClusterSource::Kubernetes(Box::new(cluster))
}

/// Answers one request of a connection.
fn serve(mut stream: TcpStream, answer: &str) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut is_watch = false;
    let mut length: u64 = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        is_watch |= line.contains("watch=1");
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    io::copy(&mut reader.take(length), &mut io::sink())?;
    if is_watch {
        stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")?;
        // Open until the client closes it.
        io::copy(&mut stream, &mut io::sink())?;
        return Ok(());
    }
    let head = "HTTP/1.1 200 OK\r\nconnection: close";
    write!(
        stream,
        "{head}\r\ncontent-length: {}\r\n\r\n{answer}",
        answer.len()
    )
}
