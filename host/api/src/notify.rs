//! Notifications of transitions: their receivers, and the events that a receiver did not accept.

use jiff::Timestamp;
use kindsight_model::{Phase, words};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

words! {
    /// The form of the requests to a receiver.
    #[derive(Default)]
    NotifyFormat {
        /// CloudEvents 1.0 in structured mode.
        #[default]
        CloudEvents = "cloudevents",
        /// Alerts of Alertmanager's API v2.
        Alertmanager = "alertmanager",
        /// Messages of an incoming webhook of Slack.
        Slack = "slack",
    }
}

words! {
    /// The kind of a subject whose transitions are sent.
    TransitionSubject {
        /// An application.
        Application = "application",
        /// A resource of an application.
        Resource = "resource",
        /// The connection to a cluster.
        Connection = "connection",
    }
}

/// The receivers of the configuration, in order of their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NotifyReceiverList {
    /// The receivers.
    pub receivers: Vec<NotifyReceiver>,
}

/// A receiver of notifications. Its URL is not shown, because it may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct NotifyReceiver {
    /// The name from the configuration.
    #[schema(example = "ops")]
    pub name: String,
    /// The form of the requests.
    pub format: NotifyFormat,
    /// The kinds of subjects whose transitions are sent.
    pub transitions: Vec<TransitionSubject>,
    /// True if this server sends. With a shared store, one server at a time sends.
    pub sends: bool,
    /// Events that wait for delivery.
    pub waiting: usize,
    /// Events that this server delivered since its start.
    pub delivered: u64,
    /// Requests of this server that failed since its start.
    pub failed: u64,
    /// Events that this server merged into a later event of the same subject since its start, because the queue was full.
    pub merged: u64,
    /// The failure of the last request. Omitted after a successful request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, example = "the receiver answered 503")]
    pub error: Option<String>,
    /// Events that were given up, oldest first. At most the last 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dead_letters: Vec<DeadLetter>,
}

/// An event that was given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct DeadLetter {
    /// The id of the event.
    #[schema(example = "8f14e45fceea167a5a36dedd4bea2543")]
    pub id: String,
    /// The subject of the event.
    #[schema(example = "applications/retail/shop/v1/prod")]
    pub subject: String,
    /// The new phase of the subject. Omitted if the subject no longer exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Phase)]
    pub phase: Option<Phase>,
    /// The time of the transition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, format = DateTime)]
    pub at: Option<Timestamp>,
    /// The number of requests with the event.
    pub attempts: u32,
    /// The failure of the last request.
    #[schema(example = "the receiver answered 400: unknown field")]
    pub error: String,
}

/// The result of a test event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct NotifyTest {
    /// True if the receiver accepted the event.
    pub delivered: bool,
    /// The status code of the answer. Omitted if there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = u16, example = 204)]
    pub status: Option<u16>,
    /// The reason why the event was not accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pub error: Option<String>,
}

/// The result of sending dead letters again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub struct NotifyResend {
    /// The dead letters of the receiver.
    pub dead_letters: usize,
    /// The dead letters that are in the queue again. The others wait in it already, or have no room.
    pub queued: usize,
}

/// The reason why receivers were not read or tested, or why dead letters are not sent again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotifyRefusal {
    /// There is no such receiver. The text names the receivers.
    NotFound(String),
    /// Another server sends.
    NotSender(String),
    /// The store does not answer: try again.
    Unavailable(String),
}
