//! HTTP to one registry: limits of time and size, TLS, redirects, and errors by their cause.

use std::error::Error as _;
use std::net::IpAddr;
use std::sync::OnceLock;
use std::time::Duration;

use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, Method, StatusCode, header};
use kindsight_model::clean;
use serde::Deserialize;
use ureq::config::RedirectAuthHeaders;
use ureq::tls::TlsConfig;
use ureq::{Agent, Timeout};

use crate::error::Error;
use crate::limits::{CONNECT_TIME_MAX, REDIRECTS_MAX, REFUSAL_BYTES_MAX, TEXT_BYTES_MAX};

/// Name of this client in the logs of registries.
const USER_AGENT: &str = concat!("kindsight/", env!("CARGO_PKG_VERSION"));

/// The connection to one registry.
#[derive(Debug)]
pub(crate) struct Transport {
    host: String,
    /// True if the operator permitted HTTP for this registry.
    is_plain: bool,
    /// Maximum time of a request without a time of its own.
    request_time_max: Duration,
    agent: Agent,
    /// The scheme that the registry speaks, once it is known.
    scheme: OnceLock<&'static str>,
}

/// A request.
pub(crate) struct Request<'r> {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// The body. A body of length 0 is sent as such.
    pub(crate) body: Option<&'r [u8]>,
    /// Maximum size of the body of a successful answer, in bytes, and its name in errors.
    pub(crate) bytes_max: (usize, &'static str),
    /// Maximum time until the answer was received, or `None` for the time of the transport.
    pub(crate) time_max: Option<Duration>,
}

impl Request<'_> {
    /// A request without headers and body.
    pub(crate) fn new(method: Method, url: String) -> Self {
        Self {
            method,
            url,
            headers: Vec::new(),
            body: None,
            bytes_max: (REFUSAL_BYTES_MAX, "an answer"),
            time_max: None,
        }
    }
}

/// An answer, with its body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The value of a header, if it is text.
    pub(crate) fn header(&self, name: impl header::AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The reason that a registry states for a refusal.
    pub(crate) fn reason(&self) -> String {
        let stated = serde_json::from_slice::<Refusals>(&self.body).ok();
        let first = stated.and_then(|stated| stated.errors.into_iter().next());
        let text = match first {
            Some(Refusal { code, message }) if message.is_empty() => code,
            Some(Refusal { code, message }) => format!("{message} ({code})"),
            None => String::new(),
        };
        if text.is_empty() {
            return self
                .status
                .canonical_reason()
                .unwrap_or("no reason")
                .to_owned();
        }
        clean(&text, TEXT_BYTES_MAX).into_owned()
    }
}

/// The body of a refusal, by the OCI distribution specification.
#[derive(Deserialize)]
struct Refusals {
    errors: Vec<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    code: String,
    #[serde(default)]
    message: String,
}

