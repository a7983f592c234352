//! Certificates: the certificate authority of a test, and the certificates that it signs.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose,
    RevokedCertParams, SerialNumber, date_time_ymd,
};

/// A certificate authority that exists for one test.
#[derive(Debug)]
pub struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
    /// The serial number of the next certificate.
    serial: AtomicU64,
}

/// A certificate with its private key, both as PEM.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The certificate.
    pub certificate: String,
    /// Its private key, as PKCS #8.
    pub key: String,
    serial: u64,
}

impl Authority {
    /// Makes an authority with a new key.
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![
            KeyUsagePurpose::KeyCertSign,
            KeyUsagePurpose::CrlSign,
            KeyUsagePurpose::DigitalSignature,
        ];
        params.distinguished_name.push(DnType::CommonName, name);
        let key = new_key();
        let certificate = params.self_signed(&key).expect("a certificate").pem();
        let issuer = Issuer::new(params, key);
        Self {
            certificate,
            issuer,
            serial: AtomicU64::new(1),
        }
    }

    /// The certificate of the authority as PEM, for programs that must trust it.
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Signs the certificate of a server on loopback, which is valid until this time. Without a
    /// time, it is valid longer than any test takes.
    pub fn server(&self, until: Option<SystemTime>) -> Identity {
        let names = ["127.0.0.1", "localhost"].map(str::to_owned);
        self.server_named(&names, until)
    }

    /// Signs the certificate of a server with these names and addresses, like [`Authority::server`].
    pub fn server_named(&self, names: &[String], until: Option<SystemTime>) -> Identity {
        let params = CertificateParams::new(names).expect("names of a server");
        self.sign(params, "server", ExtendedKeyUsagePurpose::ServerAuth, until)
    }

    /// Signs the certificate of a client. API servers read its user and group from it.
    pub fn client(&self, user: &str, group: &str, until: Option<SystemTime>) -> Identity {
        let mut params = CertificateParams::default();
        let name = &mut params.distinguished_name;
        name.push(DnType::OrganizationName, group);
        self.sign(params, user, ExtendedKeyUsagePurpose::ClientAuth, until)
    }

    /// Signs the list of the revoked certificates, as PEM.
    pub fn revocation_list(&self, revoked: &[&Identity]) -> String {
        let revoked = revoked.iter().map(|identity| RevokedCertParams {
            serial_number: identity.serial.into(),
            revocation_time: date_time_ymd(2026, 1, 1),
            reason_code: None,
            invalidity_date: None,
        });
        let params = CertificateRevocationListParams {
            this_update: date_time_ymd(2026, 1, 1),
            next_update: date_time_ymd(4096, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let list = params.signed_by(&self.issuer).expect("a revocation list");
        list.pem().expect("PEM")
    }

    fn sign(
        &self,
        mut params: CertificateParams,
        name: &str,
        usage: ExtendedKeyUsagePurpose,
        until: Option<SystemTime>,
    ) -> Identity {
        params.distinguished_name.push(DnType::CommonName, name);
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        params.serial_number = Some(serial.into());
        params.extended_key_usages = vec![usage];
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        if let Some(until) = until {
            let since_epoch = until.duration_since(UNIX_EPOCH).expect("a time after 1970");
            params.not_after = date_time_ymd(1970, 1, 1) + since_epoch;
        }
        let key = new_key();
        let certificate = params.signed_by(&key, &self.issuer);
        Identity {
            certificate: certificate.expect("a certificate").pem(),
            key: key.serialize_pem(),
            serial,
        }
    }
}

impl Identity {
    /// Writes `<name>.crt` and `<name>.key`.
    pub(crate) fn write(&self, folder: &Path, name: &str) {
        write(folder, &format!("{name}.crt"), &self.certificate);
        write(folder, &format!("{name}.key"), &self.key);
    }
}

pub(crate) fn new_key() -> KeyPair {
    KeyPair::generate().expect("a key")
}

pub(crate) fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
