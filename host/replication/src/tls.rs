//! The client of an upstream host.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Empty;
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use crate::client::UpstreamSettingsError;

/// Maximum size of a file with certificates or a token, in bytes.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Time for a connection.
pub(crate) const CONNECT_MAX: Duration = Duration::from_secs(5);

pub(crate) type Https = Client<HttpsConnector<HttpConnector>, Empty<&'static [u8]>>;

/// A client that trusts the authorities of a file, or of the system. A URL with `http` is not encrypted; the settings
/// permit it only for a loopback address.
pub(crate) fn client(ca: Option<&Path>) -> Result<Https, UpstreamSettingsError> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT_MAX));
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(config(ca)?)
        .https_or_http()
        .enable_http1()
        .wrap_connector(tcp);
    Ok(Client::builder(TokioExecutor::new()).build(connector))
}

fn config(ca: Option<&Path>) -> Result<ClientConfig, UpstreamSettingsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| UpstreamSettingsError::Tls(error.to_string()))?;
    let builder = match ca {
        Some(path) => builder.with_root_certificates(roots(path)?),
        None => builder
            .with_native_roots()
            .map_err(|error| UpstreamSettingsError::Tls(error.to_string()))?,
    };
    Ok(builder.with_no_client_auth())
}

fn roots(path: &Path) -> Result<RootCertStore, UpstreamSettingsError> {
    let unusable = |reason: String| UpstreamSettingsError::File {
        path: path.to_owned(),
        reason,
    };
    let pem = read(path).map_err(unusable)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    let mut store = RootCertStore::empty();
    let (usable, _) = store.add_parsable_certificates(certificates.unwrap_or_default());
    if usable == 0 {
        let reason =
            "it holds no certificate of an authority; expected PEM: `-----BEGIN CERTIFICATE-----`";
        return Err(unusable(reason.to_owned()));
    }
    Ok(store)
}

/// Reads a file of limited size.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, String> {
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    if metadata.len() > FILE_BYTES_MAX {
        let size = metadata.len();
        return Err(format!(
            "it has {size} bytes; at most {FILE_BYTES_MAX} are read"
        ));
    }
    fs::read(path).map_err(|error| error.to_string())
}
