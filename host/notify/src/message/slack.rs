//! Messages for incoming webhooks of Slack, and of programs with the same interface (Mattermost, Rocket.Chat):
//! <https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks>.

use std::fmt::Write as _;

use kindsight_model::{Phase, clean};
use kindsight_status::PhaseState;
use serde::Serialize;

use super::{Message, is_problem};
use crate::event::Event;
use crate::subject::Subject;

/// Maximum length of a text from a cluster, in bytes.
const TEXT_BYTES_MAX: usize = 600;

/// The remark in a message that may have arrived before.
const REPETITION: &str =
    "\n(this message may be a repetition: the answer to an earlier request is not known)";

#[derive(Serialize)]
struct Webhook {
    text: String,
}

/// A text without the characters that have a meaning in Slack's markup. A cluster cannot mention users or make links.
fn escaped(text: &str) -> String {
    let text = clean(text, TEXT_BYTES_MAX);
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    // Quotation marks of code and emphasis would end the marks around a text.
    text.replace('>', "&gt;").replace(['`', '*', '~'], "'")
}

fn word(state: Option<&PhaseState>) -> String {
    escaped(state.map_or("Gone", |state| &*state.state))
}

fn subject(subject: &Subject) -> String {
    match subject {
        Subject::Application(name) => format!("application `{name}`"),
        Subject::Connection(name) => format!("cluster `{name}`"),
        Subject::Resource(resource) => {
            let name = escaped(&format!("{}/{}", resource.kind, resource.name));
            let (cluster, application) = (&resource.cluster, &resource.application);
            format!("`{name}` in cluster `{cluster}` (application `{application}`)")
        }
    }
}

fn text(event: &Event) -> String {
    let state = event.to.state.as_ref();
    let sign = match state.map(|state| state.phase) {
        Some(phase) if is_problem(&[], phase) => ":red_circle:",
        Some(Phase::Ready | Phase::Present) => ":large_green_circle:",
        _ => ":white_circle:",
    };
    let mut text = format!("{sign} {} is *{}*", subject(&event.subject), word(state));
    // Writing to a text does not fail.
    if event.from.is_some() {
        let _ = write!(text, " (was {})", word(event.from.as_ref()));
    }
    if !event.to.reason.is_empty() {
        let _ = write!(text, "\n{}", escaped(&event.to.reason));
    }
    if !event.to.message.is_empty() {
        let _ = write!(text, "\n{}", escaped(&event.to.message));
    }
    if event.merged > 0 {
        let _ = write!(text, "\n({} earlier changes are not shown)", event.merged);
    }
    text
}

/// The request with one event. A repetition has a remark.
pub(super) fn message(events: &[&Event], is_repetition: bool) -> Message {
    let first = events.first();
    let mut text = first.map_or_else(String::new, |event| text(event));
    if is_repetition {
        text.push_str(REPETITION);
    }
    let webhook = Webhook { text };
    Message {
        content_type: "application/json",
        path: None,
        // A text can always be written.
        body: serde_json::to_vec(&webhook).unwrap_or_default(),
        id: first.map(|event| event.id.clone()),
    }
}
