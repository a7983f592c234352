//! Interpreter: cranes of example.com, a Kind that exists only in tests, with a state that no other
//! interpreter declares. It is written as an author would write it. The tests that load it into a
//! running host are in `host/kindsight/tests/binary/interpreters/`.

use kindsight_sdk::prelude::*;

/// Schema of its settings: the phase at which a crane counts as ready.
const SETTINGS: &str = r#"{
    "type": "object",
    "properties": {"ready": {"type": "string"}},
    "additionalProperties": false
}"#;

/// A crane that takes no new loads.
const DRAINING: State = State::new(
    "Draining",
    Phase::Pending,
    "Finishing its work before it stops",
);

/// The interpreter.
pub struct Cranes;

impl Interpreter for Cranes {
    fn describe() -> Description {
        Description::new("crane", "1.0.0", "Cranes of example.com")
            .kind(Kind::new("example.com", "*", "Crane").fields(&["/status/phase"]))
            .states(&[READY, PENDING, DRAINING])
            .settings_schema(SETTINGS)
    }

    fn judge(crane: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        let phase = crane.at("/status/phase").text_or_empty();
        let ready = input.settings().get("ready");
        if ready.text() == Some("") {
            let why = "`ready` cannot be empty: name a phase";
            return Err(Failure::InvalidSettings(why.to_owned()));
        }
        let is_set = !phase.is_empty() && ready.text() == Some(phase);
        Ok(match phase {
            _ if is_set => Verdict::ready("AsSet", phase.to_owned()),
            "Working" => Verdict::ready("Working", ""),
            "Draining" => Verdict::new(DRAINING, "Draining", "it finishes its work"),
            _ => Verdict::pending("NotWorking", phase.to_owned()),
        })
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

kindsight_sdk::export!(Cranes);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<Cranes>();
    }
}
