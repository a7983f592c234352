//! The requests to receivers.

mod alertmanager;
mod cloudevents;
mod slack;

use kindsight_api::notify::NotifyFormat;
use kindsight_model::{DigName, Phase};
use kindsight_status::PhaseState;

use crate::event::{Event, Observed};
use crate::limits::ALERTS_MAX;
use crate::subject::Subject;

/// A request, without its signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) content_type: &'static str,
    /// The path below the URL of the receiver; `None` for the URL itself.
    pub(crate) path: Option<&'static str>,
    pub(crate) body: Vec<u8>,
    /// The id of the event; `None` for several events.
    pub(crate) id: Option<String>,
}

/// Maximum number of events in a request.
pub(crate) fn events_max(format: NotifyFormat) -> usize {
    match format {
        NotifyFormat::CloudEvents | NotifyFormat::Slack => 1,
        NotifyFormat::Alertmanager => ALERTS_MAX,
    }
}

/// The request with these events: at least one, at most [`events_max`].
pub(crate) fn message(
    format: NotifyFormat,
    phases: &[Phase],
    events: &[&Event],
    now_ms: i64,
) -> Message {
    match format {
        NotifyFormat::CloudEvents => cloudevents::message(events),
        NotifyFormat::Alertmanager => alertmanager::message(events, phases, now_ms),
        NotifyFormat::Slack => slack::message(events, false),
    }
}

/// The request with an event that may have arrived before. Receivers that do not know ids get a remark about it.
pub(crate) fn repetition(
    format: NotifyFormat,
    phases: &[Phase],
    event: &Event,
    now_ms: i64,
) -> Message {
    match format {
        NotifyFormat::Slack => slack::message(&[event], true),
        _ => message(format, phases, &[event], now_ms),
    }
}

/// Returns whether receivers of a format recognize an event that they have received before.
pub(crate) fn knows_ids(format: NotifyFormat) -> bool {
    match format {
        // An alert is identified by its labels.
        NotifyFormat::CloudEvents | NotifyFormat::Alertmanager => true,
        NotifyFormat::Slack => false,
    }
}

/// Returns whether a phase is a problem, for a receiver with these phases.
pub(crate) fn is_problem(phases: &[Phase], phase: Phase) -> bool {
    if phases.is_empty() {
        return matches!(phase, Phase::Degraded | Phase::Failed | Phase::Unknown);
    }
    phases.contains(&phase)
}

/// The event of a test: a problem of an application that does not exist. An alert of a test ends by itself.
pub(crate) fn test_event(receiver: &str, phases: &[Phase], now_ms: i64) -> Event {
    let name = DigName {
        project: DigName::NONE.into(),
        composite_app: "kindsight-test".into(),
        version: DigName::NONE.into(),
        dig: DigName::NONE.into(),
    };
    let sequence = u64::try_from(now_ms).unwrap_or_default();
    let to = Observed {
        state: Some(PhaseState {
            phase: phases.first().copied().unwrap_or(Phase::Failed),
            state: "Test".into(),
        }),
        at_ms: now_ms,
        reason: "Test".into(),
        message: format!("a test of the receiver {receiver}").into(),
    };
    Event::new(receiver, sequence, Subject::Application(name), None, to)
}

/// A time as text.
fn time(ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(ms);
    time.unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests;
