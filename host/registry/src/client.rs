//! The client of registries: its settings, and the repositories that it opens.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::authorization::Authorization;
use crate::credentials::DockerConfig;
use crate::error::Error;
use crate::layout::Layout;
use crate::limits::{PEM_BYTES_MAX, REQUEST_TIME_MAX};
use crate::reference::{Place, Reference};
use crate::remote::Remote;
use crate::repository::Repository;
use crate::transport::Transport;

/// Settings of connections to registries. The default trusts the authorities of the system, has no
/// credentials, and speaks HTTP only to registries on loopback addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientOptions {
    /// The credentials.
    pub docker: DockerConfig,
    /// A PEM file with trusted authorities. Without it, the authorities of the system are trusted.
    pub ca: Option<PathBuf>,
    /// Registries (`HOST` or `HOST:PORT`) that speak HTTP without TLS.
    pub plain_http: Vec<String>,
    /// Maximum time of a request for a manifest or a token, with its answer. A blob has two minutes.
    pub request_time_max: Duration,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            docker: DockerConfig::default(),
            ca: None,
            plain_http: Vec::new(),
            request_time_max: REQUEST_TIME_MAX,
        }
    }
}

/// The client of registries.
#[derive(Debug, Clone)]
pub struct Client {
    docker: DockerConfig,
    plain_http: Vec<String>,
    request_time_max: Duration,
    tls: TlsConfig,
}

impl Client {
    /// A client with these settings. Reads the file with authorities.
    ///
    /// # Errors
    /// [`Error::File`] and [`Error::NoAuthority`].
    pub fn new(options: ClientOptions) -> Result<Self, Error> {
        let roots = match &options.ca {
            Some(file) => authorities(file)?,
            None => RootCerts::PlatformVerifier,
        };
        let tls = TlsConfig::builder()
            .root_certs(roots)
            .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()));
        Ok(Self {
            docker: options.docker,
            plain_http: options.plain_http,
            request_time_max: options.request_time_max,
            tls: tls.build(),
        })
    }

    /// The repository of a reference. Does not connect yet.
    ///
    /// # Errors
    /// [`Error::NotALayout`] or [`Error::File`] for a layout folder.
    pub fn open(&self, reference: &Reference) -> Result<Repository, Error> {
        match &reference.place {
            Place::Registry { host, repository } => Ok(self.remote(reference, host, repository)),
            Place::Layout(path) => Ok(Repository::layout(Layout::open(path)?)),
        }
    }

    /// The repository of a reference that is written. Makes a missing layout folder.
    ///
    /// # Errors
    /// [`Error::NotALayout`] or [`Error::File`] for a layout folder.
    pub fn create(&self, reference: &Reference) -> Result<Repository, Error> {
        match &reference.place {
            Place::Registry { host, repository } => Ok(self.remote(reference, host, repository)),
            Place::Layout(path) => Ok(Repository::layout(Layout::create(path)?)),
        }
    }

    fn remote(&self, reference: &Reference, host: &str, repository: &str) -> Repository {
        let is_plain = self.plain_http.iter().any(|plain| plain == host);
        let transport = Transport::new(host, is_plain, self.request_time_max, self.tls.clone());
        let authorization = Authorization::new(self.docker.clone());
        let remote = Remote::new(transport, authorization, repository);
        Repository::remote(&reference.place, remote)
    }
}

fn authorities(file: &Path) -> Result<RootCerts, Error> {
    let failed = |source| Error::File {
        path: file.to_owned(),
        source,
    };
    let no_authority = || Error::NoAuthority {
        path: file.to_owned(),
    };
    if fs::metadata(file).map_err(failed)?.len() > PEM_BYTES_MAX {
        return Err(no_authority());
    }
    let pem = fs::read(file).map_err(failed)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let certificates = certificates.unwrap_or_default();
    if certificates.is_empty() {
        return Err(no_authority());
    }
    let certificates = certificates.iter();
    Ok(RootCerts::from(certificates.map(|certificate| {
        Certificate::from_der(certificate).to_owned()
    })))
}
