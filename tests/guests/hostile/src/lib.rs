//! Interpreter: misbehaves in the ways that a test requests.
//!
//! An object's `spec.do` selects the behaviour; see [`misdeeds`] and [`moods`]. The guest's
//! description is JSON text in its own data, which a test overwrites in the built component; see
//! [`description`]. One component therefore serves as every guest that a test needs.

mod description;
mod misdeeds;
mod moods;

use kindsight_sdk::prelude::*;

/// The interpreter.
pub struct Hostile;

impl Interpreter for Hostile {
    fn describe() -> Description {
        description::read(|text| {
            misdeeds::commit(text.at("/describe").text_or_empty());
            description::describe(text)
        })
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        match moods::judge(object, input) {
            Some(verdict) => Ok(verdict),
            None => misdeeds::judge(object),
        }
    }

    fn fixtures() -> Fixtures {
        description::read(|text| {
            misdeeds::commit(text.at("/list-fixtures").text_or_empty());
            description::fixtures(text)
        })
    }
}

kindsight_sdk::export!(Hostile);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_without_a_request_is_ready() {
        let healthy = r#"{"apiVersion": "hostile.example.com/v1", "kind": "Thing", "spec": {}}"#;
        let verdict = kindsight_sdk::harness::judge::<Hostile>(healthy);
        assert_eq!(verdict.expect("a verdict").state, "Ready");
    }
}
