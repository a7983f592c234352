//! TLS of an endpoint: trusted authorities and a client certificate.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};
use zeroize::Zeroizing;

use crate::error::Error;
use crate::limits::PEM_BYTES_MAX;

/// The files of an endpoint's TLS.
#[derive(Clone)]
pub(crate) struct TlsFiles {
    pub(crate) ca: Option<PathBuf>,
    /// Certificate and private key.
    pub(crate) client_certificate: Option<(PathBuf, PathBuf)>,
}

/// The content of a file.
type Pem = Zeroizing<Vec<u8>>;

/// The content of the files, to notice a change.
#[derive(PartialEq, Eq)]
pub(crate) struct TlsContent {
    ca: Option<Pem>,
    client_certificate: Option<(Pem, Pem)>,
}

impl TlsFiles {
    /// Returns whether any file is configured.
    pub(crate) fn is_empty(&self) -> bool {
        self.ca.is_none() && self.client_certificate.is_none()
    }

    /// Reads the files.
    pub(crate) fn read(&self) -> Result<TlsContent, Error> {
        let read_pair = |(certificate, key): &(PathBuf, PathBuf)| {
            Ok::<_, Error>((read(certificate)?, read(key)?))
        };
        Ok(TlsContent {
            ca: self.ca.as_deref().map(read).transpose()?,
            client_certificate: self
                .client_certificate
                .as_ref()
                .map(read_pair)
                .transpose()?,
        })
    }

    /// The configuration for the content of the files. Without authorities, the authorities of the system are trusted.
    pub(crate) fn config(&self, content: &TlsContent) -> Result<TlsConfig, Error> {
        let provider = Arc::new(ring::default_provider());
        let roots = match (&self.ca, &content.ca) {
            (Some(path), Some(pem)) => authorities(path, pem)?,
            _ => RootCerts::PlatformVerifier,
        };
        let client = match (&self.client_certificate, &content.client_certificate) {
            (Some(paths), Some(pem)) => Some(identity(paths, pem, &provider)?),
            _ => None,
        };
        let config = TlsConfig::builder()
            .root_certs(roots)
            .client_cert(client)
            .unversioned_rustls_crypto_provider(provider);
        Ok(config.build())
    }
}

fn authorities(path: &Path, pem: &[u8]) -> Result<RootCerts, Error> {
    let certificates = certificates(path, pem)?;
    let (usable, _) =
        RootCertStore::empty().add_parsable_certificates(certificates.iter().cloned());
    if usable == 0 {
        return Err(Error::Content {
            path: path.to_owned(),
            what: "usable certificate of an authority",
        });
    }
    Ok(RootCerts::from(certificates.iter().map(of_ureq)))
}

fn identity(
    (certificate, key): &(PathBuf, PathBuf),
    (certificate_pem, key_pem): &(Pem, Pem),
    provider: &CryptoProvider,
) -> Result<ClientCert, Error> {
    let chain = certificates(certificate, certificate_pem)?;
    let no_key = || Error::Content {
        path: key.clone(),
        what: "private key in PEM form (`-----BEGIN PRIVATE KEY-----`)",
    };
    let private = PrivateKeyDer::from_pem_slice(key_pem).map_err(|_| no_key())?;
    CertifiedKey::from_der(chain.clone(), private, provider).map_err(|_| Error::KeyMismatch {
        key: key.clone(),
        certificate: certificate.clone(),
    })?;
    let chain: Vec<_> = chain.iter().map(of_ureq).collect();
    let private = PrivateKey::from_pem(key_pem).map_err(|_| no_key())?;
    Ok(ClientCert::new_with_certs(&chain, private))
}

fn of_ureq(certificate: &CertificateDer<'_>) -> Certificate<'static> {
    Certificate::from_der(certificate).to_owned()
}

/// The certificates of a PEM file: at least one.
fn certificates(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let certificates = certificates.unwrap_or_default();
    if certificates.is_empty() {
        return Err(Error::Content {
            path: path.to_owned(),
            what: "certificate in PEM form (`-----BEGIN CERTIFICATE-----`)",
        });
    }
    Ok(certificates)
}

fn read(path: &Path) -> Result<Pem, Error> {
    let failed = |source| Error::File {
        path: path.to_owned(),
        source,
    };
    if fs::metadata(path).map_err(failed)?.len() > PEM_BYTES_MAX {
        return Err(Error::Content {
            path: path.to_owned(),
            what: "PEM of at most 4 MiB",
        });
    }
    Ok(Zeroizing::new(fs::read(path).map_err(failed)?))
}
