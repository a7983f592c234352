//! A&AI's REST API, as its documentation describes it.
//!
//! An update reads an object, and sends it back with its `resource-version`. If another client was faster, A&AI answers
//! 409 or 412, and the object is read again.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use http::Method;
use kindsight_api::onap::OnapState;
use kindsight_model::clean;
use kindsight_outgoing::{Request, RequestError, Response};
use kindsight_store::Expiry;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::document::overlaid;
use crate::health::{Counted, Health};
use crate::item::{Content, ItemKey};
use crate::limits::{CONFLICTS_MAX, TEXT_BYTES_MAX};
use crate::settings::AaiSettings;

/// The client of A&AI. Blocks.
pub(crate) struct Client {
    settings: Arc<AaiSettings>,
    health: Health,
    /// The time before which no request is sent.
    next: Mutex<Instant>,
    /// After it is cancelled, no request is sent.
    stop: CancellationToken,
    /// The time until which this server may write.
    lease: Expiry,
}

/// The reason why an update did not succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A&AI does not answer, or answers no client. The next update waits.
    Away {
        reason: String,
        retry_after: Option<Duration>,
    },
    /// A&AI refuses this object. Other objects may be accepted.
    Refused(String),
}

/// An object that A&AI has.
struct Present {
    version: String,
    object: Map<String, Value>,
}

/// The result of one write.
enum Sent {
    Done,
    /// Another client was faster.
    Conflict,
}

/// The body of an error.
#[derive(Deserialize)]
struct ErrorBody {
    #[serde(rename = "requestError")]
    request_error: Map<String, Value>,
}

impl Client {
    pub(crate) fn new(
        settings: Arc<AaiSettings>,
        health: Health,
        stop: CancellationToken,
        lease: Expiry,
    ) -> Self {
        Self {
            settings,
            health,
            next: Mutex::new(Instant::now()),
            stop,
            lease,
        }
    }

    /// Returns whether this server may write. After the end of the lease, another server may already write newer contents.
    pub(crate) fn has_lease(&self) -> bool {
        self.lease.is_after(Instant::now())
    }

    /// Makes A&AI have a content. Writes nothing if A&AI has it.
    pub(crate) fn write(
        &self,
        key: &ItemKey,
        content: &Content,
        previous: Option<&Content>,
    ) -> Result<(), Failure> {
        let schema = self.settings.schema();
        for _ in 0..CONFLICTS_MAX {
            let present = self.read(key)?;
            if present.is_none() && matches!(key, ItemKey::Vnf { .. }) {
                let why = format!("the inventory has no {}", key.path());
                return Err(Failure::Refused(why));
            }
            let before = present.map(|present| present.object);
            let object = overlaid(key, content, previous, before.clone(), &schema);
            if before.as_ref() == Some(&object) {
                self.health.count(Counted::Unchanged);
                return Ok(());
            }
            let body = Value::Object(object).to_string();
            match self.change(Method::PUT, key, &[], body.as_bytes())? {
                Sent::Done => {
                    self.health.count(Counted::Written);
                    return Ok(());
                }
                Sent::Conflict => self.health.count(Counted::Conflict),
            }
        }
        Err(conflicts(key))
    }

    /// Removes a vserver. The status of a VNF, which another system made, becomes pending instead. An absent object is no
    /// error.
    pub(crate) fn remove(&self, key: &ItemKey) -> Result<(), Failure> {
        for _ in 0..CONFLICTS_MAX {
            let Some(present) = self.read(key)? else {
                self.health.count(Counted::Unchanged);
                return Ok(());
            };
            if matches!(key, ItemKey::Vnf { .. }) {
                let state = OnapState::Pending;
                return self.write(key, &Content::Vnf { state }, None);
            }
            let query = [("resource-version", present.version.as_str())];
            match self.change(Method::DELETE, key, &query, &[])? {
                Sent::Done => {
                    self.health.count(Counted::Deleted);
                    return Ok(());
                }
                Sent::Conflict => self.health.count(Counted::Conflict),
            }
        }
        Err(conflicts(key))
    }

    /// Reads an object. The children of a vserver are part of it; the modules of a VNF are left out, so that a write
    /// leaves them alone.
    fn read(&self, key: &ItemKey) -> Result<Option<Present>, Failure> {
        let depth = match key {
            ItemKey::Vserver { .. } => "all",
            ItemKey::Vnf { .. } => "0",
        };
        let response = self.send(Method::GET, key, &[("depth", depth)], &[])?;
        match response.status {
            404 => Ok(None),
            _ if response.is_success() => {
                let object: Option<Map<String, Value>> =
                    serde_json::from_slice(&response.body).ok();
                let version = object.as_ref().and_then(|object| {
                    let version = object.get("resource-version")?.as_str()?;
                    Some(version.to_owned())
                });
                match (object, version) {
                    (Some(object), Some(version)) => Ok(Some(Present { version, object })),
                    _ => Err(Failure::Away {
                        reason: "its answer is no object with a `resource-version`".to_owned(),
                        retry_after: None,
                    }),
                }
            }
            _ => Err(failure(&response)),
        }
    }

