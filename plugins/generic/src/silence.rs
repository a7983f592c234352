//! The verdict on an object that reports nothing.
//!
//! Many Kinds never have a status (routes, rules, templates), so a missing status must not be
//! Pending forever. Other Kinds get their first status within seconds. Until then, the controller
//! has most likely done nothing, and Present would be premature.

use kindsight_sdk::prelude::*;

/// Default of `statusGraceSeconds`.
const STATUS_GRACE_S: i64 = 30;

/// Properties of the settings schema.
pub(crate) const SETTINGS: &str = r#"
    "statusGraceSeconds": {
      "type": "integer",
      "minimum": 0,
      "default": 30,
      "description": "Seconds after its creation that an object that reports nothing is Pending before it is Present."
    }"#;

/// Pending while the object is new, then Present. Present immediately if the creation time is
/// unknown.
pub(crate) fn verdict(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
    let silent = || {
        if object.status().is_empty() {
            Verdict::present("NoStatus", "it reports no status")
        } else {
            Verdict::present("NoKnownSignal", "nothing in its status is a known signal")
        }
    };
    let Some(created_ms) = object.at("/metadata/creationTimestamp").time_ms() else {
        return Ok(silent());
    };
    let grace_ms = input.setting_ms("statusGraceSeconds", STATUS_GRACE_S)?;
    let deadline_ms = created_ms.saturating_add(grace_ms);
    let message = "it is new and has not reported anything yet";
    let new = Verdict::pending("NoStatusYet", message);
    Ok(new.until(deadline_ms, input.now_ms(), silent))
}

#[cfg(test)]
mod tests {
    use kindsight_sdk::harness::judge_at;

    use crate::Generic;

    #[test]
    fn a_silent_object_is_pending_until_the_grace_is_over() {
        let created_ms = 1_704_067_200_000;
        let object = r#"{"metadata": {"creationTimestamp": "2024-01-01T00:00:00Z"}, "status": {}}"#;
        let table = [
            (created_ms, "Pending", Some(created_ms + 30_000)),
            (created_ms + 29_999, "Pending", Some(created_ms + 30_000)),
            (created_ms + 30_000, "Present", None),
        ];
        for (now_ms, state, recheck_at_ms) in table {
            let verdict = judge_at::<Generic>(object, now_ms).expect("a verdict");
            assert_eq!(verdict.state, state, "{now_ms}");
            assert_eq!(verdict.recheck_at_ms, recheck_at_ms, "{now_ms}");
        }
    }
}
