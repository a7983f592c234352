//! The identity in the certificate of a client.

use x509_parser::parse_x509_certificate;
use x509_parser::x509::AttributeTypeAndValue;

use crate::ClientCertificate;

impl ClientCertificate {
    /// Reads a certificate that was verified. `None` if its subject does not name one user, with the reason in the log.
    pub(super) fn from_der(der: &[u8]) -> Option<Self> {
        let read = Self::read(der);
        if let Err(why) = &read {
            tracing::debug!(why, "the certificate of a client names no user");
        }
        read.ok()
    }

    fn read(der: &[u8]) -> Result<Self, &'static str> {
        let parsed = parse_x509_certificate(der);
        let (_, certificate) = parsed.map_err(|_| "the certificate cannot be parsed")?;
        let subject = certificate.subject();
        let mut common_names = subject.iter_common_name();
        let (Some(common_name), None) = (common_names.next(), common_names.next()) else {
            return Err("its subject must have exactly one common name");
        };
        let organizations = subject.iter_organization().map(name);
        Ok(Self {
            common_name: name(common_name)?,
            organizations: organizations.collect::<Result<_, _>>()?,
            expires_ms: milliseconds(certificate.validity().not_after.timestamp()),
        })
    }
}

/// The text of an attribute.
fn name(attribute: &AttributeTypeAndValue<'_>) -> Result<String, &'static str> {
    let text = attribute.as_str();
    let text = text.map_err(|_| "a name in its subject is not a UTF-8 text")?;
    Ok(text.to_owned())
}

/// A time of a certificate in Unix milliseconds.
pub(super) fn milliseconds(seconds: i64) -> i64 {
    seconds.saturating_mul(1000)
}
