//! A receiver: its settings, ready for requests.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::Method;
use kindsight_api::notify::{NotifyFormat, NotifyTest};
use kindsight_model::{Phase, clean};
use kindsight_outgoing::{Destinations, Endpoint, Request, RequestError};

use crate::event::Event;
use crate::limits::ERROR_BYTES_MAX;
use crate::message::{Message, message, repetition, test_event};
use crate::settings::{Filter, ReceiverSettings, SettingsError, read_key};
use crate::signature::{SIGNATURE_HEADER, sign};

/// The header with the id of the event, for formats whose body has none.
const ID_HEADER: &str = "Kindsight-Event-Id";

/// A receiver. All threads share it.
pub(crate) struct Receiver {
    pub(crate) name: String,
    pub(crate) format: NotifyFormat,
    pub(crate) filter: Filter,
    pub(crate) phases: Vec<Phase>,
    pub(crate) hold: Duration,
    pub(crate) at_most_once: bool,
    endpoint: Endpoint,
    key_file: Option<PathBuf>,
    /// In Unix milliseconds.
    clock: fn() -> i64,
}

/// The result of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The receiver accepted the events.
    Delivered,
    /// The receiver does not accept this event, also not later.
    Refused(String),
    /// The receiver did not accept the event. It may accept the event later, after the time that it asked for.
    Failed(String, Option<Duration>),
    /// There is no answer, so the receiver may have accepted the event.
    Uncertain(String),
}

impl Receiver {
    /// A receiver. Reads the key once, so that an unusable key is found at the start.
    pub(crate) fn new(
        settings: ReceiverSettings,
        destinations: &Arc<Destinations>,
        clock: fn() -> i64,
    ) -> Result<Self, SettingsError> {
        let ReceiverSettings {
            name,
            format,
            filter,
            phases,
            hold,
            at_most_once,
            endpoint,
            key_file,
        } = settings;
        if let Some(Err(why)) = key_file.as_deref().map(read_key) {
            return Err(SettingsError::Key { name, why });
        }
        let endpoint = Endpoint::new(endpoint, destinations).map_err(|source| {
            let name = name.clone();
            SettingsError::Endpoint { name, source }
        })?;
        Ok(Self {
            name,
            format,
            filter,
            phases,
            hold,
            at_most_once,
            endpoint,
            key_file,
            clock,
        })
    }

    /// The request with some events.
    pub(crate) fn message(&self, events: &[&Event], now_ms: i64) -> Message {
        message(self.format, &self.phases, events, now_ms)
    }

    /// The request with an event that may have arrived before.
    pub(crate) fn repetition(&self, event: &Event, now_ms: i64) -> Message {
        repetition(self.format, &self.phases, event, now_ms)
    }

    /// Sends a request. Blocks for at most the timeout of the endpoint.
    pub(crate) fn send(&self, message: &Message) -> Outcome {
        match self.request(message) {
            Ok((200..=299, ..)) => Outcome::Delivered,
            Ok((status, text, retry_after)) => {
                let why = answered(status, &text);
                match status {
                    // The request itself is wrong. Any other status may have a cause that is removed.
                    400 | 413 | 415 | 422 => Outcome::Refused(why),
                    _ => Outcome::Failed(why, retry_after),
                }
            }
            Err(error) if error.is_unsent() => Outcome::Failed(error.to_string(), None),
            Err(error) => Outcome::Uncertain(error.to_string()),
        }
    }

    /// Sends an event of a test. Blocks like [`Self::send`].
    pub(crate) fn test(&self) -> NotifyTest {
        let now_ms = (self.clock)();
        let event = test_event(&self.name, &self.phases, now_ms);
        match self.request(&self.message(&[&event], now_ms)) {
            Ok((status, text, _)) => {
                let delivered = (200..=299).contains(&status);
                NotifyTest {
                    delivered,
                    status: Some(status),
                    error: (!delivered).then(|| answered(status, &text)),
                }
            }
            Err(error) => NotifyTest {
                error: Some(error.to_string()),
                ..NotifyTest::default()
            },
        }
    }

    /// The status, the begin of the body, and the wait that the receiver asks for.
    fn request(&self, message: &Message) -> Result<(u16, String, Option<Duration>), RequestError> {
        let now_ms = (self.clock)();
        let mut headers = vec![("Content-Type", message.content_type)];
        if let Some(id) = &message.id {
            headers.push((ID_HEADER, id));
        }
        let key = self.key_file.as_deref().map(read_key).transpose();
        let key = key.map_err(RequestError::Credentials)?;
        let signature = key.map(|key| sign(&key, now_ms.div_euclid(1000), &message.body));
        if let Some(signature) = &signature {
            headers.push((SIGNATURE_HEADER, signature));
        }
        let answer = self.endpoint.request(Request {
            method: Method::POST,
            path: message.path,
            query: &[],
            headers: &headers,
            body: &message.body,
        });
        let answer = answer?;
        let begin = answer.body.get(..ERROR_BYTES_MAX).unwrap_or(&answer.body);
        let text = String::from_utf8_lossy(begin);
        let text = clean(text.trim(), ERROR_BYTES_MAX).into_owned();
        Ok((answer.status, text, answer.retry_after))
    }
}

fn answered(status: u16, text: &str) -> String {
    if text.is_empty() {
        return format!("the receiver answered {status}");
    }
    format!("the receiver answered {status}: {text}")
}
