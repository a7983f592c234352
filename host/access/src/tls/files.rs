//! The files of TLS: read, checked, and made into the configuration of new connections.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::{Error as PemError, PemObject};
use tokio_rustls::rustls::pki_types::{
    CertificateDer, CertificateRevocationListDer, PrivateKeyDer,
};
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use tokio_rustls::rustls::sign::{CertifiedKey, SingleCertAndKey};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{Error as RustlsError, InconsistentKeys, RootCertStore, ServerConfig};
use x509_parser::parse_x509_certificate;
use zeroize::Zeroizing;

use super::TlsSettings;
use super::client_certificate::milliseconds;
use crate::files::{self, AccessFileError};

/// The reason why the files of TLS cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("`{setting}`")]
    File {
        /// The setting that names the file.
        setting: TlsFile,
        /// The error with the file.
        source: AccessFileError,
    },
    /// The content of a file cannot be used.
    #[error("`{setting}` {}: {problem}", path.display())]
    Content {
        /// The setting that names the file.
        setting: TlsFile,
        /// The file.
        path: PathBuf,
        /// The problem, with the correct form.
        problem: TlsProblem,
    },
}

/// A setting that names a file of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsFile {
    /// The certificate of the server.
    Cert,
    /// Its private key.
    Key,
    /// The authorities of the certificates of clients.
    ClientCa,
    /// The revoked certificates of clients.
    ClientCrl,
}

/// The reason why the content of a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsProblem {
    /// It has no item of the expected type.
    #[error("expected PEM text that begins with `-----BEGIN {0}-----`")]
    Missing(&'static str),
    /// The PEM text is damaged.
    #[error("its PEM text is damaged: {0:?}")]
    Pem(PemError),
    /// Its key has a passphrase.
    #[error(
        "its key is encrypted; write the key without a passphrase, such as with `openssl pkey`"
    )]
    Encrypted,
    /// An item cannot be used.
    #[error("it cannot be used: {0}")]
    Unusable(String),
    /// The key belongs to another certificate.
    #[error(
        "its key does not belong to the first certificate in {}; that file must begin with the certificate of the server, and this file must have its key",
        cert.display()
    )]
    OtherKey {
        /// The file of the certificate.
        cert: PathBuf,
    },
}

impl TlsFile {
    /// The type of the items in the file, in PEM's words.
    fn label(self) -> &'static str {
        match self {
            Self::Cert | Self::ClientCa => "CERTIFICATE",
            Self::Key => "PRIVATE KEY",
            Self::ClientCrl => "X509 CRL",
        }
    }
}

impl fmt::Display for TlsFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cert => "tls-cert",
            Self::Key => "tls-key",
            Self::ClientCa => "tls-client-ca",
            Self::ClientCrl => "tls-client-crl",
        })
    }
}

impl TlsSettings {
    /// The paths of the files.
    pub(super) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let of_clients = self.client_ca.iter().chain(&self.client_crl);
        [&self.cert, &self.key].into_iter().chain(of_clients)
    }
}

/// The texts of the files.
#[derive(PartialEq, Eq)]
pub(super) struct TlsTexts {
    cert: String,
    key: Zeroizing<String>,
    client_ca: Option<String>,
    client_crl: Option<String>,
}

impl TlsTexts {
    /// Reads the files. Blocks.
    pub(super) fn read(settings: &TlsSettings) -> Result<Self, TlsError> {
        let text = |setting, path: &PathBuf| {
            files::read(path).map_err(|source| TlsError::File { setting, source })
        };
        let client_ca = settings.client_ca.as_ref();
        let client_crl = settings.client_crl.as_ref();
        Ok(Self {
            cert: text(TlsFile::Cert, &settings.cert)?,
            key: text(TlsFile::Key, &settings.key)?.into(),
            client_ca: client_ca
                .map(|path| text(TlsFile::ClientCa, path))
                .transpose()?,
            client_crl: client_crl
                .map(|path| text(TlsFile::ClientCrl, path))
                .transpose()?,
        })
    }

    /// Returns whether the same certificates of clients are trusted with other texts.
    pub(super) fn trusts_like(&self, other: &Self) -> bool {
        self.client_ca == other.client_ca && self.client_crl == other.client_crl
    }

