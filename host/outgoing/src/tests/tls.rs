//! Encrypted connections.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver as Channel, channel};
use std::thread;
use std::time::Duration;

use kindsight_cluster::{Authority, Identity};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use super::receiver::{Receiver, answer, head};
use super::{GET, destinations, settings};
use crate::{Endpoint, EndpointSettings, Error, RequestError};

/// A receiver with TLS, which reports the certificate of each client.
struct TlsReceiver {
    address: SocketAddr,
    clients: Channel<Option<Vec<u8>>>,
}

impl TlsReceiver {
    fn new(identity: &Identity, clients_of: Option<&Authority>) -> Self {
        let config = Arc::new(server(identity, clients_of));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sent, clients) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                let mut stream = StreamOwned::new(connection, stream.unwrap());
                if head(&mut stream).is_empty() {
                    continue;
                }
                let client = stream
                    .conn
                    .peer_certificates()
                    .map(|chain| chain[0].to_vec());
                let _ = sent.send(client);
                let _ = stream.write_all(answer("200 OK", "", "").as_bytes());
                stream.conn.send_close_notify();
                let _ = stream.flush();
            }
        });
        Self { address, clients }
    }

    fn url(&self) -> String {
        format!("https://localhost:{}/", self.address.port())
    }
}

fn server(identity: &Identity, clients_of: Option<&Authority>) -> ServerConfig {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let builder = match clients_of {
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            let root = CertificateDer::from_pem_slice(authority.certificate().as_bytes());
            roots.add(root.unwrap()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
        None => builder.with_no_client_auth(),
    };
    let certificate = CertificateDer::from_pem_slice(identity.certificate.as_bytes());
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes());
    let config = builder.with_single_cert(vec![certificate.unwrap()], key.unwrap());
    config.unwrap()
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

fn tls_settings(folder: &Path, url: &str, authority: &Authority) -> EndpointSettings {
    let mut settings = settings(url);
    settings.ca = Some(write(folder, "ca.pem", authority.certificate()));
    settings
}

fn endpoint(settings: EndpointSettings) -> Endpoint {
    Endpoint::new(settings, &destinations(&["127.0.0.0/8", "::1"])).unwrap()
}

#[test]
fn only_a_trusted_certificate_for_the_name_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let (authority, other) = (Authority::new("receivers"), Authority::new("others"));
    let receiver = TlsReceiver::new(&authority.server(None), None);
    let trusted = endpoint(tls_settings(folder.path(), &receiver.url(), &authority));
    assert_eq!(trusted.request(GET).unwrap().status, 200);
    receiver.clients.recv().unwrap();

    let strangers = endpoint(tls_settings(folder.path(), &receiver.url(), &other));
    let error = strangers.request(GET).unwrap_err();
    assert!(matches!(error, RequestError::Tls(_)), "{error}");
    let of_system = endpoint(settings(&receiver.url()));
    let error = of_system.request(GET).unwrap_err();
    assert!(matches!(error, RequestError::Tls(_)), "{error}");

    let elsewhere = authority.server_named(&["elsewhere.example".to_owned()], None);
    let receiver = TlsReceiver::new(&elsewhere, None);
    let misnamed = endpoint(tls_settings(folder.path(), &receiver.url(), &authority));
    let error = misnamed.request(GET).unwrap_err();
    assert!(matches!(error, RequestError::Tls(_)), "{error}");
    assert!(receiver.clients.try_recv().is_err());
}

#[test]
fn a_renewed_client_certificate_is_used_without_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new("all");
    let receiver = TlsReceiver::new(&authority.server(None), Some(&authority));
    let without = endpoint(tls_settings(folder.path(), &receiver.url(), &authority));
    let error = without.request(GET).unwrap_err();
    assert!(!error.is_unsent(), "{error}");

    let mut settings = tls_settings(folder.path(), &receiver.url(), &authority);
    let (certificate, key) = (
        folder.path().join("cert.pem"),
        folder.path().join("key.pem"),
    );
    settings.client_certificate = Some((certificate.clone(), key.clone()));
    let mut endpoint_with = None;
    for user in ["one", "two"] {
        let identity = authority.client(user, "kindsight", None);
        fs::write(&certificate, &identity.certificate).unwrap();
        // Between both writes, the previous certificate is used.
        if let Some(endpoint) = &endpoint_with {
            assert!(Endpoint::request(endpoint, GET).is_ok());
            receiver.clients.recv().unwrap();
        }
        fs::write(&key, &identity.key).unwrap();
        let endpoint = endpoint_with.get_or_insert_with(|| endpoint(settings.clone()));
        assert_eq!(endpoint.request(GET).unwrap().status, 200);
        let shown = receiver.clients.recv().unwrap().unwrap();
        let own = CertificateDer::from_pem_slice(identity.certificate.as_bytes());
        assert_eq!(shown, own.unwrap().to_vec(), "{user}");
    }
}

#[test]
fn invalid_files_are_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new("all");
    let (one, two) = (
        authority.client("a", "g", None),
        authority.client("b", "g", None),
    );
    let certificate = write(folder.path(), "cert.pem", &one.certificate);
    let key = write(folder.path(), "key.pem", &two.key);
    let refusal = |change: &dyn Fn(&mut EndpointSettings)| {
        let mut settings = settings("https://localhost/");
        change(&mut settings);
        Endpoint::new(settings, &destinations(&[])).unwrap_err()
    };
    let error = refusal(&|settings| {
        settings.client_certificate = Some((certificate.clone(), key.clone()));
    });
    assert!(matches!(error, Error::KeyMismatch { .. }), "{error}");
    let error = refusal(&|settings| settings.ca = Some(key.clone()));
    assert!(matches!(error, Error::Content { .. }), "{error}");
    let error = refusal(&|settings| settings.ca = Some("/nonexistent".into()));
    assert!(matches!(error, Error::File { .. }), "{error}");
    let error = refusal(&|settings| settings.timeout = Duration::ZERO);
    assert!(matches!(error, Error::Timeout), "{error}");
    let error = refusal(&|settings| {
        settings.url = "http://localhost/".to_owned();
        settings.ca = Some(certificate.clone());
    });
    assert!(matches!(error, Error::TlsWithoutHttps), "{error}");
}

#[test]
fn a_receiver_without_tls_gets_no_request() {
    let receiver = Receiver::answering(answer("400 Bad", "", ""));
    let mut settings = settings(&receiver.url().replace("http://", "https://"));
    // The receiver waits for the end of a head that TLS does not send.
    settings.timeout = Duration::from_millis(700);
    let error = endpoint(settings).request(GET).unwrap_err();
    let is_failed = matches!(error, RequestError::Tls(_) | RequestError::TimedOut { .. });
    assert!(is_failed, "{error}");
}

#[test]
fn a_slow_handshake_is_left() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut hello = [0; 64];
        let _ = stream.read(&mut hello);
        // A record of 16 KiB, byte by byte.
        let _ = stream.write_all(&[22, 3, 3, 0x40, 0]);
        while stream.write_all(&[0]).is_ok() {
            thread::sleep(Duration::from_millis(50));
        }
    });
    let mut settings = settings(&url);
    settings.timeout = Duration::from_millis(700);
    let error = endpoint(settings).request(GET).unwrap_err();
    assert!(matches!(error, RequestError::TimedOut { .. }), "{error}");
}
