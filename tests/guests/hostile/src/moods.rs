//! Answers by more than the object: its settings, and the number of calls so far.

use std::sync::atomic::{AtomicU32, Ordering};

use kindsight_sdk::prelude::*;

/// Calls of this instance that asked it to waver: state that no interpreter may keep.
static CALLS: AtomicU32 = AtomicU32::new(0);

/// Answers what the object's `spec.do` asks for, where it is one of these.
///
/// # Errors
/// Where the settings are no JSON object.
pub(crate) fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Option<Verdict>, Failure> {
    Ok(match object.at("/spec/do").text_or_empty() {
        "say-settings" => {
            let level = input.settings(|settings| {
                let level = settings.root().get("level").integer();
                Ok(level.map_or_else(|| "no level".to_owned(), |level| format!("level {level}")))
            })?;
            let message = level.unwrap_or_else(|| "no settings".to_owned());
            Some(Verdict::ready("Settings", message))
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
    })
}
