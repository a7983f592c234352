//! TLS for the listener: the certificate of the server, and verified certificates of clients.
//!
//! ```text
//! files ─▶ TlsTexts ─▶ ServerConfig ◀─ replaced when the files change
//!                          │
//! connection ─▶ TlsServer::accept ─▶ TlsStream, VerifiedClient { ClientCertificate }
//! ```

mod client_certificate;
mod files;
mod verified_client;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::server::danger::ClientCertVerifier;

use crate::ClientCertificate;
use crate::files::follow_files;
use files::TlsTexts;
pub use files::{TlsError, TlsFile, TlsProblem};
pub use verified_client::VerifiedClient;

/// The most bytes that TLS holds for a client that does not read, in each direction and for each connection.
const TLS_BUFFER_BYTES_MAX: usize = 32 * 1024;

/// The protocol inside TLS of the REST API.
const HTTP_1_1: &[u8] = b"http/1.1";
/// The protocol inside TLS of gRPC.
const HTTP_2: &[u8] = b"h2";

/// A connection inside TLS.
pub type TlsStream<S> = tokio_rustls::server::TlsStream<S>;

/// The files of TLS, in PEM form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsSettings {
    /// The certificate of the server, followed by the intermediate certificates.
    pub cert: PathBuf,
    /// The private key of the certificate.
    pub key: PathBuf,
    /// The authorities that sign certificates of clients. Without this file, clients are not asked for certificates.
    pub client_ca: Option<PathBuf>,
    /// The revoked certificates of clients: one list for each authority that signs certificates of clients.
    pub client_crl: Option<PathBuf>,
}

/// The server's side of TLS. New connections use the files as they were last read.
pub struct TlsServer {
    settings: TlsSettings,
    current: ArcSwap<TlsConfig>,
    /// The check of certificates of clients. Its receivers belong to the open connections with such a certificate.
    trust: watch::Sender<Arc<dyn ClientCertVerifier>>,
    clock: fn() -> i64,
}

/// The files as they were read.
struct TlsConfig {
    texts: TlsTexts,
    /// For HTTP/1.1.
    http1: Arc<ServerConfig>,
    /// For HTTP/2, which gRPC needs.
    http2: Arc<ServerConfig>,
}

impl TlsConfig {
    fn new(texts: TlsTexts, config: &ServerConfig) -> Self {
        let of = |protocol: &[u8]| {
            let mut config = config.clone();
            config.alpn_protocols = vec![protocol.to_vec()];
            Arc::new(config)
        };
        Self {
            texts,
            http1: of(HTTP_1_1),
            http2: of(HTTP_2),
        }
    }
}

impl TlsServer {
    /// Reads and checks the files, which blocks. A certificate that is not valid now causes a warning. `clock` returns
    /// the time in Unix milliseconds.
    ///
    /// # Errors
    /// [`TlsError`] with the file, its problem and the correct form.
    pub fn load(settings: TlsSettings, clock: fn() -> i64) -> Result<Self, TlsError> {
        let texts = TlsTexts::read(&settings)?;
        let (config, verifier) = texts.config(&settings, clock())?;
        Ok(Self {
            settings,
            current: ArcSwap::from_pointee(TlsConfig::new(texts, &config)),
            trust: watch::Sender::new(verifier),
            clock,
        })
    }

    /// Reads the files again each time that they change. Invalid files are logged, and the previous files remain in
    /// use. Open connections are not affected, except by [`VerifiedClient::distrusted`]. The future does not end.
    pub async fn follow(&self) {
        let paths = self.settings.paths().cloned().collect();
        follow_files(paths, || {
            if let Err(error) = self.reload() {
                let error: &dyn std::error::Error = &error;
                tracing::error!(
                    error,
                    "a changed file of TLS is invalid; the previous files remain in use"
                );
            }
        })
        .await;
    }

    fn reload(&self) -> Result<(), TlsError> {
        let texts = TlsTexts::read(&self.settings)?;
        if texts == self.current.load().texts {
            return Ok(());
        }
        let (config, verifier) = texts.config(&self.settings, (self.clock)())?;
        let is_same_trust = texts.trusts_like(&self.current.load().texts);
        self.current.store(Arc::new(TlsConfig::new(texts, &config)));
        if !is_same_trust {
            self.trust.send_replace(verifier);
        }
        tracing::info!("new connections use the changed files of TLS");
        Ok(())
    }

    /// Performs the handshake on a new connection for HTTP/1.1. Returns the certificate of the client if the client has
    /// sent one. The caller limits the time.
    ///
    /// # Errors
    /// If the client does not speak TLS, agrees on no version, protocol or cipher, or has an untrusted certificate.
    pub async fn accept<S>(&self, stream: S) -> io::Result<(TlsStream<S>, Option<VerifiedClient>)>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        self.accept_as(stream, |config| &config.http1).await
    }

    /// As [`Self::accept`], for HTTP/2.
    ///
    /// # Errors
    /// As [`Self::accept`].
    pub async fn accept_http2<S>(
        &self,
        stream: S,
    ) -> io::Result<(TlsStream<S>, Option<VerifiedClient>)>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        self.accept_as(stream, |config| &config.http2).await
    }

    async fn accept_as<S>(
        &self,
        stream: S,
        protocol: fn(&TlsConfig) -> &Arc<ServerConfig>,
    ) -> io::Result<(TlsStream<S>, Option<VerifiedClient>)>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        // Before the files are used, so that no later change is missed.
        let trust = self.trust.subscribe();
        let acceptor = TlsAcceptor::from(Arc::clone(protocol(&self.current.load())));
        let accepted = acceptor.accept_with(stream, |session| {
            session.set_buffer_limit(Some(TLS_BUFFER_BYTES_MAX));
        });
        let stream = accepted.await?;
        let (_, session) = stream.get_ref();
        let client = session.peer_certificates().and_then(|chain| {
            let certificate = ClientCertificate::from_der(chain.first()?)?;
            Some(VerifiedClient::new(certificate, chain, trust, self.clock))
        });
        Ok((stream, client))
    }
}

impl fmt::Debug for TlsServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsServer")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
