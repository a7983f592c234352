//! Connections to an API server: HTTP/2 with pings, so that silence is noticed.

mod error;

use std::sync::Arc;
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper_rustls::{FixedServerNameResolver, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::{Body, ConfigExt as _};
use kube::{Client, Config};
use tower::{BoxError, ServiceBuilder};

use super::decode::Status;
use super::plugin::Token;
use super::told::chain;
pub(super) use error::ApiError;

/// Watches that share one connection. API servers allow 100 streams on one, and a list needs one too.
const WATCHES_PER_CONNECTION: usize = 80;
/// Time to connect.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// Time between two pings of a connection.
const PING_EVERY: Duration = Duration::from_secs(5);
/// Time for the answer to a ping: with [`PING_EVERY`] and one more try of [`ANSWER_MAX`], silence is told within
/// 30 s.
const PING_MAX: Duration = Duration::from_secs(4);
/// Time to make credentials and certificates out of a configuration.
const CREDENTIALS_MAX: Duration = Duration::from_mins(1);
/// Time until the head of an answer comes.
const ANSWER_MAX: Duration = Duration::from_secs(20);
/// Time until a whole answer comes.
const BODY_MAX: Duration = Duration::from_mins(1);
/// Maximum size of an answer that is not a watch, in bytes: one page of a list.
const BODY_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Maximum size of one event of a watch, in bytes.
const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Connections to one API server, made as they are needed.
pub(super) struct Connections {
    config: Config,
    token: Token,
    clients: Vec<ApiClient>,
}

impl Connections {
    /// Connections by this configuration, whose requests have this token if there is one.
    pub(super) fn new(config: Config, token: Token) -> Self {
        Self {
            config,
            token,
            clients: Vec::new(),
        }
    }

    /// The client for one more watch, over the first connection that has room for it.
    ///
    /// # Errors
    /// The credentials or certificates cannot be used, or the server cannot be reached.
    pub(super) async fn client(&mut self) -> Result<ApiClient, ApiError> {
        let has_room = |it: &&ApiClient| Arc::strong_count(&it.users) <= WATCHES_PER_CONNECTION;
        if let Some(client) = self.clients.iter().find(has_room) {
            return Ok(client.clone());
        }
        let client = ApiClient::connected(self.config.clone(), self.token.clone()).await?;
        self.clients.push(client.clone());
        Ok(client)
    }

    /// The clients of all connections.
    pub(super) fn clients(&self) -> &[ApiClient] {
        &self.clients
    }
}

/// A client over one connection.
#[derive(Clone)]
pub(super) struct ApiClient {
    client: Client,
    /// Held by each clone, so that they can be counted.
    users: Arc<()>,
}

impl ApiClient {
    /// A client with a connection of its own. Files may be read for it, which blocks.
    async fn connected(config: Config, token: Token) -> Result<Self, ApiError> {
        let made = tokio::task::spawn_blocking(move || connect(&config, token));
        let made = tokio::time::timeout(CREDENTIALS_MAX, made).await;
        let made = made.map_err(|_| {
            let seconds = CREDENTIALS_MAX.as_secs();
            ApiError::Credentials(format!("they were not read in {seconds} s"))
        })?;
        let made = made.map_err(ApiError::unreachable)?;
        let client = made.map_err(|error| ApiError::Credentials(chain(&*error)))?;
        let users = Arc::default();
        let client = Self { client, users };
        // Requests that begin before it is known that the server speaks HTTP/2 get a connection each.
        client.get("/version", "application/json").await?;
        Ok(client)
    }

    /// The body of a successful answer.
    ///
    /// # Errors
    /// [`ApiError`].
    pub(super) async fn get(&self, path: &str, accept: &str) -> Result<Vec<u8>, ApiError> {
        let mut body = self.send(path, accept).await?.into_body();
        let read = async {
            let mut bytes = Vec::new();
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(ApiError::unreachable)?;
                if let Ok(data) = frame.into_data() {
                    bytes.extend_from_slice(&data);
                }
                if bytes.len() > BODY_BYTES_MAX {
                    let size = format!("it has more than {BODY_BYTES_MAX} bytes");
                    return Err(ApiError::Unreadable(size));
                }
            }
            Ok(bytes)
        };
        match tokio::time::timeout(BODY_MAX, read).await {
            Ok(read) => read,
            Err(_) => Err(ApiError::Unreachable(format!(
                "no whole answer in {} s",
                BODY_MAX.as_secs()
            ))),
        }
    }

    /// The lines of an answer that does not end.
    ///
    /// # Errors
    /// [`ApiError`].
    pub(super) async fn lines(&self, path: &str, accept: &str) -> Result<Lines, ApiError> {
        let body = self.send(path, accept).await?.into_body();
        Ok(Lines {
            body,
            read: Vec::new(),
            searched: 0,
        })
    }

    async fn send(&self, path: &str, accept: &str) -> Result<Response<Body>, ApiError> {
        let request = Request::get(path).header(http::header::ACCEPT, accept);
        let request = request.body(Body::empty()).map_err(ApiError::unreachable)?;
        let answer = tokio::time::timeout(ANSWER_MAX, self.client.send(request)).await;
        let answer = answer.map_err(|_| {
            let seconds = ANSWER_MAX.as_secs();
            ApiError::Unreachable(format!("no answer in {seconds} s"))
        })?;
        let answer = answer.map_err(|error| match error {
            // Its own text says nothing but that.
            kube::Error::Service(cause) => ApiError::unreachable(cause),
            error => ApiError::unreachable(error),
        })?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        Err(ApiError::of_status(status_of(answer).await))
    }
}

