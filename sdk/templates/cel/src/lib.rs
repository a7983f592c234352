//! Template of interpreters with rules in CEL.
//!
//! The host splices the rules into this component (`host/conversion`). The rules are compiled once
//! for each instance.

mod related;
mod rule;
mod rules;
mod scope;

use kindsight_sdk::prelude::*;

use crate::rules::Rules;

/// The interpreter.
pub struct Cel;

thread_local! {
    /// The rules in the data of the component, or the reason why they cannot be used.
    ///
    /// They live as long as the instance.
    static RULES: Result<&'static Rules, String> = Rules::read(kindsight_sdk::spliced::data())
        .map(|rules| &*Box::leak(Box::new(rules)));
}

impl Interpreter for Cel {
    fn describe() -> Description {
        RULES.with(|rules| match rules {
            Ok(rules) => rules.description(),
            // The host refuses the empty description, and shows the log.
            Err(why) => {
                kindsight_sdk::log(kindsight_sdk::LogLevel::Error, why);
                Description::new("", "", why)
            }
        })
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        RULES.with(|rules| match rules {
            Ok(rules) => rules.judge(object, input),
            Err(why) => Err(Failure::Internal(why.clone())),
        })
    }

    fn fixtures() -> Fixtures {
        RULES.with(|rules| match rules {
            Ok(rules) => Fixtures::from_json(rules.fixtures().to_owned()),
            Err(_) => Fixtures::none(),
        })
    }
}

kindsight_sdk::export!(Cel);
