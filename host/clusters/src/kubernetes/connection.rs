//! Connections to an API server: HTTP/2 with pings, which detect a silent server.

mod call;
mod connect;
mod error;
mod exchange;
mod lines;
mod same_cluster;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER};
use http::{Request, Response, StatusCode, request};
use http_body_util::BodyExt as _;
use kube::client::Body;
use kube::{Client, Config};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::Access;
use super::decode::{Status, StatusDetails};
use super::error_text::without_credentials;
use super::plugin::{Plugin, Token};
pub(super) use call::Reply;
use connect::connect;
pub(super) use error::{ApiError, ResponseClass};
pub(super) use lines::{Line, Lines};
pub(super) use same_cluster::OTHER_CLUSTER;
use same_cluster::{Dials, SameCluster};

/// The media type of requests and answers.
const JSON: &str = "application/json";
/// Watches on one connection. API servers allow 100 streams on a connection, and lists need streams too.
const WATCHES_PER_CONNECTION: usize = 80;
/// Time to make credentials and certificates out of a configuration.
const CREDENTIALS_MAX: Duration = Duration::from_mins(1);
/// Time for the head of a response.
const ANSWER_MAX: Duration = Duration::from_secs(20);
/// Time for a complete response.
const BODY_MAX: Duration = Duration::from_mins(1);
/// Maximum size of a response that is not a watch, in bytes: one page of a list.
const BODY_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Maximum size of one event of a watch, in bytes.
const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The limits of one request.
const LIMITS: RequestLimits = RequestLimits {
    answer: if cfg!(test) {
        Duration::from_secs(3)
    } else {
        ANSWER_MAX
    },
    body_bytes: if cfg!(test) {
        256 * 1024
    } else {
        BODY_BYTES_MAX
    },
    event_bytes: if cfg!(test) {
        16 * 1024
    } else {
        EVENT_BYTES_MAX
    },
};

/// Limits of one request. Tests have lower ones.
struct RequestLimits {
    /// Time for the head of a response.
    answer: Duration,
    body_bytes: usize,
    event_bytes: usize,
}

/// Connections to one API server, made when they are needed. All of them lead to the same cluster. Clones share them.
#[derive(Clone)]
pub(super) struct Connections(Arc<Shared>);

struct Shared {
    access: Access,
    /// The configuration at the start of the session.
    config: Config,
    token: Token,
    open: Mutex<Vec<Connection>>,
    /// Held while a connection is made, so that waiting watches share it.
    connecting: tokio::sync::Mutex<()>,
    cluster: SameCluster,
}

/// One connection and its users.
struct Connection {
    client: ApiClient,
    users: Arc<()>,
}

/// The place of one watch on a connection.
pub(super) struct Seat {
    pub(super) client: ApiClient,
    _user: Arc<()>,
}

impl Connections {
    /// Connections with this configuration, which is read again for each of them. Requests have this token if there
    /// is one.
    pub(super) fn new(access: Access, config: Config, token: Token) -> Self {
        Self(Arc::new(Shared {
            access,
            config,
            token,
            open: Mutex::default(),
            connecting: tokio::sync::Mutex::default(),
            cluster: SameCluster::default(),
        }))
    }

    /// A place for one more watch, on the first connection that has room for it.
    ///
    /// # Errors
    /// The credentials or certificates cannot be used, the server cannot be reached, or it is the server of another
    /// cluster.
    pub(super) async fn seat(&self) -> Result<Seat, ApiError> {
        let Self(shared) = self;
        let _connecting = shared.connecting.lock().await;
        if let Some(seat) = self.open().iter().find_map(Connection::seat) {
            return Ok(seat);
        }
        Ok(self.add(self.connect().await?))
    }

    /// A client with a new connection, which no watch uses yet. Certificates that were replaced since the last
    /// connection are used.
    ///
    /// # Errors
    /// The errors of [`Self::seat`].
    pub(super) async fn connect(&self) -> Result<ApiClient, ApiError> {
        let client = ApiClient::connected(self.config().await, self.0.token.clone()).await?;
        self.check_cluster(&client).await?;
        Ok(client)
    }

    /// The current configuration; the configuration at the start of the session if it cannot be read.
    async fn config(&self) -> Config {
        let Self(shared) = self;
        let Ok(mut config) = shared.access.config().await else {
            return shared.config.clone();
        };
        if Plugin::take_from(&mut config.auth_info).is_some() {
            // The certificate of the plugin.
            config.auth_info = shared.config.auth_info.clone();
        }
        config
    }

    /// Adds a connection for watches, and closes connections that do not answer: their watches move.
    pub(super) fn replace(&self, silent: &[ApiClient], new: ApiClient) {
        for client in silent {
            client.closed.cancel();
        }
        self.open().retain(|open| !open.client.is_closed());
        self.add(new);
    }

    fn add(&self, client: ApiClient) -> Seat {
        let users = Arc::new(());
        let seat = Seat {
            client: client.clone(),
            _user: Arc::clone(&users),
        };
        self.open().push(Connection { client, users });
        seat
    }

    /// A client for a request of its own, over any connection.
    ///
    /// # Errors
    /// The errors of [`Self::seat`].
    pub(super) async fn client(&self) -> Result<ApiClient, ApiError> {
        let first = self.clients().into_iter().next();
        match first {
            Some(client) => Ok(client),
            None => Ok(self.seat().await?.client),
        }
    }

    /// The clients of all connections.
    pub(super) fn clients(&self) -> Vec<ApiClient> {
        let connections = self.open();
        connections.iter().map(|open| open.client.clone()).collect()
    }

