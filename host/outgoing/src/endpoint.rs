//! Endpoints: receivers with their settings, and requests to them.

use std::error::Error as _;
use std::fmt;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::Method;
use kindsight_model::clean;
use ureq::unversioned::resolver::{DefaultResolver, Resolver};
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, AsSendBody};

use crate::credentials::Credentials;
use crate::destinations::Destinations;
use crate::error::{Error, RequestError};
use crate::limits::{ANSWER_BYTES_MAX, CONNECT_TIME_MAX, HEAD_BYTES_MAX, TEXT_BYTES_MAX};
use crate::message::{Request, Response, retry_after};
use crate::resolver::CheckedResolver;
use crate::tls::{TlsContent, TlsFiles};
use crate::url::Url;

/// Name of this client in the logs of receivers.
const USER_AGENT: &str = concat!("kindsight/", env!("CARGO_PKG_VERSION"));

/// Settings of an endpoint, from the configuration.
#[derive(Clone, PartialEq, Eq)]
pub struct EndpointSettings {
    /// The URL below which requests go. Connections are encrypted unless the URL begins with `http://`.
    pub url: String,
    /// A PEM file with authorities, which alone are trusted. Without it, the authorities of the system are trusted.
    pub ca: Option<PathBuf>,
    /// PEM files with the certificate of the client and its private key.
    pub client_certificate: Option<(PathBuf, PathBuf)>,
    /// The credentials.
    pub credentials: Option<Credentials>,
    /// Maximum time of one request, from DNS to the end of the answer.
    pub timeout: Duration,
}

impl fmt::Debug for EndpointSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = Url::parse(&self.url).map_or_else(|_| "invalid".to_owned(), |url| url.origin);
        f.debug_struct("EndpointSettings")
            .field("origin", &origin)
            .field("credentials", &self.credentials)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Makes a client for the content of the files of TLS.
type MakeClient = dyn Fn(&TlsContent) -> Result<Agent, Error> + Send + Sync;

/// A receiver of requests. Clones share its connections, which are kept open for a few seconds.
#[derive(Clone)]
pub struct Endpoint(Arc<Inner>);

struct Inner {
    url: Url,
    credentials: Option<Credentials>,
    timeout: Duration,
    tls: TlsFiles,
    /// Makes a client for the present content of the files of TLS.
    make: Box<MakeClient>,
    /// The content of the files of TLS, and the client that has it.
    client: Mutex<(TlsContent, Agent)>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint").field(&self.0.url.origin).finish()
    }
}

impl Endpoint {
    /// An endpoint with these settings. Reads the files of TLS; does not connect.
    ///
    /// # Errors
    /// The URL is invalid, its host or address is not permitted, or a file of TLS does not have the expected content.
    pub fn new(
        settings: EndpointSettings,
        destinations: &Arc<Destinations>,
    ) -> Result<Self, Error> {
        Self::with_resolver(settings, destinations, DefaultResolver::default)
    }

    /// An endpoint that uses other resolvers of names than the system's.
    pub(crate) fn with_resolver<R: Resolver>(
        settings: EndpointSettings,
        destinations: &Arc<Destinations>,
        resolver: impl Fn() -> R + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let url = Url::parse(&settings.url)?;
        check(&url, destinations)?;
        if settings.timeout.is_zero() {
            return Err(Error::Timeout);
        }
        let tls = TlsFiles {
            ca: settings.ca,
            client_certificate: settings.client_certificate,
        };
        if !url.is_encrypted && !tls.is_empty() {
            return Err(Error::TlsWithoutHttps);
        }
        let (destinations, files) = (Arc::clone(destinations), tls.clone());
        let (is_encrypted, timeout) = (url.is_encrypted, settings.timeout);
        let make = move |content: &TlsContent| {
            let config = Agent::config_builder()
                .http_status_as_error(false)
                .max_redirects(0)
                .max_redirects_will_error(false)
                // Proxies of the environment would resolve names without the check.
                .proxy(None)
                .https_only(is_encrypted)
                .max_response_header_size(HEAD_BYTES_MAX)
                .timeout_connect(Some(CONNECT_TIME_MAX.min(timeout)))
                .timeout_global(Some(timeout))
                .user_agent(USER_AGENT)
                .tls_config(files.config(content)?)
                .build();
            let resolver = CheckedResolver {
                inner: resolver(),
                destinations: Arc::clone(&destinations),
            };
            Ok(Agent::with_parts(
                config,
                DefaultConnector::default(),
                resolver,
            ))
        };
        let content = tls.read()?;
        let client = make(&content)?;
        Ok(Self(Arc::new(Inner {
            url,
            credentials: settings.credentials,
            timeout,
            tls,
            make: Box::new(make),
            client: Mutex::new((content, client)),
        })))
    }

