//! HTTP client of a running server, for every command that talks to one.
//!
//! A refusal becomes an error with the text of the server's problem document, which says what is wrong
//! and often what is expected.

mod cluster_route;
mod early_answers;
mod server;
mod service_account;
mod tls;
mod token;

use std::fmt::{self, Write as _};
use std::io::{Read, Write};
use std::time::Duration;

use anyhow::Context as _;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use kindsight_api::problem::ProblemDocument;
use kindsight_api::status::MEDIA_TYPE;
use kindsight_model::clean_json;
use kindsight_server::clusters::UserClusterError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::error::Elapsed;
use ureq::http::{self, Method, header};

use crate::table::clean;

pub(crate) use cluster_route::{ClusterRoute, KubeContext};
use server::Deadline;
pub(crate) use server::{Connection, Server, agent, is_loopback};
pub(crate) use service_account::ServiceAccountToken;
pub(crate) use tls::{TlsFiles, advice};
pub(crate) use token::{Token, TokenSource};

/// Largest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Timeout of a query.
const QUESTION_WAIT_MAX: Duration = Duration::from_mins(1);
/// Timeout of a command: a load is compiled and tried, a shadow judges every object twice. The
/// server's own limits end commands sooner; this limit is for a server that hangs.
const COMMAND_WAIT_MAX: Duration = Duration::from_mins(10);

/// Timeout until a stream begins. The stream itself has no timeout.
const STREAM_WAIT_MAX: Duration = Duration::from_secs(30);

/// The refusal of a request, with the text of the server's problem document.
#[derive(Debug)]
pub(crate) struct Refused {
    /// The status code.
    pub(crate) status: u16,
    words: String,
}

impl Refused {
    /// Returns whether the same request may succeed later: a server, or an API server before it, is busy or restarts.
    pub(crate) fn is_temporary(&self) -> bool {
        matches!(self.status, 408 | 429 | 500..)
    }
}

impl std::error::Error for Refused {}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server answers {}: {}", self.status, self.words)
    }
}

/// A request to a server: a query or a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    method: Method,
    path: String,
    /// Query parameters, not encoded yet.
    parameters: Vec<(String, String)>,
    /// Value of `If-Match`.
    condition: Option<String>,
    body: Option<Body>,
}

/// The answer to a request that was not refused.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) body: String,
    /// The time of the answer by the server's clock, in seconds; `None` without a readable `Date` header.
    pub(crate) date: Option<Timestamp>,
}

/// Body of a request.
#[derive(Debug, PartialEq, Eq)]
struct Body {
    media_type: &'static str,
    bytes: Vec<u8>,
}

impl Request {
    /// A query. `path` follows the server's address and is sent as it is.
    pub(crate) fn get(path: String) -> Self {
        Self::to(Method::GET, path)
    }

    /// A command; see [`Request::get`] for the path.
    pub(crate) fn to(method: Method, path: String) -> Self {
        Self {
            method,
            path,
            parameters: Vec::new(),
            condition: None,
            body: None,
        }
    }

    /// Has the server refuse the command unless its subject has this tag: the digest of the live version, or the tag of
    /// a content.
    pub(crate) fn if_match(mut self, tag: &str) -> Self {
        self.condition = Some(format!("\"{tag}\""));
        self
    }

    /// Adds a query parameter.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.parameters.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds every member as a query parameter: a list as one for each element, null as none.
    pub(crate) fn with_parameters(mut self, parameters: &impl Serialize) -> Self {
        let members = serde_json::to_value(parameters).unwrap_or_default();
        let Value::Object(members) = members else {
            return self;
        };
        for (name, value) in members {
            let values = match value {
                Value::Array(values) => values,
                value => vec![value],
            };
            for value in values {
                self = match value {
                    Value::Null => self,
                    Value::String(text) => self.with(&name, &text),
                    other => self.with(&name, &other.to_string()),
                };
            }
        }
        self
    }

    /// Sets the body. For PUT and POST; other methods have none.
    pub(crate) fn with_body(mut self, media_type: &'static str, bytes: Vec<u8>) -> Self {
        self.body = Some(Body { media_type, bytes });
        self
    }

    fn url(&self, server: &Server) -> String {
        let mut url = format!("{}{}", server.url(), self.path);
        for (position, (name, value)) in self.parameters.iter().enumerate() {
            url.push(if position == 0 { '?' } else { '&' });
            url.extend([name, "=", &encoded(value)]);
        }
        url
    }

    /// Sends the request and waits for the body of the answer. Blocks.
    ///
    /// # Errors
    /// When the server cannot be reached, or refuses; the error carries its problem document.
    pub(crate) fn ask(&self, server: &Server) -> anyhow::Result<String> {
        Ok(self.answer(server)?.body)
    }

    /// Sends the request and waits for the answer, with its date. Blocks.
    ///
    /// # Errors
    /// As for [`Request::ask`].
    pub(crate) fn answer(&self, server: &Server) -> anyhow::Result<Answer> {
        let mut response = self.send(server)?;
        let status = response.status();
        let date = date(response.headers());
        let body = text(&mut response)?;
        if status.is_success() {
            return Ok(Answer { body, date });
        }
        Err(refusal(server, status.as_u16(), &body))
    }

