//! Requests to the server.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::time::Duration;

use form_urlencoded::Serializer;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kindsight_api::problem::ProblemDocument;
use kindsight_api::push::{
    AgentNeeds, FORMAT, MEDIA_TYPE, PushAnswer, PushParameters, PushRefusal,
};
use kindsight_model::{ClusterName, clean};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::options::{Credentials, PushOptions, PushSetupError};
use super::spool::read_limited;
use super::tls::{FileVersions, TlsFiles};

/// Maximum size of an answer, in bytes: the needs for a cluster with ten thousand deployments.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Time for one request, with its body and its answer.
const REQUEST_MAX: Duration = Duration::from_secs(30);
/// Time for a connection.
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// Maximum length of a reason of the server, in bytes.
const REASON_BYTES_MAX: usize = 600;

/// The bytes of a body.
type Bytes = Cursor<Vec<u8>>;
type Https = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// The client of one server.
pub(super) struct PushClient {
    /// The URL of the reports of the cluster.
    url: String,
    token_file: Option<PathBuf>,
    files: TlsFiles,
    versions: FileVersions,
    https: Https,
}

/// The reason why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum PushError {
    /// The server expects this sequence number.
    #[error("the server expects the sequence number {0}")]
    Sequence(u64),
    /// The server needs a complete report.
    #[error("the server needs a complete report: {0}")]
    NewEpoch(String),
    /// The server has no time, and names the time of the next attempt.
    #[error("the server is busy")]
    Busy(Duration),
    /// The server refuses the content.
    #[error("the server refuses the report ({0}): {1}")]
    Refused(StatusCode, String),
    /// The server refuses the agent, or has no such cluster.
    #[error("the server refuses this agent ({0}): {1}")]
    NotAllowed(StatusCode, String),
    /// The request or its answer was lost.
    #[error("the server cannot be reached: {0}")]
    Lost(String),
}

impl PushClient {
    pub(super) fn new(options: &PushOptions) -> Result<Self, PushSetupError> {
        let token_file = match &options.credentials {
            Credentials::TokenFile(path) => Some(path.clone()),
            Credentials::None | Credentials::Certificate { .. } => None,
        };
        let files = TlsFiles::new(options.ca.clone(), &options.credentials);
        let versions = files.versions();
        Ok(Self {
            url: url(&options.to, &options.cluster)?,
            token_file,
            https: https(&files)?,
            files,
            versions,
        })
    }

    /// Reads the files of TLS again if they changed. Files that cannot be used leave the client unchanged.
    pub(super) fn refresh(&mut self) {
        let versions = self.files.versions();
        if versions == self.versions {
            return;
        }
        match https(&self.files) {
            Ok(https) => self.https = https,
            Err(error) => tracing::warn!(%error, "the changed files of TLS cannot be used"),
        }
        self.versions = versions;
    }

    /// Sends a frame, or a heartbeat without one. Returns the sequence number that the server expects next.
    pub(super) fn push(
        &self,
        parameters: &PushParameters,
        frame: Vec<u8>,
    ) -> impl Future<Output = Result<u64, PushError>> + Send + use<> {
        let mut query = Serializer::new(String::new());
        query
            .append_pair("format", &FORMAT.to_string())
            .append_pair("agent", &parameters.agent)
            .append_pair("epoch", &parameters.epoch.to_string())
            .append_pair("sequence", &parameters.sequence.to_string())
            .append_pair("lag-ms", &parameters.lag_ms.to_string())
            .append_pair("leaving", &parameters.leaving.to_string());
        let request = self.request(Method::POST, "", &query.finish(), frame);
        let https = self.https.clone();
        async move {
            let answer: Option<PushAnswer> = answer(https, request?).await?;
            let missing = || PushError::Lost("the answer is empty".to_owned());
            answer.map(|answer| answer.expected).ok_or_else(missing)
        }
    }

    /// Asks for the needs of the server. The server answers when they differ from those with this revision; `None` if
    /// they do not for some seconds.
    pub(super) fn needs(
        &self,
        revision: Option<u64>,
    ) -> impl Future<Output = Result<Option<AgentNeeds>, PushError>> + Send + use<> {
        let mut query = Serializer::new(String::new());
        if let Some(revision) = revision {
            query.append_pair("revision", &revision.to_string());
        }
        let request = self.request(Method::GET, "/needs", &query.finish(), Vec::new());
        let https = self.https.clone();
        async move { answer(https, request?).await }
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        query: &str,
        body: Vec<u8>,
    ) -> Result<Request<Full<Bytes>>, PushError> {
        let lost = |why: String| PushError::Lost(why);
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}?{query}", self.url));
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, MEDIA_TYPE);
        }
        if let Some(file) = &self.token_file {
            request = request.header(AUTHORIZATION, authorization(file).map_err(lost)?);
        }
        let request = request.body(Full::new(Cursor::new(body)));
        request.map_err(|error| lost(error.to_string()))
    }
}

