use std::fs;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use futures_util::FutureExt as _;
use kindsight_cluster::{Authority, Identity};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};

use super::*;

/// 2027-01-15.
const NOW: i64 = 1_800_000_000_000;

/// An unusable item of each type.
const JUNK: &str = "\
-----BEGIN CERTIFICATE-----\n\
AAAA\n\
-----END CERTIFICATE-----\n\
-----BEGIN X509 CRL-----\n\
AAAA\n\
-----END X509 CRL-----\n\
-----BEGIN PRIVATE KEY-----\n\
AAAA\n\
-----END PRIVATE KEY-----\n\
";

/// The files of a server, and the authorities that signed them.
struct Stage {
    folder: TempDir,
    company: Authority,
    staff: Authority,
}

impl Stage {
    fn new() -> Self {
        let stage = Self {
            folder: tempfile::tempdir().unwrap(),
            company: Authority::new("company"),
            staff: Authority::new("staff"),
        };
        stage.write_server(&stage.company.server(None));
        stage.write("staff.crt", stage.staff.certificate());
        stage
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn write_server(&self, identity: &Identity) {
        self.write("server.crt", &identity.certificate);
        self.write("server.key", &identity.key);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn settings(&self) -> TlsSettings {
        TlsSettings {
            cert: self.path("server.crt"),
            key: self.path("server.key"),
            client_ca: Some(self.path("staff.crt")),
            client_crl: None,
        }
    }

    fn server(&self) -> TlsServer {
        TlsServer::load(self.settings(), || NOW).unwrap()
    }

    /// The error of the files, without the folder.
    fn error(&self, settings: TlsSettings) -> String {
        let error = TlsServer::load(settings, || NOW).unwrap_err();
        let error: &dyn std::error::Error = &error;
        let source = error.source().map(|source| format!(": {source}"));
        let text = format!("{error}{}", source.unwrap_or_default());
        text.replace(&format!("{}/", self.folder.path().display()), "")
    }

    fn client(&self) -> Client {
        Client {
            trusted: self.company.certificate().to_owned(),
            identity: None,
            protocols: vec![HTTP_1_1.to_vec()],
            version: &TLS13,
        }
    }
}

const HTTP_1_1: &[u8] = b"http/1.1";

/// A client of the server.
struct Client {
    trusted: String,
    identity: Option<Identity>,
    protocols: Vec<Vec<u8>>,
    version: &'static SupportedProtocolVersion,
}

impl Client {
    fn with(self, identity: &Identity) -> Self {
        let identity = Some(identity.clone());
        Self { identity, ..self }
    }

    fn connector(&self) -> TlsConnector {
        let mut roots = RootCertStore::empty();
        let trusted = CertificateDer::from_pem_slice(self.trusted.as_bytes()).unwrap();
        roots.add(trusted).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_protocol_versions(&[self.version])
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match &self.identity {
            None => config.with_no_client_auth(),
            Some(Identity {
                certificate, key, ..
            }) => {
                let chain = CertificateDer::pem_slice_iter(certificate.as_bytes());
                let chain = chain.collect::<Result<_, _>>().unwrap();
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
                config.with_client_auth_cert(chain, key).unwrap()
            }
        };
        config.alpn_protocols.clone_from(&self.protocols);
        TlsConnector::from(Arc::new(config))
    }

    /// Connects, and exchanges one byte. Returns the identity that the server saw.
    async fn connect(&self, server: &TlsServer) -> Result<Option<ClientCertificate>, String> {
        let (ours, theirs) = duplex(64 * 1024);
        let asking = async {
            let name = "localhost".try_into().unwrap();
            let mut stream = self.connector().connect(name, ours).await?;
            stream.write_all(b"?").await?;
            stream.read_u8().await
        };
        let (asked, answered) = tokio::join!(asking, answer(server, theirs));
        let client = answered.map_err(|error| error.to_string())?;
        let answer = asked.map_err(|error| format!("client: {error}"))?;
        assert_eq!(answer, b'!');
        Ok(client)
    }
}

async fn answer(server: &TlsServer, stream: DuplexStream) -> io::Result<Option<ClientCertificate>> {
    let (mut stream, client) = server.accept(stream).await?;
    assert_eq!(stream.read_u8().await?, b'?');
    stream.write_all(b"!").await?;
    stream.flush().await?;
    Ok(client.map(|client| (**client.certificate()).clone()))
}

#[tokio::test]
async fn a_client_without_a_certificate_is_anonymous_with_each_version() {
    let stage = Stage::new();
    let server = stage.server();
    for version in [&TLS12, &TLS13] {
        for protocols in [vec![], vec![HTTP_1_1.to_vec()]] {
            let client = Client {
                protocols,
                version,
                ..stage.client()
            };
            assert_eq!(client.connect(&server).await, Ok(None));
        }
    }
}

#[tokio::test]
async fn a_client_that_only_speaks_http_2_is_refused() {
    let stage = Stage::new();
    let client = Client {
        protocols: vec![b"h2".to_vec()],
        ..stage.client()
    };
    let error = client.connect(&stage.server()).await.unwrap_err();
    assert!(
        error.contains("NoApplicationProtocol") || error.contains("support"),
        "{error}"
    );
}

#[tokio::test]
async fn a_verified_certificate_is_the_identity_of_the_client() {
    let stage = Stage::new();
    let until = SystemTime::UNIX_EPOCH + Duration::from_secs(4_000_000_000);
    let alice = stage.staff.client("alice", "ops", Some(until));
    for version in [&TLS12, &TLS13] {
        let client = Client {
            version,
            ..stage.client().with(&alice)
        };
        let seen = client.connect(&stage.server()).await.unwrap().unwrap();
        assert_eq!(seen.common_name, "alice");
        assert_eq!(seen.organizations, ["ops"]);
        assert_eq!(seen.expires_ms, 4_000_000_000_000);
    }
}

#[tokio::test]
async fn an_untrusted_certificate_of_a_client_fails_the_handshake() {
    let stage = Stage::new();
    let server = stage.server();
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for (identity, expected) in [
        (stage.company.client("alice", "ops", None), "UnknownIssuer"),
        (stage.staff.client("alice", "ops", Some(past)), "expired"),
        // For servers alone.
        (stage.staff.server(None), "key usage"),
    ] {
        let client = stage.client().with(&identity);
        let error = client.connect(&server).await.unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn a_revoked_certificate_fails_the_handshake() {
    let stage = Stage::new();
    let [alice, bob] = ["alice", "bob"].map(|name| stage.staff.client(name, "ops", None));
    stage.write("staff.crl", &stage.staff.revocation_list(&[&bob]));
    let settings = TlsSettings {
        client_crl: Some(stage.path("staff.crl")),
        ..stage.settings()
    };
    let server = TlsServer::load(settings, || NOW).unwrap();
    let seen = stage.client().with(&alice).connect(&server).await.unwrap();
    assert_eq!(seen.unwrap().common_name, "alice");
    let error = stage.client().with(&bob).connect(&server).await;
    let error = error.unwrap_err();
    assert!(error.contains("Revoked"), "{error}");
    assert_eq!(stage.client().connect(&server).await, Ok(None));
}

#[tokio::test]
async fn garbage_fails_the_handshake() {
    let stage = Stage::new();
    let server = stage.server();
    for garbage in [
        &b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..],
        &[0x16, 3, 1, 0xff, 0xff],
        &[0; 64],
        b"",
    ] {
        let (mut ours, theirs) = duplex(64 * 1024);
        ours.write_all(garbage).await.unwrap();
        ours.shutdown().await.unwrap();
        assert!(server.accept(theirs).await.is_err(), "{garbage:?}");
    }
}

#[tokio::test]
async fn changed_files_are_used_by_new_connections() {
    let stage = Stage::new();
    let server = stage.server();
    let alice = stage.staff.client("alice", "ops", None);
    let (ours, theirs) = duplex(64 * 1024);
    let name = "localhost".try_into().unwrap();
    let connector = stage.client().with(&alice).connector();
    let (open, accepted) = tokio::join!(connector.connect(name, ours), server.accept(theirs));
    let (mut open, (mut accepted, _)) = (open.unwrap(), accepted.unwrap());

    let new = Authority::new("new company");
    stage.write_server(&new.server(None));
    stage.write("staff.crt", new.certificate());
    let renewed = Client {
        trusted: new.certificate().to_owned(),
        ..stage.client()
    };
    let begin = Instant::now();
    tokio::select! {
        () = server.follow() => unreachable!("it does not end"),
        () = async {
            while renewed.connect(&server).await.is_err() {
                assert!(begin.elapsed() < Duration::from_mins(1), "not read again");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        } => {}
    }
    assert!(stage.client().connect(&server).await.is_err());
    let error = renewed.with(&alice).connect(&server).await.unwrap_err();
    assert!(error.contains("UnknownIssuer"), "{error}");
    // The open connection keeps working.
    open.write_all(b"?").await.unwrap();
    assert_eq!(accepted.read_u8().await.unwrap(), b'?');
}

/// The clients of open connections with these certificates.
async fn connected(stage: &Stage, server: &TlsServer, of: &[&Identity]) -> Vec<VerifiedClient> {
    let mut clients = Vec::new();
    for identity in of {
        let (ours, theirs) = duplex(64 * 1024);
        let name = "localhost".try_into().unwrap();
        let connector = stage.client().with(identity).connector();
        let (asked, accepted) = tokio::join!(connector.connect(name, ours), server.accept(theirs));
        asked.unwrap();
        clients.push(accepted.unwrap().1.unwrap());
    }
    clients
}

#[tokio::test]
async fn a_connected_client_is_distrusted_when_its_certificate_is_revoked() {
    let stage = Stage::new();
    let [alice, bob] = ["alice", "bob"].map(|name| stage.staff.client(name, "ops", None));
    stage.write("staff.crl", &stage.staff.revocation_list(&[]));
    let settings = TlsSettings {
        client_crl: Some(stage.path("staff.crl")),
        ..stage.settings()
    };
    let server = TlsServer::load(settings, || NOW).unwrap();
    let mut clients = connected(&stage, &server, &[&alice, &bob]).await;
    let [of_alice, of_bob] = clients.as_mut_slice() else {
        unreachable!()
    };
    stage.write_server(&stage.company.server(None));
    server.reload().unwrap();
    assert!(of_bob.distrusted().now_or_never().is_none(), "another file");
    stage.write("staff.crl", &stage.staff.revocation_list(&[&bob]));
    server.reload().unwrap();
    of_bob.distrusted().await;
    assert!(
        of_alice.distrusted().now_or_never().is_none(),
        "not revoked"
    );
    stage.write("staff.crl", "");
    assert!(server.reload().is_err());
    assert!(
        of_alice.distrusted().now_or_never().is_none(),
        "invalid files"
    );
}

#[tokio::test]
async fn a_connected_client_is_distrusted_when_its_authority_is_removed() {
    let stage = Stage::new();
    let server = stage.server();
    let alice = stage.staff.client("alice", "ops", None);
    let mut clients = connected(&stage, &server, &[&alice]).await;
    let new = Authority::new("new staff");
    let both = format!("{}{}", stage.staff.certificate(), new.certificate());
    stage.write("staff.crt", &both);
    server.reload().unwrap();
    let client = clients.first_mut().unwrap();
    assert!(
        client.distrusted().now_or_never().is_none(),
        "still trusted"
    );
    stage.write("staff.crt", new.certificate());
    server.reload().unwrap();
    client.distrusted().await;
}

#[tokio::test]
async fn an_invalid_change_keeps_the_previous_files() {
    let stage = Stage::new();
    let server = stage.server();
    let other = stage.company.server(None);
    stage.write("server.crt", &other.certificate);
    assert!(server.reload().is_err());
    assert_eq!(stage.client().connect(&server).await, Ok(None));
    stage.write("server.key", &other.key);
    server.reload().unwrap();
    assert_eq!(stage.client().connect(&server).await, Ok(None));
}

#[test]
fn files_that_cannot_be_used_are_refused_with_the_correct_form() {
    let stage = Stage::new();
    let settings = stage.settings();
    let cert = |cert: &str| TlsSettings {
        cert: stage.path(cert),
        ..settings.clone()
    };
    let key = |key: &str| TlsSettings {
        key: stage.path(key),
        ..settings.clone()
    };
    let client_ca = |name: &str| TlsSettings {
        client_ca: Some(stage.path(name)),
        ..settings.clone()
    };
    let client_crl = |name: &str| TlsSettings {
        client_crl: Some(stage.path(name)),
        ..settings.clone()
    };
    stage.write("empty", "");
    stage.write("other.key", &stage.company.server(None).key);
    stage.write(
        "encrypted.key",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
    );
    stage.write(
        "damaged",
        "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
    );
    stage.write("junk", JUNK);
    for (settings, expected) in [
        (cert("missing"), "`tls-cert`: read missing"),
        (
            cert("empty"),
            "`tls-cert` empty: expected PEM text that begins with `-----BEGIN CERTIFICATE-----`",
        ),
        (
            cert("damaged"),
            "`tls-cert` damaged: its PEM text is damaged: ",
        ),
        (cert("junk"), "`tls-cert` junk: it cannot be used: "),
        (
            key("empty"),
            "`tls-key` empty: expected PEM text that begins with `-----BEGIN PRIVATE KEY-----`",
        ),
        (key("junk"), "`tls-key` junk: it cannot be used: "),
        (
            key("encrypted.key"),
            "`tls-key` encrypted.key: its key is encrypted",
        ),
        (
            key("other.key"),
            "`tls-key` other.key: its key does not belong to the first certificate in server.crt; ",
        ),
        (client_ca("empty"), "`tls-client-ca` empty: expected PEM"),
        (
            client_ca("junk"),
            "`tls-client-ca` junk: it cannot be used: ",
        ),
        (
            client_crl("empty"),
            "`tls-client-crl` empty: expected PEM text that begins with `-----BEGIN X509 CRL-----`",
        ),
        (
            client_crl("junk"),
            "`tls-client-crl` junk: it cannot be used: ",
        ),
    ] {
        let error = stage.error(settings);
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_key_is_never_part_of_an_error() {
    let stage = Stage::new();
    let settings = stage.settings();
    let secret = fs::read_to_string(stage.path("server.key")).unwrap();
    let swapped = TlsSettings {
        cert: settings.key.clone(),
        key: settings.cert.clone(),
        ..settings.clone()
    };
    let error = stage.error(swapped);
    for line in secret.lines().filter(|line| !line.starts_with('-')) {
        assert!(!error.contains(line), "{error}");
    }
}

#[tokio::test]
async fn an_expired_certificate_is_served() {
    static CLOCK: AtomicI64 = AtomicI64::new(0);
    let stage = Stage::new();
    // Before and after the validity.
    for now in [0, i64::MAX] {
        CLOCK.store(now, Ordering::Relaxed);
        let server = TlsServer::load(stage.settings(), || CLOCK.load(Ordering::Relaxed)).unwrap();
        assert_eq!(stage.client().connect(&server).await, Ok(None));
    }
}