    /// The scheme, host and port of the URL, for messages. The path is a secret of some receivers.
    pub fn origin(&self) -> &str {
        &self.0.url.origin
    }

    /// Sends a request and receives its answer. Blocks, at most for the timeout of the endpoint.
    ///
    /// # Errors
    /// There is no answer. [`RequestError::is_unsent`] tells whether the receiver can have processed the request.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a request is sent once, and callers write it in place"
    )]
    pub fn request(&self, request: Request<'_>) -> Result<Response, RequestError> {
        let url = self.0.url.of_request(&request)?;
        let invalid = |error: http::Error| RequestError::Invalid(error.to_string());
        let mut built = http::Request::builder().method(&request.method).uri(url);
        for (name, value) in request.headers {
            built = built.header(*name, *value);
        }
        if let Some(credentials) = &self.0.credentials {
            built = built.header(http::header::AUTHORIZATION, credentials.header()?);
        }
        let has_body = !matches!(request.method, Method::GET | Method::HEAD | Method::DELETE)
            || !request.body.is_empty();
        if has_body {
            self.send(built.body(request.body).map_err(invalid)?)
        } else {
            self.send(built.body(()).map_err(invalid)?)
        }
    }

    fn send(&self, request: http::Request<impl AsSendBody>) -> Result<Response, RequestError> {
        let sent = self.client().run(request);
        let mut answer = sent.map_err(|error| self.failure(&error))?;
        // The client fails at its limit even if the body ends there.
        let limit = u64::try_from(ANSWER_BYTES_MAX).map_or(u64::MAX, |max| max.saturating_add(1));
        let body = answer.body_mut().with_config().limit(limit);
        let body = body.read_to_vec().map_err(|error| self.failure(&error))?;
        if body.len() > ANSWER_BYTES_MAX {
            return Err(RequestError::AnswerTooLarge(self.0.url.place()));
        }
        Ok(Response {
            status: answer.status().as_u16(),
            retry_after: retry_after(answer.headers()),
            headers: answer.headers().clone(),
            body,
        })
    }

    /// The client with the present content of the files of TLS. If a file cannot be used, such as while it is replaced,
    /// the previous client continues.
    fn client(&self) -> Agent {
        let held = self.0.client.lock();
        let mut held = held.unwrap_or_else(PoisonError::into_inner);
        if !self.0.tls.is_empty()
            && let Ok(content) = self.0.tls.read()
            && content != held.0
            && let Ok(client) = (self.0.make)(&content)
        {
            *held = (content, client);
        }
        held.1.clone()
    }

    /// The error for a failed request.
    fn failure(&self, error: &ureq::Error) -> RequestError {
        let place = self.0.url.place();
        match error {
            ureq::Error::Timeout(_) => {
                return RequestError::TimedOut {
                    host: place,
                    seconds: self.0.timeout.as_secs(),
                };
            }
            ureq::Error::BodyExceedsLimit(_) | ureq::Error::LargeResponseHeader(_, _) => {
                return RequestError::AnswerTooLarge(place);
            }
            ureq::Error::Other(cause) => {
                if let Some(error) = cause.downcast_ref::<RequestError>() {
                    return error.clone();
                }
            }
            _ => {}
        }
        if let Some(error) = tls_error(error) {
            let why = clean(&error.to_string(), TEXT_BYTES_MAX).into_owned();
            return RequestError::Tls(format!("TLS with {place} failed: {why}"));
        }
        let mut why = error.to_string();
        if let Some(cause) = error.source().map(ToString::to_string)
            && !why.contains(&cause)
        {
            why = format!("{why}: {cause}");
        }
        let why = clean(&why, TEXT_BYTES_MAX);
        let text = format!("{place} cannot be reached: {why}");
        if is_not_connected(error) {
            RequestError::NotConnected(text)
        } else {
            RequestError::Unreachable(text)
        }
    }
}

/// Returns whether no connection was made.
fn is_not_connected(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => true,
        ureq::Error::Io(error) => matches!(
            error.kind(),
            ErrorKind::ConnectionRefused
                | ErrorKind::HostUnreachable
                | ErrorKind::NetworkUnreachable
                | ErrorKind::AddrNotAvailable
        ),
        _ => false,
    }
}

/// Refuses a URL whose host or address no request may go to.
fn check(url: &Url, destinations: &Destinations) -> Result<(), Error> {
    if !destinations.permits_host(&url.host, url.port) {
        return Err(Error::HostNotListed { host: url.place() });
    }
    let address = url.address();
    match address.and_then(|address| destinations.refusal(address)) {
        Some(reason) => Err(Error::AddressForbidden {
            host: url.host.clone(),
            reason: reason.to_string(),
        }),
        None => Ok(()),
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
