//! TLS of the client: trusted authorities, a client certificate, and the texts for failures.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, Error, RootCertStore};
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};

/// Most bytes of a file with certificates or a key.
const PEM_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Files of the TLS settings of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TlsFiles {
    /// Authorities that alone are trusted; without a file, the system's authorities are.
    pub(crate) ca: Option<PathBuf>,
    /// The certificate that the client shows, with its chain.
    pub(crate) client_cert: Option<PathBuf>,
    /// The private key of this certificate.
    pub(crate) client_key: Option<PathBuf>,
}

impl TlsFiles {
    /// Reads the files.
    ///
    /// # Errors
    /// A file cannot be read or has not the expected content, the key belongs to another certificate, or one of
    /// certificate and key is missing.
    pub(crate) fn load(&self) -> anyhow::Result<TlsConfig> {
        let provider = Arc::new(ring::default_provider());
        let roots = match &self.ca {
            Some(file) => authorities(file)?,
            None => RootCerts::PlatformVerifier,
        };
        let client = match (&self.client_cert, &self.client_key) {
            (Some(certificate), Some(key)) => Some(identity(certificate, key, &provider)?),
            (None, None) => None,
            (Some(_), None) => anyhow::bail!(
                "the client certificate needs its private key: --client-key, KINDSIGHT_CLIENT_KEY or `client-key`"
            ),
            (None, Some(_)) => anyhow::bail!(
                "the client key needs its certificate: --client-cert, KINDSIGHT_CLIENT_CERT or `client-cert`"
            ),
        };
        let config = TlsConfig::builder()
            .root_certs(roots)
            .client_cert(client)
            .unversioned_rustls_crypto_provider(provider);
        Ok(config.build())
    }
}

/// The advice for a connection that failed because of TLS; `None` if it failed for another reason.
pub(crate) fn advice(error: &ureq::Error) -> Option<&'static str> {
    let error = match error {
        ureq::Error::Rustls(error) => error,
        ureq::Error::Io(error) => error.get_ref()?.downcast_ref()?,
        _ => return None,
    };
    Some(match error {
        // rustls has no variant of its own for it.
        Error::InvalidCertificate(CertificateError::Other(why))
            if why.to_string().contains("CaUsedAsEndEntity") =>
        {
            "the certificate of the server is the certificate of an authority; a server needs one with the basic constraint `CA:FALSE`, which also a self-signed certificate can have (docs/tls.md)"
        }
        Error::InvalidCertificate(_) | Error::General(_) => {
            "the certificate of the server is not trusted; --ca FILE (or `ca` of a named server) names the PEM file with the authority that signed it"
        }
        Error::AlertReceived(_) => {
            "the server refused the TLS connection; it may require a client certificate of an authority that it trusts: --client-cert and --client-key"
        }
        _ => {
            "the TLS connection failed; does the server speak TLS at this address, or is its URL `http://`?"
        }
    })
}

fn authorities(file: &Path) -> anyhow::Result<RootCerts> {
    let certificates = certificates(file)?;
    let (usable, _) =
        RootCertStore::empty().add_parsable_certificates(certificates.iter().cloned());
    anyhow::ensure!(
        usable > 0,
        "{} holds no usable certificate of an authority",
        file.display()
    );
    Ok(RootCerts::from(certificates.iter().map(of_ureq)))
}

fn identity(
    certificate: &Path,
    key: &Path,
    provider: &CryptoProvider,
) -> anyhow::Result<ClientCert> {
    let chain = certificates(certificate)?;
    let pem = pem(key)?;
    let private = PrivateKeyDer::from_pem_slice(&pem).map_err(|_| {
        anyhow::anyhow!(
            "{} holds no private key; expected PEM: `-----BEGIN PRIVATE KEY-----`",
            key.display()
        )
    })?;
    // The HTTP client requires a key that fits.
    CertifiedKey::from_der(chain.clone(), private, provider).with_context(|| {
        let (certificate, key) = (certificate.display(), key.display());
        format!("the private key in {key} does not fit the certificate in {certificate}")
    })?;
    let chain: Vec<_> = chain.iter().map(of_ureq).collect();
    Ok(ClientCert::new_with_certs(
        &chain,
        PrivateKey::from_pem(&pem)?,
    ))
}

fn of_ureq(certificate: &CertificateDer<'_>) -> Certificate<'static> {
    Certificate::from_der(certificate).to_owned()
}

/// The certificates of a PEM file: at least one.
fn certificates(file: &Path) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let pem = pem(file)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let certificates = certificates.unwrap_or_default();
    anyhow::ensure!(
        !certificates.is_empty(),
        "{} holds no certificate; expected PEM: `-----BEGIN CERTIFICATE-----`",
        file.display()
    );
    Ok(certificates)
}

fn pem(file: &Path) -> anyhow::Result<Vec<u8>> {
    let failed = || format!("read {}", file.display());
    let size = std::fs::metadata(file).with_context(failed)?.len();
    anyhow::ensure!(
        size <= PEM_BYTES_MAX,
        "{} has {size} bytes; certificates and keys have at most {PEM_BYTES_MAX}",
        file.display()
    );
    std::fs::read(file).with_context(failed)
}
