//! Answers that depend on more than the object: on its settings, and on the number of calls so far.

use std::sync::atomic::{AtomicU32, Ordering};

use kindsight_sdk::prelude::*;
use kindsight_sdk::{LogLevel, log};

/// Number of calls of this instance that requested varying answers. An interpreter must not keep
/// such state.
static CALLS: AtomicU32 = AtomicU32::new(0);

/// Answers as the object's `spec.do` requests, if it is one of these behaviours.
pub(crate) fn judge(object: &Object<'_>, input: &Input<'_>) -> Option<Verdict> {
    if matches!(object.kind(), "Secret" | "ConfigMap") {
        let mut texts = String::new();
        tell(object.root(), &mut texts);
        log(LogLevel::Warn, &texts);
        return Some(Verdict::ready("Told", texts));
    }
    match object.at("/spec/do").text_or_empty() {
        "say-settings" => {
            let settings = input.settings();
            let level = settings.get("level").integer();
            let message = match level {
                Some(level) => format!("level {level}"),
                None if settings.is_empty() => "no settings".to_owned(),
                None => "no level".to_owned(),
            };
            Some(Verdict::ready("Settings", message))
        }
        "weigh-level" => {
            let level = input.settings().get("level").integer();
            Some(if level.is_some_and(|level| level >= 5) {
                Verdict::ready("High", "")
            } else {
                Verdict::pending("Low", "")
            })
        }
        "recheck" => {
            let at_ms = object.at("/spec/at").integer().unwrap_or(0);
            Some(Verdict::pending("Rechecks", "").recheck_at(at_ms))
        }
        "waver" => {
            let is_even = CALLS.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
            Some(if is_even {
                Verdict::ready("Wavers", "")
            } else {
                Verdict::pending("Wavers", "")
            })
        }
        _ => None,
    }
}

/// Collects every text in an object, to report the complete input.
fn tell(node: Node<'_>, texts: &mut String) {
    texts.push_str(node.text_or_empty());
    texts.push(' ');
    for item in node.items() {
        tell(item, texts);
    }
    for (name, member) in node.members() {
        texts.push_str(name);
        tell(member, texts);
    }
}
