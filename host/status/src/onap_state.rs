//! ONAP's three words for a phase.
//!
//! | phase | word | reason |
//! |---|---|---|
//! | ready | `Ready` | |
//! | present | `Ready` | its Kind reports no status, so its existence is all that can be required, as in the plugin's own checks |
//! | degraded | `Ready` | it works |
//! | suspended | `Pending` | it was stopped on purpose, so it does not work now |
//! | pending | `Pending` | |
//! | terminating | `Pending` | it is about to go; its removal is a separate event |
//! | not-present | `Pending` | it is expected, and may still be created |
//! | failed | `Failed` | |
//! | unknown | `Pending` | there is proof of neither readiness nor failure |

use kindsight_api::onap::OnapState;
use kindsight_model::Phase;

/// ONAP's word for a phase. Used for single resources and for the rolled-up phase of an application.
pub fn onap_state(phase: Phase) -> OnapState {
    match phase {
        Phase::Ready | Phase::Present | Phase::Degraded => OnapState::Ready,
        Phase::Suspended
        | Phase::Pending
        | Phase::Terminating
        | Phase::NotPresent
        | Phase::Unknown => OnapState::Pending,
        Phase::Failed => OnapState::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_word_for_each_phase() {
        let words: Vec<(&str, &str)> = Phase::ALL
            .iter()
            .map(|phase| (phase.as_str(), onap_state(*phase).as_str()))
            .collect();
        assert_eq!(
            words,
            [
                ("ready", "Ready"),
                ("present", "Ready"),
                ("suspended", "Pending"),
                ("degraded", "Ready"),
                ("pending", "Pending"),
                ("terminating", "Pending"),
                ("not-present", "Pending"),
                ("failed", "Failed"),
                ("unknown", "Pending"),
            ]
        );
    }
}
