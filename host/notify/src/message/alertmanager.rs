//! Alerts for Alertmanager: `POST /api/v2/alerts` of
//! <https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml>.
//!
//! The labels identify an alert, so they are the names of the subject alone. State, reason and message are annotations.
//! Alertmanager resolves an alert at its `endsAt`. A firing alert gets a time in the future, and is repeated before; a
//! resolved one gets the time of its transition.

use std::collections::BTreeMap;

use kindsight_model::Phase;
use serde::Serialize;

use super::{Message, is_problem, time};
use crate::event::Event;
use crate::limits::ALERT_VALID_MS;
use crate::subject::Subject;

/// The path of the API below the URL of an Alertmanager.
const PATH: &str = "api/v2/alerts";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Alert {
    labels: BTreeMap<&'static str, String>,
    annotations: BTreeMap<&'static str, String>,
    starts_at: String,
    ends_at: String,
}

/// The labels of a subject. Alertmanager removes labels without a value.
fn labels(subject: &Subject) -> BTreeMap<&'static str, String> {
    let text = |text: &str| text.to_owned();
    match subject {
        Subject::Application(name) => BTreeMap::from([
            ("alertname", text("KindsightApplication")),
            ("application", name.to_string()),
        ]),
        Subject::Connection(name) => BTreeMap::from([
            ("alertname", text("KindsightConnection")),
            ("cluster", name.to_string()),
        ]),
        Subject::Resource(resource) => BTreeMap::from([
            ("alertname", text("KindsightResource")),
            ("application", resource.application.to_string()),
            ("app", text(&resource.app)),
            ("cluster", resource.cluster.to_string()),
            ("group", text(&resource.group)),
            ("kind", text(&resource.kind)),
            ("namespace", text(&resource.namespace)),
            ("name", text(&resource.name)),
        ]),
    }
}

fn annotations(event: &Event) -> BTreeMap<&'static str, String> {
    let state = event.to.state.as_ref();
    let phase = state.map_or("gone", |state| state.phase.as_str());
    let word = state.map_or("Gone", |state| &*state.state);
    let all = [
        ("summary", format!("{} is {word}", event.subject)),
        ("phase", phase.to_owned()),
        ("state", word.to_owned()),
        ("reason", event.to.reason.to_string()),
        ("message", event.to.message.to_string()),
        ("event", event.id.clone()),
    ];
    all.into_iter()
        .filter(|(_, text)| !text.is_empty())
        .collect()
}

fn alert(event: &Event, phases: &[Phase], now_ms: i64) -> Alert {
    let is_firing = |state: Option<Phase>| state.is_some_and(|phase| is_problem(phases, phase));
    let phase = |state: &Option<kindsight_status::PhaseState>| state.as_ref().map(|it| it.phase);
    let was_firing = is_firing(phase(&event.from));
    let at_ms = event.to.at_ms;
    // The start of a resolved alert must not be after its end. A changed problem keeps its start.
    let before_ms = event.from_at_ms.filter(|_| was_firing);
    let starts_ms = before_ms.map_or(at_ms, |before_ms| before_ms.min(at_ms));
    let ends_ms = if is_firing(phase(&event.to.state)) {
        now_ms.saturating_add(ALERT_VALID_MS)
    } else {
        at_ms
    };
    Alert {
        labels: labels(&event.subject),
        annotations: annotations(event),
        starts_at: time(starts_ms),
        ends_at: time(ends_ms),
    }
}

/// The request with some events. Alertmanager takes them in their order.
pub(super) fn message(events: &[&Event], phases: &[Phase], now_ms: i64) -> Message {
    // Of several events of a subject, the last one counts.
    let mut alerts: BTreeMap<&Subject, Alert> = BTreeMap::new();
    for event in events {
        alerts.insert(&event.subject, alert(event, phases, now_ms));
    }
    let alerts: Vec<Alert> = alerts.into_values().collect();
    Message {
        content_type: "application/json",
        path: Some(PATH),
        // Text keys can always be written.
        body: serde_json::to_vec(&alerts).unwrap_or_default(),
        id: match events {
            [event] => Some(event.id.clone()),
            _ => None,
        },
    }
}
