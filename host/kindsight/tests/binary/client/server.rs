//! A server over TLS or plain HTTP that notes the heads of requests.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Arc, Mutex};

use kindsight_cluster::{Authority, Identity};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use tempfile::TempDir;

use crate::process::{kindsight, text};

/// The answer with no clusters.
pub(super) const NO_CLUSTERS: &str =
    "HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n{\"clusters\":[]}";

/// A server that answers each request with the same text. It ends with the test.
pub(super) struct NotingServer {
    address: SocketAddr,
    scheme: &'static str,
    heads: Arc<Mutex<Vec<String>>>,
}

impl NotingServer {
    /// Starts a server without TLS.
    pub(super) fn plain(answer: &'static str) -> Self {
        Self::start("http", answer, |stream| stream)
    }

    /// Starts a server with a certificate of an authority. It requires certificates of clients if it has an authority
    /// for them.
    pub(super) fn tls(authority: &Authority, clients: Option<&Authority>) -> Self {
        let config = Arc::new(config(&authority.server(None), clients));
        Self::start("https", NO_CLUSTERS, move |stream| {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            StreamOwned::new(connection, stream)
        })
    }

    fn start<S: Read + Write>(
        scheme: &'static str,
        answer: &'static str,
        secured: impl Fn(TcpStream) -> S + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let noted = Arc::clone(&heads);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let mut reader = BufReader::new(secured(stream));
                let mut head = String::new();
                let answer = |stream: &mut S| {
                    // A client that does not trust the server has ended the connection.
                    let _ = stream.write_all(answer.as_bytes());
                    let _ = stream.flush();
                };
                while reader.read_line(&mut head).is_ok_and(|bytes| bytes > 0) {
                    if head.ends_with("\r\n\r\n") {
                        noted.lock().unwrap().push(std::mem::take(&mut head));
                        answer(reader.get_mut());
                    }
                }
                // The bytes are not HTTP, or the connection has ended.
                answer(reader.get_mut());
            }
        });
        Self {
            address,
            scheme,
            heads,
        }
    }

    pub(super) fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// The values of `Authorization` of all requests until now.
    pub(super) fn authorizations(&self) -> Vec<Option<String>> {
        let heads = self.heads.lock().unwrap();
        let values = heads.iter().map(|head| {
            let line = head
                .lines()
                .find_map(|line| line.strip_prefix("authorization: "))?;
            Some(line.to_owned())
        });
        values.collect()
    }
}

fn config(identity: &Identity, clients: Option<&Authority>) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(clients) => {
            let mut roots = RootCertStore::empty();
            roots.add(certificate(clients.certificate())).unwrap();
            let roots = Arc::new(roots);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
    let chain = vec![certificate(&identity.certificate)];
    builder.with_single_cert(chain, key).unwrap()
}

fn certificate(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()
}

/// A user with folders of their own for configuration and logins.
pub(super) struct User {
    folder: TempDir,
}

impl User {
    pub(super) fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    /// Writes a file, and returns its path.
    pub(super) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Writes the client configuration.
    pub(super) fn configure(&self, text: &str) {
        self.file("kindsight/config.toml", text);
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A command of this user.
    pub(super) fn command(&self, args: &[&str]) -> std::process::Command {
        let mut command = kindsight(args);
        command
            .env("XDG_CONFIG_HOME", self.folder.path())
            .env("XDG_STATE_HOME", self.folder.path());
        command
    }

    /// Runs a command to its end.
    pub(super) fn run(&self, args: &[&str], variables: &[(&str, &Path)]) -> Output {
        let mut command = self.command(args);
        command.envs(variables.iter().copied()).output().unwrap()
    }

    /// The error of a command that fails.
    pub(super) fn error(&self, args: &[&str], variables: &[(&str, &Path)]) -> String {
        let output = self.run(args, variables);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        error
    }
}