    /// Opens a stream of events. With the id of a last event, the stream continues after that event.
    ///
    /// # Errors
    /// As for [`Request::ask`].
    pub(crate) fn open(
        &self,
        server: &Server,
        last: Option<&str>,
    ) -> anyhow::Result<impl Read + Send + 'static> {
        let mut request = self.head(server);
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last);
        }
        let mut response = server.send(request.body(None)?, Deadline::Head(STREAM_WAIT_MAX))?;
        let status = response.status();
        if !status.is_success() {
            return Err(refusal(server, status.as_u16(), &text(&mut response)?));
        }
        Ok(response.into_body().into_reader())
    }

    fn head(&self, server: &Server) -> http::request::Builder {
        http::Request::builder()
            .method(self.method.clone())
            // Also from a server that is set to another dialect.
            .header(header::ACCEPT, MEDIA_TYPE)
            .uri(self.url(server))
    }

    fn send(&self, server: &Server) -> anyhow::Result<http::Response<ureq::Body>> {
        let deadline = Deadline::Answer(if self.method == Method::GET {
            QUESTION_WAIT_MAX
        } else {
            COMMAND_WAIT_MAX
        });
        let mut request = self.head(server);
        if let Some(condition) = &self.condition {
            request = request.header(header::IF_MATCH, condition);
        }
        match &self.body {
            // An empty body of a known length, where a method has one.
            None if self.method == Method::POST => {
                server.send(request.body(Some([].as_slice()))?, deadline)
            }
            None => server.send(request.body(None)?, deadline),
            Some(body) => {
                // A server that refuses a body by its size does so before the body is sent:
                // otherwise its answer is lost if the body is far too large.
                let request = request
                    .header(header::CONTENT_TYPE, body.media_type)
                    .header(header::EXPECT, "100-continue");
                server.send(request.body(Some(body.bytes.as_slice()))?, deadline)
            }
        }
    }
}

/// Returns whether the request that failed with this error may succeed later: the server did not answer, or was busy.
/// An error of the command line, of a credential or of a right is permanent.
pub(crate) fn is_temporary(error: &anyhow::Error) -> bool {
    match error.downcast_ref::<Refused>() {
        Some(refused) => refused.is_temporary(),
        // The errors of a direct connection, and of a connection through the API server of a cluster.
        None => {
            error.is::<ureq::Error>() || error.is::<UserClusterError>() || error.is::<Elapsed>()
        }
    }
}

/// The body of an answer.
fn text(response: &mut http::Response<ureq::Body>) -> anyhow::Result<String> {
    let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX);
    Ok(body.read_to_string()?)
}

fn date(headers: &http::HeaderMap) -> Option<Timestamp> {
    let text = headers.get(header::DATE)?.to_str().ok()?;
    rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}

/// Percent-encodes all characters that are not safe everywhere in a URL.
pub(crate) fn encoded(value: &str) -> String {
    let mut url = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            // Writing to a String does not fail.
            let _ = write!(url, "%{byte:02X}");
        }
    }
    url
}

/// Parses an answer. Members that a newer server adds are ignored.
///
/// # Errors
/// When it has another shape: the server at that address is not a kindsight server.
pub(crate) fn read<'a, T: Deserialize<'a>>(answer: &'a str) -> anyhow::Result<T> {
    serde_json::from_str(answer).context("read the server's answer")
}

/// Prints an answer as the server sent it, with a newline at its end. Characters that could control a terminal are
/// escaped: the JSON means the same.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn print_as_is(mut to: impl Write, answer: &str) -> anyhow::Result<()> {
    to.write_all(clean_json(answer).as_bytes())?;
    if !answer.ends_with('\n') {
        writeln!(to)?;
    }
    Ok(())
}

/// The reason of a refusal of an API server that passes requests on; empty for any other text.
fn of_api_server(body: &str) -> String {
    let status: Value = serde_json::from_str(body).unwrap_or_default();
    let text = |member| status.get(member).and_then(Value::as_str);
    match (text("kind"), text("message")) {
        (Some("Status"), Some(message)) => format!("the API server of the cluster: {message}"),
        _ => String::new(),
    }
}

/// The error for a refusal, with the text of its problem document and the advice about credentials.
fn refusal(server: &Server, status: u16, body: &str) -> anyhow::Error {
    let problem: ProblemDocument = serde_json::from_str(body).unwrap_or_default();
    let api_server = of_api_server(body);
    let words = [
        &problem.detail,
        &problem.title,
        &api_server,
        "no reason given",
    ];
    let words = words.into_iter().find(|words| !words.is_empty());
    let mut words = clean(words.unwrap_or_default());
    if let Some(step) = problem.step {
        words.extend(["\n  step: ", step.as_str()]);
    }
    for one in &problem.problems {
        for (lead, part) in [
            ("\n  ", &one.parameter),
            (": ", &one.detail),
            ("; expected: ", &one.expected),
        ] {
            if !part.is_empty() {
                words.extend([lead, &clean(part)]);
            }
        }
    }
    if let Some(explanation) = server.explanation(status) {
        words.extend(["\n  ", &clean(&explanation)]);
    }
    Refused { status, words }.into()
}

#[cfg(test)]
pub(crate) mod tests;
