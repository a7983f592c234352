//! The transports of a server: HTTP without access control, and HTTPS with access control.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kindsight_cluster::Authority;
use kindsight_server::Settings;
use kindsight_server::access::{AccessSettings, TlsSettings};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// Time after which a client gives up on an answer.
pub(crate) const ANSWER_MAX: Duration = Duration::from_mins(1);

/// The user of the client's certificate.
pub(crate) const USER: &str = "certificate:attacker";

/// The rights of the client: every case tests the rights of its requests elsewhere.
const ROLES: &str = r#"
[[binding]]
role = "viewer"
users = ["certificate:attacker"]

[[binding]]
role = "operator"
users = ["certificate:attacker"]
"#;

/// The transport of a case.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Transport {
    Http,
    Https,
}

/// A client for a transport. It trusts the certificate of its server alone, and authenticates with its own certificate.
pub(crate) enum Client {
    Http,
    Https(Arc<ClientConfig>),
}

/// An open connection.
pub(crate) enum Connection {
    Http(TcpStream),
    Https(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Transport {
    pub(crate) fn scheme(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// Adds the files of the transport to the settings of a server, and returns a client for this server.
    pub(crate) fn enable(self, settings: &mut Settings, folder: &Path) -> Client {
        let Self::Https = self else {
            return Client::Http;
        };
        let authority = Authority::new("tests");
        let identity = authority.server(None);
        let file = |name: &str, text: &str| {
            let path = folder.join(name);
            fs::write(&path, text).expect("a file");
            path
        };
        settings.tls = Some(TlsSettings {
            cert: file("server.crt", &identity.certificate),
            key: file("server.key", &identity.key),
            client_ca: Some(file("clients.crt", authority.certificate())),
            client_crl: None,
        });
        settings.access = Some(AccessSettings {
            roles: file("roles.toml", ROLES),
            tokens: Some(file("tokens.toml", "version = 1")),
            verifiers: Vec::new(),
            code_flow: None,
        });
        let mut roots = RootCertStore::empty();
        roots
            .add(certificate(authority.certificate()))
            .expect("a root");
        let own = authority.client("attacker", "tests", None);
        let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).expect("PEM");
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_client_auth_cert(vec![certificate(&own.certificate)], key)
            .expect("a certificate with its key");
        Client::Https(Arc::new(config))
    }
}

fn certificate(pem: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(pem.as_bytes()).expect("PEM")
}

impl Client {
    /// Connects, with the handshake of the transport.
    pub(crate) fn connect(&self, address: SocketAddr) -> io::Result<Connection> {
        let mut stream = connect(address)?;
        let Self::Https(config) = self else {
            return Ok(Connection::Http(stream));
        };
        let name = address.ip().into();
        let mut session =
            ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
        while session.is_handshaking() {
            session.complete_io(&mut stream)?;
        }
        Ok(Connection::Https(Box::new(StreamOwned::new(
            session, stream,
        ))))
    }
}

/// An open TCP connection with this client's timeouts.
pub(crate) fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, ANSWER_MAX)?;
    stream.set_read_timeout(Some(ANSWER_MAX))?;
    stream.set_write_timeout(Some(ANSWER_MAX))?;
    // Without this, a request waits until the server has acknowledged the end of the TLS handshake: 40 ms.
    stream.set_nodelay(true)?;
    Ok(stream)
}

impl Connection {
    /// The TCP connection, for its timeouts.
    pub(crate) fn tcp(&self) -> &TcpStream {
        match self {
            Self::Http(stream) => stream,
            Self::Https(stream) => &stream.sock,
        }
    }
}

impl Read for Connection {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Http(stream) => stream.read(bytes),
            Self::Https(stream) => stream.read(bytes),
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Http(stream) => stream.write(bytes),
            Self::Https(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Http(stream) => stream.flush(),
            Self::Https(stream) => stream.flush(),
        }
    }
}
