//! A client of one server, which reads what a comparison needs: the status, some headers and the body.

use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::Request;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::normal::normalised;

/// Time of one request.
const ANSWER_MAX: Duration = Duration::from_mins(1);
/// The media type of most requests.
pub(crate) const JSON: &str = "application/json";

/// A client of one server.
pub(crate) struct Side {
    agent: Agent,
    url: String,
    token: String,
}

/// An answer.
pub(crate) struct Answer {
    status: u16,
    media_type: String,
    retry_after: Option<String>,
    /// One value, or one value for each line of a watch.
    pub(crate) body: Vec<Value>,
}

impl Side {
    pub(crate) fn new((url, authority): (&str, &str), token: &str) -> Self {
        let certificate = Certificate::from_pem(authority.as_bytes()).expect("a certificate");
        let tls = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&[certificate]));
        let config = Agent::config_builder()
            .tls_config(tls.build())
            .http_status_as_error(false)
            .proxy(None)
            .timeout_global(Some(ANSWER_MAX));
        Self {
            agent: config.build().into(),
            url: url.to_owned(),
            token: token.to_owned(),
        }
    }

    /// The same server with another token.
    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self {
            agent: self.agent.clone(),
            url: self.url.clone(),
            token: token.to_owned(),
        }
    }

    /// Requests a path with this header `Accept`. The answer is read to its end.
    pub(crate) fn get_as(&self, path: &str, accept: &str) -> Answer {
        let request = Request::get(format!("{}{path}", self.url))
            .header("Accept", accept)
            .header("Authorization", format!("Bearer {}", self.token));
        let answer = self.agent.run(request.body(()).expect("a request"));
        let mut answer = answer.unwrap_or_else(|error| panic!("{path}: {error}"));
        let header = |name: &str| {
            let value = answer.headers().get(name)?;
            value.to_str().ok().map(str::to_owned)
        };
        let (media_type, retry_after) = (header("content-type"), header("retry-after"));
        let text = answer.body_mut().read_to_string().expect("a body");
        let values = serde_json::Deserializer::from_str(&text).into_iter();
        let values: Result<Vec<Value>, _> = values.collect();
        Answer {
            status: answer.status().as_u16(),
            media_type: media_type.unwrap_or_default(),
            retry_after,
            body: values.unwrap_or_else(|_| vec![text.trim().into()]),
        }
    }

    /// Requests a path as JSON.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.get_as(path, JSON)
    }
}

impl Answer {
    /// A text of the body.
    pub(crate) fn text(&self, pointer: &str) -> String {
        let found = self.body.first().and_then(|body| body.pointer(pointer));
        let text = found.and_then(Value::as_str);
        text.unwrap_or_else(|| panic!("no {pointer} in {:#?}", self.body))
            .to_owned()
    }

    /// The normal form of the answer. The forms of two servers must be equal.
    pub(crate) fn form(&self) -> Value {
        let body: Vec<Value> = self.body.iter().map(normalised).collect();
        json!({
            "code": self.status, "type": self.media_type, "retry-after": self.retry_after, "body": body,
        })
    }
}
