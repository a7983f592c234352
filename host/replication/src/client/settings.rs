//! Settings of an upstream host.

use std::net::IpAddr;
use std::path::PathBuf;

use http::Uri;

use crate::feed::FeedScope;

/// The upstream host that a follower requests.
#[derive(Debug, Clone)]
pub struct UpstreamSettings {
    /// URL of its REST API. Without TLS, only a loopback address is permitted.
    pub url: String,
    /// File with the token of a user who may see everything. Read for each connection.
    pub token_file: Option<PathBuf>,
    /// PEM file with the authorities that may sign its certificate, instead of the system's authorities.
    pub ca: Option<PathBuf>,
    /// The clusters that are followed.
    pub scope: FeedScope,
}

/// The reason why the settings of an upstream host are invalid.
#[derive(Debug, thiserror::Error)]
pub enum UpstreamSettingsError {
    /// Not a URL of a server.
    #[error(
        "`{0}` is no URL of a server; expected for example `https://kindsight.example.org:9015`"
    )]
    Url(String),
    /// A token or data would be sent over a network without encryption.
    #[error(
        "`{0}` has no TLS, and its host is not a loopback address; use `https://`, or a URL such as `http://127.0.0.1:9015`"
    )]
    NoTls(String),
    /// A file cannot be used.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// TLS cannot be used.
    #[error("TLS: {0}")]
    Tls(String),
}

impl UpstreamSettings {
    /// Scheme, host and port for messages, and the URL without a slash at its end.
    pub(super) fn server(&self) -> Result<(String, String), UpstreamSettingsError> {
        let invalid = || UpstreamSettingsError::Url(self.url.clone());
        let server = self.url.trim_end_matches('/');
        let uri: Uri = server.parse().map_err(|_| invalid())?;
        let (scheme, host) = uri.scheme_str().zip(uri.host()).ok_or_else(invalid)?;
        let has_user = uri.authority().is_some_and(|it| it.as_str().contains('@'));
        if uri.query().is_some() || has_user {
            return Err(invalid());
        }
        let name = match uri.port_u16() {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}"),
        };
        match scheme {
            "https" => Ok((name, server.to_owned())),
            "http" if is_loopback(host) => Ok((name, server.to_owned())),
            "http" => Err(UpstreamSettingsError::NoTls(name)),
            _ => Err(invalid()),
        }
    }
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    let address = host.parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(url: &str) -> Result<(String, String), UpstreamSettingsError> {
        let settings = UpstreamSettings {
            url: url.to_owned(),
            token_file: None,
            ca: None,
            scope: FeedScope::Every,
        };
        settings.server()
    }

    #[test]
    fn a_url_needs_tls_unless_its_host_is_this_machine() {
        for (url, name) in [
            ("https://a.example/", "https://a.example"),
            ("https://a.example:9015", "https://a.example:9015"),
            ("http://127.0.0.1:9015", "http://127.0.0.1:9015"),
            ("http://[::1]:9015", "http://[::1]:9015"),
            ("http://localhost:9015", "http://localhost:9015"),
        ] {
            assert_eq!(server(url).unwrap().0, name);
        }
        let refused = server("http://a.example:9015");
        assert!(matches!(refused, Err(UpstreamSettingsError::NoTls(_))));
        for url in [
            "",
            "a.example:9015",
            "ftp://a.example",
            "https://a.example?x",
            "https://u:p@a.example",
        ] {
            assert!(
                matches!(server(url), Err(UpstreamSettingsError::Url(_))),
                "{url}"
            );
        }
    }
}
