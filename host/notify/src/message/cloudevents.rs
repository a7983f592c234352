//! `CloudEvents` 1.0 in structured mode: <https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md>.

use kindsight_status::PhaseState;
use serde::Serialize;

use super::{Message, time};
use crate::event::Event;
use crate::subject::Subject;

const CONTENT_TYPE: &str = "application/cloudevents+json; charset=utf-8";
/// The attribute `source`: events of one store. Together with the id, it identifies an event.
const SOURCE: &str = "/kindsight";

#[derive(Serialize)]
struct CloudEvent<'a> {
    specversion: &'static str,
    id: &'a str,
    source: &'static str,
    r#type: &'static str,
    subject: String,
    time: String,
    datacontenttype: &'static str,
    /// The extension `sequence`. The order of the texts is the order of the events.
    sequence: String,
    data: Data<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Data<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    application: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    /// Omitted if the subject is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a PhaseState>,
    /// Omitted if the subject no longer exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a PhaseState>,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'a str,
    /// Number of earlier events that were merged into this one.
    merged: u64,
}

impl<'a> Data<'a> {
    fn of(event: &'a Event) -> Self {
        let data = Self {
            application: None,
            app: None,
            cluster: None,
            group: None,
            kind: None,
            namespace: None,
            name: None,
            from: event.from.as_ref(),
            to: event.to.state.as_ref(),
            reason: &event.to.reason,
            message: &event.to.message,
            merged: event.merged,
        };
        match &event.subject {
            Subject::Application(name) => Self {
                application: Some(name.to_string()),
                ..data
            },
            Subject::Connection(name) => Self {
                cluster: Some(name.to_string()),
                ..data
            },
            Subject::Resource(resource) => Self {
                application: Some(resource.application.to_string()),
                app: Some(&resource.app),
                cluster: Some(resource.cluster.to_string()),
                group: Some(&resource.group),
                kind: Some(&resource.kind),
                namespace: Some(AsRef::as_ref(&resource.namespace)),
                name: Some(&resource.name),
                ..data
            },
        }
    }
}

fn event_type(subject: &Subject) -> &'static str {
    match subject {
        Subject::Application(_) => "dev.kindsight.application.transition",
        Subject::Resource(_) => "dev.kindsight.resource.transition",
        Subject::Connection(_) => "dev.kindsight.connection.transition",
    }
}

/// The request with one event.
pub(super) fn message(events: &[&Event]) -> Message {
    let body = events.first().map(|event| CloudEvent {
        specversion: "1.0",
        id: &event.id,
        source: SOURCE,
        r#type: event_type(&event.subject),
        subject: event.subject.to_string(),
        time: time(event.to.at_ms),
        datacontenttype: "application/json",
        sequence: format!("{:020}", event.sequence),
        data: Data::of(event),
    });
    Message {
        content_type: CONTENT_TYPE,
        path: None,
        // Text keys and numbers can always be written.
        body: serde_json::to_vec(&body).unwrap_or_default(),
        id: events.first().map(|event| event.id.clone()),
    }
}
