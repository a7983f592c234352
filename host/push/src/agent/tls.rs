//! TLS of the agent: its files are read again when they change.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use hyper_rustls::ConfigBuilderExt as _;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use super::options::{Credentials, PushSetupError};

/// Maximum size of a file with certificates or a key, in bytes.
const PEM_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// The files of TLS.
#[derive(Debug, Clone)]
pub(super) struct TlsFiles {
    ca: Option<PathBuf>,
    /// The client certificate and its key.
    client: Option<(PathBuf, PathBuf)>,
}

/// The versions of the files at one time. Equal values mean unchanged files.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileVersions(Vec<Option<(SystemTime, u64)>>);

impl TlsFiles {
    pub(super) fn new(ca: Option<PathBuf>, credentials: &Credentials) -> Self {
        let client = match credentials {
            Credentials::Certificate { certificate, key } => {
                Some((certificate.clone(), key.clone()))
            }
            Credentials::None | Credentials::TokenFile(_) => None,
        };
        Self { ca, client }
    }

    /// The versions of the files now.
    pub(super) fn versions(&self) -> FileVersions {
        let client = self.client.iter().flat_map(|(cert, key)| [cert, key]);
        let files = self.ca.iter().chain(client);
        let versions = files.map(|path| {
            let metadata = fs::metadata(path).ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        });
        FileVersions(versions.collect())
    }

    /// Reads the files.
    pub(super) fn config(&self) -> Result<ClientConfig, PushSetupError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions();
        let invalid = |path: &Path, reason: String| PushSetupError::Tls {
            path: path.to_owned(),
            reason,
        };
        let builder = builder.map_err(|error| invalid(Path::new("TLS"), error.to_string()))?;
        let builder = match &self.ca {
            Some(path) => builder.with_root_certificates(roots(path)?),
            None => builder
                .with_native_roots()
                .map_err(PushSetupError::SystemCa)?,
        };
        let Some((certificate, key)) = &self.client else {
            return Ok(builder.with_no_client_auth());
        };
        let chain = certificates(certificate)?;
        let pem = read(key)?;
        let private = PrivateKeyDer::from_pem_slice(&pem);
        let private = private.map_err(|_| {
            let reason = "it holds no private key; expected PEM: `-----BEGIN PRIVATE KEY-----`";
            invalid(key, reason.to_owned())
        })?;
        let config = builder.with_client_auth_cert(chain, private);
        config.map_err(|error| invalid(key, error.to_string()))
    }
}

fn roots(path: &Path) -> Result<RootCertStore, PushSetupError> {
    let mut store = RootCertStore::empty();
    let (usable, _) = store.add_parsable_certificates(certificates(path)?);
    if usable == 0 {
        return Err(PushSetupError::Tls {
            path: path.to_owned(),
            reason: "it holds no usable certificate of an authority".to_owned(),
        });
    }
    Ok(store)
}

/// The certificates of a PEM file: at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, PushSetupError> {
    let pem = read(path)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let certificates = certificates.unwrap_or_default();
    if certificates.is_empty() {
        return Err(PushSetupError::Tls {
            path: path.to_owned(),
            reason: "it holds no certificate; expected PEM: `-----BEGIN CERTIFICATE-----`"
                .to_owned(),
        });
    }
    Ok(certificates)
}

fn read(path: &Path) -> Result<Vec<u8>, PushSetupError> {
    let failed = |reason: String| PushSetupError::Tls {
        path: path.to_owned(),
        reason,
    };
    let metadata = fs::metadata(path).map_err(|error| failed(error.to_string()))?;
    if metadata.len() > PEM_BYTES_MAX {
        let reason = format!(
            "it has {} bytes; at most {PEM_BYTES_MAX} are read",
            metadata.len()
        );
        return Err(failed(reason));
    }
    fs::read(path).map_err(|error| failed(error.to_string()))
}