    fn change(
        &self,
        method: Method,
        key: &ItemKey,
        query: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Sent, Failure> {
        let is_removal = method == Method::DELETE;
        let response = self.send(method, key, query, body)?;
        match response.status {
            _ if response.is_success() => Ok(Sent::Done),
            // It was removed already.
            404 if is_removal => Ok(Sent::Done),
            409 | 412 => Ok(Sent::Conflict),
            _ => Err(failure(&response)),
        }
    }

    /// Sends one request with the headers that A&AI requires, at the pace of the settings. Sends no write after the end of
    /// the lease.
    fn send(
        &self,
        method: Method,
        key: &ItemKey,
        query: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Response, Failure> {
        self.keep_pace();
        let refusal = if self.stop.is_cancelled() {
            Some("the server stops, or another one takes over")
        } else if method != Method::GET && !self.has_lease() {
            Some("another server may update A&AI now")
        } else {
            None
        };
        if let Some(reason) = refusal {
            return Err(Failure::Away {
                reason: reason.to_owned(),
                retry_after: None,
            });
        }
        let path = format!("aai/{}/{}", self.settings.version, key.path());
        let transaction = transaction_id();
        let headers = [
            ("X-FromAppId", self.settings.app_id.as_str()),
            ("X-TransactionId", transaction.as_str()),
            ("Accept", "application/json"),
            ("Content-Type", "application/json"),
        ];
        tracing::debug!(%method, path, transaction, "request to A&AI");
        let response = self.settings.endpoint.request(Request {
            method,
            path: Some(&path),
            query,
            headers: &headers,
            body,
        });
        response.map_err(|error| match error {
            RequestError::Invalid(_) | RequestError::AnswerTooLarge(_) => {
                Failure::Refused(error.to_string())
            }
            _ => Failure::Away {
                reason: error.to_string(),
                retry_after: None,
            },
        })
    }

    /// Waits until the next request may be sent.
    fn keep_pace(&self) {
        let pause = Duration::from_secs(1) / self.settings.requests_per_second.max(1);
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        thread::sleep(next.saturating_duration_since(Instant::now()));
        *next = Instant::now() + pause;
    }
}

fn conflicts(key: &ItemKey) -> Failure {
    let path = key.path();
    Failure::Refused(format!(
        "{path} changed during each of {CONFLICTS_MAX} updates"
    ))
}

/// A random UUID, version 4. A&AI requires another one for each request.
fn transaction_id() -> String {
    let bits = fastrand::u128(..);
    let bits = (bits & !(0xf << 76) & !(0b11 << 62)) | (0x4 << 76) | (0b10 << 62);
    let hex = format!("{bits:032x}");
    let part = |range| hex.get(range).unwrap_or_default();
    [
        part(0..8),
        part(8..12),
        part(12..16),
        part(16..20),
        part(20..32),
    ]
    .join("-")
}

/// The failure that an error status means.
fn failure(response: &Response) -> Failure {
    let status = response.status;
    let text = reason(&response.body);
    let reason = match text {
        Some(text) => format!("it answers {status}: {text}"),
        None => format!("it answers {status}"),
    };
    match status {
        // Refused credentials concern every object, as do redirects, which are not followed.
        300..=399 | 401 | 403 | 407 | 408 | 425 | 429 | 500.. => Failure::Away {
            reason,
            retry_after: response.retry_after,
        },
        _ => Failure::Refused(reason),
    }
}

/// The text of an error, with its variables in place of `%1`, `%2` and so on.
fn reason(body: &[u8]) -> Option<String> {
    let error = serde_json::from_slice::<ErrorBody>(body).ok()?;
    let exception = error.request_error.into_values().next()?;
    let text = exception.get("text")?.as_str()?;
    let variables = exception.get("variables").and_then(Value::as_array);
    let variables = variables.into_iter().flatten().filter_map(Value::as_str);
    let mut text = clean(text, TEXT_BYTES_MAX).into_owned();
    for (number, variable) in (1..=9).zip(variables) {
        text = text.replace(&format!("%{number}"), &clean(variable, TEXT_BYTES_MAX));
    }
    Some(clean(&text, TEXT_BYTES_MAX).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_transaction_has_a_uuid() {
        let (one, two) = (transaction_id(), transaction_id());
        assert_ne!(one, two);
        assert_eq!(one.len(), 36);
        assert_eq!(one.as_bytes()[14], b'4', "{one}");
        assert!(b"89ab".contains(&one.as_bytes()[19]), "{one}");
    }

    #[test]
    fn the_text_of_an_error_has_its_variables() {
        let body = br#"{"requestError":{"serviceException":{"messageId":"SVC3001",
            "text":"Resource not found for %1 using id %2 (msg=%3)","variables":["GET","a/b","no"]}}}"#;
        let text = reason(body).unwrap();
        assert_eq!(text, "Resource not found for GET using id a/b (msg=no)");
        assert_eq!(reason(b"<html>"), None);
    }
}