    fn open(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// A place for one more watch; none if there is no room.
    fn seat(&self) -> Option<Seat> {
        let has_room = Arc::strong_count(&self.users) <= WATCHES_PER_CONNECTION;
        has_room.then(|| Seat {
            client: self.client.clone(),
            _user: Arc::clone(&self.users),
        })
    }
}

/// A client over one connection. If the connection is lost, the next request makes another one.
#[derive(Clone)]
pub(super) struct ApiClient {
    client: Client,
    /// Cancelled once another connection replaces this one.
    closed: CancellationToken,
    dials: Dials,
}

impl ApiClient {
    /// A client with a connection of its own. Files may be read for it, which blocks.
    ///
    /// # Errors
    /// The credentials or certificates cannot be used, or the server cannot be reached or refuses the credentials.
    pub(super) async fn connected(config: Config, token: Token) -> Result<Self, ApiError> {
        let dials = Dials::default();
        let counted = dials.clone();
        let made = tokio::task::spawn_blocking(move || connect(&config, token, counted));
        let made = timeout(CREDENTIALS_MAX, made).await;
        let made = made.map_err(|_| {
            let seconds = CREDENTIALS_MAX.as_secs();
            ApiError::Credentials(format!("they were not read in {seconds} s"))
        })?;
        let made = made.map_err(ApiError::unreachable)?;
        let client = made.map_err(|error| ApiError::Credentials(without_credentials(&*error)))?;
        let closed = CancellationToken::new();
        let client = Self {
            client,
            closed,
            dials,
        };
        // Each request before the server is known to speak HTTP/2 gets its own connection.
        client.get("/version", JSON).await?;
        Ok(client)
    }

    /// Returns whether another connection replaced this one.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.is_cancelled()
    }

    /// The body of a successful answer.
    ///
    /// # Errors
    /// [`ApiError`].
    pub(super) async fn get(&self, path: &str, accept: &str) -> Result<Vec<u8>, ApiError> {
        let answer = self.send(Request::get(path), accept, Body::empty()).await?;
        read(answer.into_body(), LIMITS.body_bytes).await
    }

    /// The body of a successful answer to JSON that is sent, of at most `bytes_max` bytes.
    ///
    /// # Errors
    /// [`ApiError`].
    pub(super) async fn post(
        &self,
        path: &str,
        json: Vec<u8>,
        bytes_max: usize,
    ) -> Result<Vec<u8>, ApiError> {
        let request = Request::post(path).header(CONTENT_TYPE, JSON);
        let answer = self.send(request, JSON, Body::from(json)).await?;
        read(answer.into_body(), bytes_max).await
    }

    /// The lines of a response that does not end.
    ///
    /// # Errors
    /// [`ApiError`].
    pub(super) async fn lines(&self, path: &str, accept: &str) -> Result<Lines, ApiError> {
        let answer = self.send(Request::get(path), accept, Body::empty()).await?;
        Ok(Lines::new(answer.into_body(), self.closed.clone()))
    }

    async fn send(
        &self,
        request: request::Builder,
        accept: &str,
        body: Body,
    ) -> Result<Response<Body>, ApiError> {
        let request = request.header(ACCEPT, accept).body(body);
        let request = request.map_err(ApiError::unreachable)?;
        let answer = timeout(LIMITS.answer, self.client.send(request)).await;
        let answer = answer.map_err(|_| {
            let seconds = LIMITS.answer.as_secs();
            ApiError::TimedOut(format!("no answer in {seconds} s"))
        })?;
        let answer = answer.map_err(|error| match error {
            // Its own text adds nothing to its cause.
            kube::Error::Service(cause) => ApiError::unreachable(cause),
            error => ApiError::unreachable(error),
        })?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        Err(ApiError::of_status(status_of(answer).await))
    }
}

/// The bytes of a body.
async fn read(mut body: Body, bytes_max: usize) -> Result<Vec<u8>, ApiError> {
    let read = async {
        let mut bytes = Vec::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(ApiError::unreachable)?;
            if let Ok(data) = frame.into_data() {
                bytes.extend_from_slice(&data);
            }
            if bytes.len() > bytes_max {
                let size = format!("its answer has more than {bytes_max} bytes");
                return Err(ApiError::TooLarge(size));
            }
        }
        Ok(bytes)
    };
    let seconds = BODY_MAX.as_secs();
    let late = |_| ApiError::TooLarge(format!("no complete answer in {seconds} s"));
    timeout(BODY_MAX, read).await.map_err(late)?
}

/// The status of an error response.
async fn status_of(answer: Response<Body>) -> Status {
    /// Maximum number of bytes that are read of an error response.
    const STATUS_BYTES_MAX: usize = 64 * 1024;
    let code = answer.status();
    let retry_after = answer.headers().get(RETRY_AFTER);
    let retry_after = retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let body = http_body_util::Limited::new(answer.into_body(), STATUS_BYTES_MAX);
    let body = timeout(LIMITS.answer, body.collect()).await;
    let bytes = body
        .ok()
        .and_then(Result::ok)
        .map(http_body_util::Collected::to_bytes);
    let read = bytes.and_then(|bytes| serde_json::from_slice::<Status>(&bytes).ok());
    let known = code.canonical_reason().unwrap_or("an unknown status");
    let mut status = read.unwrap_or_default();
    if status.message.is_empty() {
        known.clone_into(&mut status.message);
    }
    status.code = code.as_u16().max(StatusCode::BAD_REQUEST.as_u16());
    if let Some(seconds) = retry_after {
        status.details = Some(StatusDetails {
            retry_after_seconds: seconds,
        });
    }
    status
}
