//! Compares the promises of fixtures with the answers of an interpreter.

use crate::fixture::{Expectation, Fixture};
use crate::phase::Phase;
use crate::reading::cut;
use crate::time::rfc_3339;

/// The reason why a verdict with a recheck time is invalid for a Kind that receives no time.
pub const RECHECK_WITHOUT_TIME: &str = "a recheck time, for a Kind whose verdicts do not depend on the time: declare `uses-now` (`.uses_now()` in the SDK), or remove the recheck time";

/// A verdict to compare with a promise.
#[derive(Debug, Clone, Copy)]
pub struct Given<'v> {
    /// The state.
    pub state: &'v str,
    /// The phase of the state, as the contract names it.
    pub phase: &'v str,
    /// The reason.
    pub reason: &'v str,
    /// The message, which is shown but not compared.
    pub message: &'v str,
    /// The start time of the state, in Unix milliseconds.
    pub since_ms: Option<i64>,
    /// The recheck time, in Unix milliseconds.
    pub recheck_at_ms: Option<i64>,
}

impl Fixture {
    /// The start time of a verdict as the host keeps it: not after the time of the call, if the
    /// fixture has one.
    pub fn since(&self, since_ms: Option<i64>) -> Option<i64> {
        let has_time = self.now_ms != 0;
        since_ms.map(|since_ms| {
            if has_time {
                since_ms.min(self.now_ms)
            } else {
                since_ms
            }
        })
    }
}

impl Expectation {
    /// The difference between a verdict and this promise, as text for the author, if there is one.
    pub fn difference(&self, given: &Given<'_>) -> Option<String> {
        let differs = self.failure.is_some() || !self.holds(given);
        differs.then(|| format!("expected {}, got {}", self.words(), shown(given)))
    }

    /// Returns whether the promised verdict is ready. `is_ready` returns whether a declared state is
    /// ready.
    ///
    /// `None` if the promise names neither a phase nor a state, for example only a reason. The
    /// verdict on the fixture then decides.
    pub fn is_ready(&self, is_ready: impl FnOnce(&str) -> bool) -> Option<bool> {
        let by_phase = self.phase.map(|phase| phase == Phase::Ready);
        by_phase.or_else(|| self.state.as_deref().map(is_ready))
    }

    fn holds(&self, given: &Given<'_>) -> bool {
        let is_same =
            |promised: Option<&str>, given: &str| promised.is_none_or(|promised| promised == given);
        let is_same_time = |promised: Option<i64>, given| promised.is_none() || promised == given;
        is_same(self.state.as_deref(), given.state)
            && is_same(self.reason.as_deref(), given.reason)
            && is_same(self.phase.map(Phase::as_str), given.phase)
            && is_same_time(self.since_ms, given.since_ms)
            && is_same_time(self.recheck_at_ms, given.recheck_at_ms)
    }

    /// The promise as text.
    pub fn words(&self) -> String {
        let mut words = Vec::new();
        let state = self.state.as_deref();
        words.extend(state.map(|state| format!("state {}", cut(state))));
        words.extend(self.reason.as_deref().map(cut));
        words.extend(self.phase.map(|phase| format!("phase {phase}")));
        words.extend(self.since_ms.map(|ms| format!("since {}", rfc_3339(ms))));
        let recheck = self.recheck_at_ms;
        words.extend(recheck.map(|ms| format!("recheck at {}", rfc_3339(ms))));
        words.extend(self.failure.map(|failure| failure.to_string()));
        words.join(" ")
    }
}

/// A verdict as text.
fn shown(given: &Given<'_>) -> String {
    let Given {
        state,
        reason,
        message,
        ..
    } = given;
    let time = |what: &str, ms: Option<i64>| {
        ms.map_or_else(String::new, |ms| format!(", {what} {}", rfc_3339(ms)))
    };
    let since = time("since", given.since_ms);
    let recheck = time("recheck at", given.recheck_at_ms);
    format!("{state} {reason} ({message}){since}{recheck}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIVEN: Given<'_> = Given {
        state: "Pending",
        phase: "pending",
        reason: "Slow",
        message: "it takes long",
        since_ms: Some(1_000),
        recheck_at_ms: None,
    };

    fn promise() -> Expectation {
        Expectation {
            state: Some("Pending".to_owned()),
            reason: Some("Slow".to_owned()),
            phase: Some(Phase::Pending),
            since_ms: Some(1_000),
            ..Expectation::default()
        }
    }

    #[test]
    fn a_promise_is_compared_as_far_as_it_is_given() {
        assert_eq!(promise().difference(&GIVEN), None);
        assert_eq!(Expectation::default().difference(&GIVEN), None);
        let late = Expectation {
            since_ms: Some(2_000),
            ..promise()
        };
        let told = late.difference(&GIVEN);
        assert_eq!(
            told.as_deref(),
            Some(
                "expected state Pending Slow phase pending since 1970-01-01T00:00:02Z, got Pending Slow (it takes long), since 1970-01-01T00:00:01Z"
            )
        );
        let again = Expectation {
            recheck_at_ms: Some(5_000),
            ..promise()
        };
        assert!(again.difference(&GIVEN).is_some());
        let other = Expectation {
            phase: Some(Phase::Failed),
            ..Expectation::default()
        };
        let told = other.difference(&GIVEN).unwrap_or_default();
        assert!(told.starts_with("expected phase failed, got "), "{told}");
    }

    #[test]
    fn a_promise_is_ready_by_its_phase_or_its_state() {
        let is_ready = |promise: Expectation| promise.is_ready(|state| state == "Up");
        let of_state = |state: &str| Expectation {
            state: Some(state.to_owned()),
            ..Expectation::default()
        };
        let of_phase = |phase| Expectation {
            phase: Some(phase),
            ..Expectation::default()
        };
        assert_eq!(is_ready(of_state("Up")), Some(true));
        assert_eq!(is_ready(of_state("Down")), Some(false));
        assert_eq!(is_ready(of_phase(Phase::Ready)), Some(true));
        assert_eq!(is_ready(of_phase(Phase::Present)), Some(false));
        let reason = Expectation {
            reason: Some("Up".to_owned()),
            ..Expectation::default()
        };
        assert_eq!(is_ready(reason), None);
    }
}