/// The status of an answer that is an error.
async fn status_of(answer: Response<Body>) -> Status {
    /// Maximum size of the body of an error that is read, in bytes.
    const STATUS_BYTES_MAX: usize = 64 * 1024;
    let code = answer.status();
    let body = http_body_util::Limited::new(answer.into_body(), STATUS_BYTES_MAX);
    let body = tokio::time::timeout(ANSWER_MAX, body.collect()).await;
    let bytes = body
        .ok()
        .and_then(Result::ok)
        .map(http_body_util::Collected::to_bytes);
    let read = bytes.and_then(|bytes| serde_json::from_slice::<Status>(&bytes).ok());
    let known = code.canonical_reason().unwrap_or("an unknown status");
    let message = read.map(|it| it.message).filter(|it| !it.is_empty());
    Status {
        message: message.unwrap_or_else(|| known.to_owned()),
        code: code.as_u16().max(StatusCode::BAD_REQUEST.as_u16()),
    }
}

/// The lines of an answer as they come.
pub(super) struct Lines {
    body: Body,
    read: Vec<u8>,
    /// Bytes of `read` in which there is no end of a line.
    searched: usize,
}

impl Lines {
    /// The next line; none at the end of the answer.
    ///
    /// # Errors
    /// [`ApiError::Unreachable`] where the connection is lost.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, ApiError> {
        loop {
            let rest = self.read.get(self.searched..).unwrap_or_default();
            if let Some(at) = rest.iter().position(|&byte| byte == b'\n') {
                let after = self.read.split_off(self.searched + at + 1);
                self.searched = 0;
                return Ok(Some(std::mem::replace(&mut self.read, after)));
            }
            self.searched = self.read.len();
            if self.searched > EVENT_BYTES_MAX {
                let size = format!("an event has more than {EVENT_BYTES_MAX} bytes");
                return Err(ApiError::Unreadable(size));
            }
            match self.body.frame().await {
                None => return Ok(None),
                Some(frame) => {
                    let frame = frame.map_err(ApiError::unreachable)?;
                    if let Ok(data) = frame.into_data() {
                        self.read.extend_from_slice(&data);
                    }
                }
            }
        }
    }
}

/// A client with a connection of its own.
fn connect(config: &Config, token: Token) -> Result<Client, BoxError> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(CONNECT_MAX));
    let tls = config.rustls_client_config()?;
    let https = HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_or_http();
    let https = match &config.tls_server_name {
        Some(name) => {
            let name = name.clone().try_into()?;
            https.with_server_name_resolver(FixedServerNameResolver::new(name))
        }
        None => https,
    };
    let https = https.enable_all_versions().wrap_connector(http);
    let client: legacy::Client<_, Body> = legacy::Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .http2_keep_alive_interval(PING_EVERY)
        .http2_keep_alive_timeout(PING_MAX)
        .http2_keep_alive_while_idle(true)
        .build(https);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_request(move |mut request: Request<Body>| {
            if let Some(header) = token.header() {
                request.headers_mut().insert(AUTHORIZATION, header);
            }
            request
        })
        .map_err(BoxError::from)
        .service(client);
    Ok(Client::new(service, config.default_namespace.clone()))
}
