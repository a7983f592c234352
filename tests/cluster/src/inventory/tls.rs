//! TLS of an inventory that demands client certificates.

use std::net::TcpStream;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use crate::{Authority, Identity};

/// The configuration of a server that accepts only clients with a certificate of an authority.
pub(super) fn config(identity: &Identity, clients_of: &Authority) -> Arc<ServerConfig> {
    let provider = Arc::new(ring::default_provider());
    let mut roots = RootCertStore::empty();
    let root = CertificateDer::from_pem_slice(clients_of.certificate().as_bytes());
    roots.add(root.expect("PEM")).expect("an authority");
    let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), Arc::clone(&provider));
    let certificate = CertificateDer::from_pem_slice(identity.certificate.as_bytes());
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes());
    let builder = ServerConfig::builder_with_provider(provider);
    let builder = builder
        .with_safe_default_protocol_versions()
        .expect("versions of TLS")
        .with_client_cert_verifier(verifier.build().expect("a verifier"));
    let config = builder.with_single_cert(
        vec![certificate.expect("a certificate")],
        key.expect("a key"),
    );
    Arc::new(config.expect("a key of the certificate"))
}

/// The encrypted stream. The handshake is part of the first read, which fails without a client certificate.
pub(super) fn accept(
    stream: TcpStream,
    config: Arc<ServerConfig>,
) -> StreamOwned<ServerConnection, TcpStream> {
    let connection = ServerConnection::new(config).expect("a connection");
    StreamOwned::new(connection, stream)
}