impl Transport {
    /// A transport to a host. Connects at the first request.
    pub(crate) fn new(
        host: &str,
        is_plain: bool,
        request_time_max: Duration,
        tls: TlsConfig,
    ) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(REDIRECTS_MAX)
            // The store of blobs behind a registry is another host and must not get credentials.
            .redirect_auth_headers(RedirectAuthHeaders::SameHost)
            .timeout_connect(Some(CONNECT_TIME_MAX))
            .user_agent(USER_AGENT)
            .tls_config(tls)
            .build();
        Self {
            host: host.to_owned(),
            is_plain,
            request_time_max,
            agent: agent.into(),
            scheme: OnceLock::new(),
        }
    }

    /// The host, with its port.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// `https`, or `http` for a registry that speaks only HTTP: one that the operator permitted,
    /// or one on a loopback address.
    pub(crate) fn scheme(&self) -> Result<&'static str, Error> {
        if let Some(scheme) = self.scheme.get() {
            return Ok(scheme);
        }
        let scheme = if self.is_plain {
            "http"
        } else if is_loopback(&self.host) && self.speaks_http()? {
            tracing::debug!(registry = self.host, "the registry speaks HTTP");
            "http"
        } else {
            "https"
        };
        Ok(self.scheme.get_or_init(|| scheme))
    }

    /// Returns whether the host answers a TLS handshake with something else than TLS.
    fn speaks_http(&self) -> Result<bool, Error> {
        let url = format!("https://{}/v2/", self.host);
        let probe = self.agent.get(url).config();
        let time_max = self.request_time_max;
        let probe = probe.timeout_global(Some(time_max)).build().call();
        match probe {
            Ok(_) => Ok(false),
            Err(error) => match tls_error(&error) {
                Some(rustls::Error::InvalidMessage(_)) => Ok(true),
                _ => Err(self.failure(&error, time_max)),
            },
        }
    }

    /// Sends a request and receives its answer. A status is not an error here.
    pub(crate) fn send(&self, request: &Request<'_>) -> Result<Answer, Error> {
        let time_max = request.time_max.unwrap_or(self.request_time_max);
        let failure = |error: &ureq::Error| self.failure(error, time_max);
        let is_encrypted = request.url.starts_with("https://");
        let mut built = http::Request::builder()
            .method(request.method.clone())
            .uri(&request.url);
        for (name, value) in &request.headers {
            built = built.header(name, value);
        }
        let agent = &self.agent;
        let invalid = |error: http::Error| failure(&ureq::Error::from(error));
        let sent = if let Some(body) = request.body {
            let built = agent.configure_request(built.body(body).map_err(invalid)?);
            let built = built.timeout_global(Some(time_max));
            agent.run(built.https_only(is_encrypted).build())
        } else {
            let built = agent.configure_request(built.body(()).map_err(invalid)?);
            let built = built.timeout_global(Some(time_max));
            agent.run(built.https_only(is_encrypted).build())
        };
        let mut response = sent.map_err(|error| failure(&error))?;
        let status = response.status();
        let (bytes_max, limit) = if status.is_success() {
            request.bytes_max
        } else {
            (REFUSAL_BYTES_MAX, "a refusal")
        };
        let body = response.body_mut().with_config();
        let body = body.limit(u64::try_from(bytes_max).unwrap_or(u64::MAX));
        let body = match body.read_to_vec() {
            Ok(body) => body,
            // The status counts, and the reason is not needed.
            Err(ureq::Error::BodyExceedsLimit(_)) if !status.is_success() => Vec::new(),
            Err(ureq::Error::BodyExceedsLimit(_)) => {
                return Err(Error::TooLarge {
                    what: format!("the answer of the registry {}", self.host),
                    bytes_max,
                    limit,
                });
            }
            Err(error) => return Err(failure(&error)),
        };
        Ok(Answer {
            status,
            headers: response.headers().clone(),
            body,
        })
    }

    /// The error for a failed request.
    fn failure(&self, error: &ureq::Error, time_max: Duration) -> Error {
        let host = self.host.clone();
        if let Some(error) = tls_error(error) {
            let why = clean(&error.to_string(), TEXT_BYTES_MAX).into_owned();
            return Error::Tls { host, why };
        }
        let time_max = match error {
            ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => Some(CONNECT_TIME_MAX),
            ureq::Error::Timeout(_) => Some(time_max),
            _ => None,
        };
        if let Some(time_max) = time_max {
            let seconds = time_max.as_secs();
            return Error::TimedOut { host, seconds };
        }
        let mut why = error.to_string();
        if let Some(cause) = error.source().map(ToString::to_string)
            && !why.contains(&cause)
        {
            why = format!("{why}: {cause}");
        }
        let why = clean(&why, TEXT_BYTES_MAX).into_owned();
        Error::Unreachable { host, why }
    }
}

/// The error of TLS inside an error, if there is one.
fn tls_error(error: &ureq::Error) -> Option<&rustls::Error> {
    match error {
        ureq::Error::Rustls(error) => Some(error),
        ureq::Error::Io(error) => error.get_ref()?.downcast_ref(),
        _ => None,
    }
}

/// Returns whether a host, with or without a port, is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let address = name.parse::<IpAddr>().ok();
    name == "localhost" || address.is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_this_machine_are_loopback() {
        for host in [
            "localhost",
            "localhost:5000",
            "127.0.0.1:5000",
            "[::1]:5000",
            "[::1]",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["localhost.example.com", "10.0.0.1:5000", "127.0.0.1.nip.io"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
