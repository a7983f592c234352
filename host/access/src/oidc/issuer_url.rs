//! URLs of an issuer.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use http::Uri;

/// Maximum length of a URL of an issuer, in bytes.
const URL_BYTES_MAX: usize = 2048;

/// The URL of an issuer or of one of its documents: `https`, or `http` on loopback, without a query.
///
/// The text is kept unchanged, because tokens repeat it and are compared with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerUrl(String);

/// The reason why a text is not an [`IssuerUrl`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` cannot be used for OIDC: use https://HOST[:PORT][/PATH], or http on a loopback address"
)]
pub struct IssuerUrlError(String);

impl IssuerUrl {
    /// The URL as the operator or the issuer wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The URL of the discovery document (OIDC Discovery 1.0, section 4).
    pub(super) fn discovery(&self) -> Result<Self, IssuerUrlError> {
        let base = self.0.trim_end_matches('/');
        format!("{base}/.well-known/openid-configuration").parse()
    }

    pub(super) fn has_scheme_of(&self, other: &Self) -> bool {
        self.scheme() == other.scheme()
    }

    fn scheme(&self) -> Option<&str> {
        self.0.split_once(':').map(|(scheme, _)| scheme)
    }
}

impl FromStr for IssuerUrl {
    type Err = IssuerUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_valid =
            text.len() <= URL_BYTES_MAX && text.parse().is_ok_and(|uri| is_allowed(&uri, text));
        let short = || text.chars().take(URL_BYTES_MAX).collect();
        is_valid
            .then(|| Self(text.to_owned()))
            .ok_or_else(|| IssuerUrlError(short()))
    }
}

fn is_allowed(uri: &Uri, text: &str) -> bool {
    let Some(host) = uri.host().filter(|host| !host.is_empty()) else {
        return false;
    };
    let has_user = uri
        .authority()
        .is_some_and(|authority| authority.as_str().contains('@'));
    let is_secure = match uri.scheme_str() {
        Some("https") => true,
        Some("http") => is_loopback(host),
        _ => false,
    };
    is_secure && !has_user && !text.contains(['?', '#'])
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let address = address.parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

impl fmt::Display for IssuerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_https_or_on_loopback() {
        let valid = [
            "https://login.example",
            "https://login.example:8443/realms/a/",
            "http://127.0.0.1:8080",
            "http://localhost:8080",
            "http://[::1]:8080/dex",
        ];
        for url in valid {
            assert_eq!(url.parse::<IssuerUrl>().unwrap().as_str(), url);
        }
        let invalid = [
            "",
            "login.example",
            "/path",
            "https://",
            "ftp://login.example",
            "http://login.example",
            "http://127.0.0.1.example",
            "https://me:secret@login.example",
            "https://login.example?a=b",
            "https://login.example#a",
            "https://login.example/ a",
        ];
        for url in invalid {
            assert!(url.parse::<IssuerUrl>().is_err(), "{url}");
        }
        let long = format!("https://login.example/{}", "a".repeat(URL_BYTES_MAX));
        assert!(long.parse::<IssuerUrl>().is_err());
    }

    #[test]
    fn the_discovery_document_is_below_the_path_of_the_issuer() {
        for url in ["https://a.example/realms/b", "https://a.example/realms/b/"] {
            let discovery = url.parse::<IssuerUrl>().unwrap().discovery().unwrap();
            let expected = "https://a.example/realms/b/.well-known/openid-configuration";
            assert_eq!(discovery.as_str(), expected);
        }
    }
}
