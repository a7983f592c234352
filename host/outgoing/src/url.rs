//! The URL of an endpoint.

use std::net::IpAddr;

use http::Uri;

use crate::error::{Error, RequestError};
use crate::limits::URL_BYTES_MAX;
use crate::message::Request;

/// The URL of an endpoint: HTTP or HTTPS, a host, a path, and parameters.
#[derive(Clone)]
pub(crate) struct Url {
    pub(crate) is_encrypted: bool,
    /// The host, as in the URL: an IPv6 address has brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Scheme, host and port, without a path.
    pub(crate) origin: String,
    /// The path without a final slash.
    path: String,
    query: Option<String>,
}

impl Url {
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let invalid = |why| Error::Url { why };
        if text.len() > URL_BYTES_MAX {
            return Err(invalid("is longer than 2,048 bytes"));
        }
        if text.contains('#') {
            return Err(invalid("has a fragment (`#`)"));
        }
        let uri: Uri = text.parse().map_err(|_| invalid("cannot be read"))?;
        let is_encrypted = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(invalid("begins neither with `https://` nor with `http://`")),
        };
        let authority = uri.authority().ok_or_else(|| invalid("has no host"))?;
        if authority.as_str().contains('@') {
            return Err(invalid("has credentials; they belong into a file"));
        }
        if authority.host().is_empty() {
            return Err(invalid("has no host"));
        }
        let scheme = if is_encrypted { "https" } else { "http" };
        Ok(Self {
            is_encrypted,
            host: authority.host().to_owned(),
            port: authority
                .port_u16()
                .unwrap_or(if is_encrypted { 443 } else { 80 }),
            origin: format!("{scheme}://{authority}"),
            path: uri.path().trim_end_matches('/').to_owned(),
            query: uri.query().map(str::to_owned),
        })
    }

    /// The host with its port, for messages.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The address, if the host is one.
    pub(crate) fn address(&self) -> Option<IpAddr> {
        let name = self.host.trim_start_matches('[').trim_end_matches(']');
        name.parse().ok()
    }

    /// The URL of a request below this URL.
    pub(crate) fn of_request(&self, request: &Request<'_>) -> Result<String, RequestError> {
        let mut url = format!("{}{}", self.origin, self.path);
        if let Some(path) = request.path {
            let path = path.trim_start_matches('/');
            let is_dots = |segment: &str| segment == "." || segment == "..";
            if path.contains(['?', '#', '\\']) || path.split('/').any(is_dots) {
                let why = "a path of a request has parameters, a backslash or a segment of dots";
                return Err(RequestError::Invalid(why.to_owned()));
            }
            url.push('/');
            url.push_str(path);
        } else if self.path.is_empty() {
            url.push('/');
        }
        let mut separator = '?';
        if let Some(query) = &self.query {
            url.push(separator);
            url.push_str(query);
            separator = '&';
        }
        if !request.query.is_empty() {
            url.push(separator);
            let mut query = form_urlencoded::Serializer::new(String::new());
            url.push_str(&query.extend_pairs(request.query).finish());
        }
        Ok(url)
    }
}

#[cfg(test)]
mod tests {
    use http::Method;

    use super::*;

    fn of_request(url: &str, path: Option<&str>, query: &[(&str, &str)]) -> String {
        let request = Request {
            method: Method::GET,
            path,
            query,
            headers: &[],
            body: &[],
        };
        let url = Url::parse(url).map_err(|error| error.to_string()).unwrap();
        url.of_request(&request).unwrap()
    }

    #[test]
    fn paths_and_parameters_are_joined() {
        let joined = of_request("https://a.com:8443/aai/v14/", Some("b/c"), &[]);
        assert_eq!(joined, "https://a.com:8443/aai/v14/b/c");
        assert_eq!(of_request("https://a.com", None, &[]), "https://a.com/");
        let joined = of_request("http://a.com/b?key=1", None, &[("q", "x&y")]);
        assert_eq!(joined, "http://a.com/b?key=1&q=x%26y");
    }

    #[test]
    fn a_path_does_not_leave_the_url() {
        let url = Url::parse("https://a.com/aai").map_err(|error| error.to_string());
        let url = url.unwrap();
        for path in ["../b", "b/../../c", "b?c", "b#c", "./b", "b\\..\\c"] {
            let request = Request {
                method: Method::GET,
                path: Some(path),
                query: &[],
                headers: &[],
                body: &[],
            };
            let error = url.of_request(&request).unwrap_err();
            assert!(matches!(error, RequestError::Invalid(_)), "{path}");
        }
    }

    #[test]
    fn an_invalid_url_is_refused_without_its_text() {
        for url in [
            "",
            "/secret",
            "a.com/secret",
            "ftp://a.com/secret",
            "file:///secret",
            "https://",
            "https:///secret",
            "https://user:secret@a.com",
            "https://a.com/secret#b",
            "https://a.com/se cret",
        ] {
            let error = Url::parse(url).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains("https://HOST"), "{url}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
