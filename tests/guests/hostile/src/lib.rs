//! Interpreter: does whatever a test asks it to, most of it wrong.
//!
//! What it does with an object stands in the object's `spec.do`; see [`misdeeds`] and [`moods`].
//! What it says of itself stands in its own data as JSON text, which a test overwrites in the built
//! component; see [`description`]. So one component stands for every guest that a test needs.

mod description;
mod misdeeds;
mod moods;

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct Hostile;

impl Interpreter for Hostile {
    fn describe() -> Description {
        description::read(|said| {
            misdeeds::commit(said.at("/describe").text_or_empty());
            description::describe(said)
        })
    }

    fn interpret(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        match moods::judge(object, input)? {
            Some(verdict) => Ok(verdict),
            None => misdeeds::judge(object),
        }
    }

    fn fixtures() -> Vec<Fixture> {
        description::read(|said| {
            misdeeds::commit(said.at("/list-fixtures").text_or_empty());
            description::fixtures(said)
        })
    }
}

kindsight_sdk::export!(Hostile);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_that_asks_for_nothing_is_ready() {
        let healthy = r#"{"apiVersion": "hostile.example.com/v1", "kind": "Thing", "spec": {}}"#;
        let verdict = kindsight_sdk::harness::judge::<Hostile>(healthy);
        assert_eq!(verdict.expect("a verdict").state, "Ready");
    }
}
