//! The client of an open connection, with its verified certificate.

use std::fmt;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_rustls::rustls::Error;
use tokio_rustls::rustls::pki_types::{CertificateDer, UnixTime};
use tokio_rustls::rustls::server::danger::ClientCertVerifier;

use crate::ClientCertificate;

/// The client of an open connection, whose certificate was verified in the handshake.
pub struct VerifiedClient {
    certificate: Arc<ClientCertificate>,
    /// The certificate and its intermediate authorities, as the client sent them.
    chain: Vec<CertificateDer<'static>>,
    trust: watch::Receiver<Arc<dyn ClientCertVerifier>>,
    clock: fn() -> i64,
}

impl VerifiedClient {
    /// A client with the certificate at the begin of `chain`. `trust` has not changed since the handshake began.
    pub(super) fn new(
        certificate: ClientCertificate,
        chain: &[CertificateDer<'_>],
        trust: watch::Receiver<Arc<dyn ClientCertVerifier>>,
        clock: fn() -> i64,
    ) -> Self {
        let chain = chain.iter().cloned().map(CertificateDer::into_owned);
        Self {
            certificate: Arc::new(certificate),
            chain: chain.collect(),
            trust,
            clock,
        }
    }

    /// The subject of the certificate.
    pub fn certificate(&self) -> &Arc<ClientCertificate> {
        &self.certificate
    }

    /// Waits until a change of the files makes the certificate untrusted: its authority was removed, or the certificate
    /// was revoked. The caller then closes the connection.
    ///
    /// Cancel-safe.
    pub async fn distrusted(&mut self) {
        while self.trust.changed().await.is_ok() {
            let verifier = Arc::clone(&self.trust.borrow_and_update());
            if let Err(error) = self.verify(&*verifier) {
                let name = &self.certificate.common_name;
                tracing::info!(name, %error, "the certificate of a connected client is no longer trusted");
                return;
            }
        }
        // Without a server, the files do not change.
        pending::<()>().await;
    }

    fn verify(&self, verifier: &dyn ClientCertVerifier) -> Result<(), Error> {
        let [leaf, intermediates @ ..] = self.chain.as_slice() else {
            return Err(Error::NoCertificatesPresented);
        };
        let now = Duration::from_millis((self.clock)().max(0).unsigned_abs());
        let now = UnixTime::since_unix_epoch(now);
        verifier.verify_client_cert(leaf, intermediates, now)?;
        Ok(())
    }
}

impl fmt::Debug for VerifiedClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifiedClient")
            .field("certificate", &self.certificate)
            .finish_non_exhaustive()
    }
}
