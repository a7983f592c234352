//! Refusals of changes that the store did not accept.

use kindsight_api::interpreters::Refusal;
use kindsight_store::{Error, chain};

/// The refusal of a change, with the outcome of the change.
pub(crate) fn not_stored(what: &str, error: &Error) -> Refusal {
    let why = chain(error);
    match error {
        Error::Unavailable { .. } => {
            Refusal::Unavailable(format!("{what} was not stored, and nothing changed: {why}"))
        }
        Error::OutcomeUnknown { .. } => Refusal::Unavailable(format!(
            "it is not known whether {what} was stored; check the interpreter before you try again: {why}"
        )),
        _ => Refusal::Failed(format!("{what} was not stored: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_names_the_outcome_of_the_change() {
        let reason = || "etcd-0:2379: connection refused".to_owned();
        let away = Error::Unavailable { reason: reason() };
        let unknown = Error::OutcomeUnknown {
            key: "/k/".to_owned(),
            reason: reason(),
        };
        for (error, expected) in [(away, "nothing changed"), (unknown, "it is not known")] {
            let refusal = not_stored("the change", &error);
            let Refusal::Unavailable(why) = refusal else {
                panic!("{refusal:?}");
            };
            assert!(why.contains(expected) && why.contains("etcd-0"), "{why}");
        }
        let refusal = not_stored("the change", &Error::Closed);
        assert!(matches!(refusal, Refusal::Failed(_)), "{refusal:?}");
    }
}
