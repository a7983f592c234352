//! The rule of the interpreter {{name}}.

use kindsight_sdk::prelude::*;

struct Rule;

impl Interpreter for Rule {
    fn describe() -> Description {
        Description::new("{{name}}", env!("CARGO_PKG_VERSION"), "{{kind}} of {{group_or_core}}")
            .kind(Kind::new("{{group}}", "*", "{{kind}}").fields(&[
                "/metadata/generation",
                "/status/observedGeneration",
                "/status/conditions",
            ]))
            .states(&[READY, PENDING, FAILED])
    }

    fn judge(object: &Object<'_>, _: &Input<'_>) -> Result<Verdict, Failure> {
        let is_seen = object.at("/status/observedGeneration").is_present();
        // Also true if the number cannot be read.
        if is_seen && object.observed_generation().is_none_or(|seen| Some(seen) < object.generation()) {
            let message = "the controller has not seen the newest generation";
            return Ok(Verdict::pending("Outdated", message));
        }
        let mut conditions = object.conditions().iter();
        let stalled = conditions.find(|condition| condition.name() == "Stalled" && condition.is_true());
        if let Some(stalled) = stalled {
            return Ok(Verdict::failed(stalled.reason_or("Stalled"), stalled.message().to_owned()));
        }
        let mut conditions = object.conditions().iter();
        let ready = conditions.find(|condition| condition.name() == "Ready");
        Ok(match ready {
            None => Verdict::pending("NoStatus", "there is no condition Ready yet"),
            Some(ready) if ready.is_true() => Verdict::ready(ready.reason_or("Ready"), ready.message().to_owned()),
            Some(ready) => Verdict::pending(ready.reason_or("NotReady"), ready.message().to_owned()),
        })
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

kindsight_sdk::export!(Rule);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<Rule>();
    }

    #[test]
    fn damaged_objects_are_not_ready() {
        kindsight_sdk::harness::check_mutations::<Rule>();
    }
}