    /// Checks the texts and makes a configuration of them without a protocol, with its check of certificates of clients. Warns about a certificate that is not valid at the time
    /// `now`, in Unix milliseconds.
    pub(super) fn config(
        &self,
        settings: &TlsSettings,
        now: i64,
    ) -> Result<(ServerConfig, Arc<dyn ClientCertVerifier>), TlsError> {
        let provider = Arc::new(default_provider());
        let key = self.certified_key(settings, &provider, now)?;
        let verifier = self.verifier(settings, &provider)?;
        let builder = ServerConfig::builder_with_provider(provider);
        let builder = builder
            .with_protocol_versions(&[&TLS13, &TLS12])
            .map_err(|error| unusable(TlsFile::Cert, &settings.cert, &error))?;
        let mut config = builder
            .with_client_cert_verifier(Arc::clone(&verifier))
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(key)));
        // A resumed session would not verify the certificate of the client again.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok((config, verifier))
    }

    /// The certificate of the server with its key.
    fn certified_key(
        &self,
        settings: &TlsSettings,
        provider: &CryptoProvider,
        now: i64,
    ) -> Result<CertifiedKey, TlsError> {
        let chain: Vec<CertificateDer<'static>> = items(TlsFile::Cert, &settings.cert, &self.cert)?;
        let fail = |problem| unfit(TlsFile::Key, &settings.key, problem);
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes());
        let key = key.map_err(|error| match error {
            _ if self.key.contains("ENCRYPTED") => fail(TlsProblem::Encrypted),
            error => fail(pem_problem(TlsFile::Key, error)),
        })?;
        if let Some(leaf) = chain.first() {
            check_validity(&settings.cert, leaf, now)?;
        }
        CertifiedKey::from_der(chain, key, provider).map_err(|error| match error {
            RustlsError::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                let cert = settings.cert.clone();
                fail(TlsProblem::OtherKey { cert })
            }
            error => unusable(TlsFile::Key, &settings.key, &error),
        })
    }

    /// The check of certificates of clients. Clients may connect without a certificate.
    fn verifier(
        &self,
        settings: &TlsSettings,
        provider: &Arc<CryptoProvider>,
    ) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
        let (Some(path), Some(text)) = (&settings.client_ca, &self.client_ca) else {
            return Ok(WebPkiClientVerifier::no_client_auth());
        };
        let fail = |error: &dyn fmt::Display| unusable(TlsFile::ClientCa, path, error);
        let mut roots = RootCertStore::empty();
        for authority in items(TlsFile::ClientCa, path, text)? {
            roots.add(authority).map_err(|error| fail(&error))?;
        }
        let roots = Arc::new(roots);
        let provider = Arc::clone(provider);
        let builder = WebPkiClientVerifier::builder_with_provider(roots, provider);
        let builder = builder.allow_unauthenticated();
        let (Some(path), Some(text)) = (&settings.client_crl, &self.client_crl) else {
            return builder.build().map_err(|error| fail(&error));
        };
        let lists: Vec<CertificateRevocationListDer<'static>> =
            items(TlsFile::ClientCrl, path, text)?;
        // Intermediate authorities are not checked: they would need lists of their own issuers.
        let builder = builder.with_crls(lists).only_check_end_entity_revocation();
        let built = builder.build();
        built.map_err(|error| unusable(TlsFile::ClientCrl, path, &error))
    }
}

/// Checks that the certificate of the server can be parsed. Warns if the certificate is not valid now. It is no error,
/// because a server without an answer would be harder to repair than a server that clients do not trust.
fn check_validity(path: &Path, leaf: &CertificateDer<'_>, now: i64) -> Result<(), TlsError> {
    let parsed = parse_x509_certificate(leaf);
    let (_, leaf) = parsed.map_err(|error| unusable(TlsFile::Cert, path, &error))?;
    let validity = leaf.validity();
    let (begin, end) = (&validity.not_before, &validity.not_after);
    let file = path.display();
    if now > milliseconds(end.timestamp()) {
        tracing::warn!(%file, expired = %end, "the TLS certificate of the server has expired; clients refuse it");
    } else if now < milliseconds(begin.timestamp()) {
        tracing::warn!(%file, valid_from = %begin, "the TLS certificate of the server is not valid yet; clients refuse it");
    }
    Ok(())
}

/// All items of one type in a text, at least one.
fn items<T: PemObject>(setting: TlsFile, path: &Path, text: &str) -> Result<Vec<T>, TlsError> {
    let read = T::pem_slice_iter(text.as_bytes()).collect::<Result<Vec<T>, PemError>>();
    let read = read.and_then(|items| {
        if items.is_empty() {
            Err(PemError::NoItemsFound)
        } else {
            Ok(items)
        }
    });
    read.map_err(|error| unfit(setting, path, pem_problem(setting, error)))
}

fn pem_problem(setting: TlsFile, error: PemError) -> TlsProblem {
    match error {
        PemError::NoItemsFound => TlsProblem::Missing(setting.label()),
        error => TlsProblem::Pem(error),
    }
}

fn unusable(setting: TlsFile, path: &Path, why: &(impl fmt::Display + ?Sized)) -> TlsError {
    unfit(setting, path, TlsProblem::Unusable(why.to_string()))
}

fn unfit(setting: TlsFile, path: &Path, problem: TlsProblem) -> TlsError {
    TlsError::Content {
        setting,
        path: path.to_owned(),
        problem,
    }
}