/// The URL of the reports of a cluster.
fn url(to: &str, cluster: &ClusterName) -> Result<String, PushSetupError> {
    let invalid = || PushSetupError::Url(clean(to, REASON_BYTES_MAX).into_owned());
    let server = to.trim_end_matches('/');
    let uri: Uri = server.parse().map_err(|_| invalid())?;
    let host = uri.host().ok_or_else(invalid)?;
    if uri.query().is_some() {
        return Err(invalid());
    }
    match uri.scheme_str() {
        Some("https") => {}
        Some("http") if is_loopback(host) => {}
        Some("http") => return Err(PushSetupError::NoTls(server.to_owned())),
        _ => return Err(invalid()),
    }
    let (provider, name) = (&cluster.provider, &cluster.name);
    Ok(format!(
        "{server}/v2/cluster-providers/{provider}/clusters/{name}/reports"
    ))
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    let address = host.parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

/// The header with the token in a file. The text of an error never contains the token.
fn authorization(file: &Path) -> Result<HeaderValue, String> {
    let text = read_limited(file);
    let text = text.map_err(|error| format!("the token file {}: {error}", file.display()))?;
    let value = HeaderValue::try_from(format!("Bearer {}", text.trim()));
    let mut value = value.map_err(|_| {
        let file = file.display();
        format!("the token file {file}: a token has only printable ASCII characters")
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn https(files: &TlsFiles) -> Result<Https, PushSetupError> {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT_MAX));
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(files.config()?)
        // A URL with http is of a loopback address.
        .https_or_http()
        .enable_http1()
        .wrap_connector(tcp);
    Ok(Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .build(connector))
}

/// Sends a request, and reads its answer; `None` for an answer without content.
async fn answer<T: DeserializeOwned>(
    https: Https,
    request: Request<Full<Bytes>>,
) -> Result<Option<T>, PushError> {
    let late = |_| PushError::Lost(format!("no answer within {} s", REQUEST_MAX.as_secs()));
    timeout(REQUEST_MAX, exchange(https, request))
        .await
        .map_err(late)?
}

async fn exchange<T: DeserializeOwned>(
    https: Https,
    request: Request<Full<Bytes>>,
) -> Result<Option<T>, PushError> {
    let answered = https.request(request).await;
    let (head, body) = answered
        .map_err(|error| PushError::Lost(chain(&error)))?
        .into_parts();
    let body = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
    let body = body.map_err(|error| PushError::Lost(error.to_string()))?;
    let body = body.to_bytes();
    if head.status == StatusCode::NO_CONTENT {
        return Ok(None);
    }
    if head.status.is_success() {
        let read = serde_json::from_slice(&body);
        let unreadable = |error| PushError::Lost(format!("the answer cannot be read: {error}"));
        return read.map(Some).map_err(unreadable);
    }
    let retry_after = head.headers.get(RETRY_AFTER);
    let retry_after = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
    Err(refusal(head.status, retry_after, &body))
}

/// The meaning of an answer that is a problem.
fn refusal(status: StatusCode, retry_after: Option<u64>, body: &[u8]) -> PushError {
    let problem: ProblemDocument = serde_json::from_slice(body).unwrap_or_default();
    let detail = clean(&problem.detail, REASON_BYTES_MAX).into_owned();
    let expected = |name: &str| {
        let mut problems = problem.problems.iter();
        problems.find(|problem| problem.parameter == name)
    };
    if let Some(sequence) = expected(PushRefusal::SEQUENCE)
        && let Ok(sequence) = sequence.expected.parse()
    {
        return PushError::Sequence(sequence);
    }
    if expected(PushRefusal::EPOCH).is_some() {
        return PushError::NewEpoch(detail);
    }
    match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            PushError::Busy(Duration::from_secs(retry_after.unwrap_or(1)))
        }
        StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY => {
            PushError::Refused(status, detail)
        }
        status if status.is_client_error() => PushError::NotAllowed(status, detail),
        status => PushError::Lost(format!("{status}: {detail}")),
    }
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    clean(&text, REASON_BYTES_MAX).into_owned()
}

#[cfg(test)]
mod tests;
