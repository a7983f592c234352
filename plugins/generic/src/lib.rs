//! The interpreter for Kinds without their own rules.
//!
//! It names no API group and no Kind except Pods. It uses only the usual conventions of controllers: conditions
//! ([`conditions`]), words such as `phase: Running` ([`members`], [`words`]), counts ([`counts`]),
//! desired states ([`desired`]), and the same conventions in nested parts of the status
//! ([`nested`]). Each of them is a piece of [`evidence`], and the worst piece determines the
//! verdict ([`weigh`]). Errors ([`errors`]) and results of operations ([`results`]) are only evidence
//! against Ready. Ready requires a good piece and no piece against it. If good pieces
//! contradict a failure, the verdict is Degraded and its message contains both. Without evidence, or
//! with other doubts about a good piece, the verdict is Present. If Pods restarted recently that the
//! object owns, directly or through other objects, it is Degraded like the workloads with their own rules.
//!
//! For an object that reports nothing, kstatus returns Current, Argo CD returns no state and
//! Karmada returns Healthy. Other differences: a failed attempt is a failure although it is retried
//! (`Reconciling`, and `Ready` False with a corresponding reason), while kstatus waits; and an
//! object without a status is Pending while it is new.

mod condition_types;
mod conditions;
mod counts;
mod desired;
mod effort;
mod errors;
mod evidence;
mod members;
mod nested;
mod results;
mod silence;
mod weigh;
mod words;

use kindsight_sdk::prelude::*;
use kindsight_sdk::standard::pods::Workload;

/// The interpreter.
pub struct Generic;

/// The state of an object that reports that the thing it represents does not exist.
const NOT_PRESENT: State = State::new(
    "NotPresent",
    Phase::NotPresent,
    "Reports that the thing it represents does not exist",
);

/// Flags that cause controllers to ignore an object.
const PAUSE_FLAGS: [&str; 6] = [
    "/spec/paused",
    "/spec/strategy/paused",
    "/spec/suspend",
    "/spec/suspended",
    "/spec/updateStrategy/paused",
    "/spec/updateStrategy/rollingUpdate/paused",
];

/// Other names of `observedGeneration` than in the API conventions.
const OBSERVED_GENERATIONS: [&str; 3] = [
    "lastEvaluatedGeneration",
    "lastObservedGeneration",
    "lastReconciledGeneration",
];

impl Interpreter for Generic {
    fn describe() -> Description {
        Description::new(
            "generic",
            env!("CARGO_PKG_VERSION"),
            "Any Kind that no other interpreter knows, by the usual conventions",
        )
        .kind(Workload::owner_kind(by_conventions(Kind::new(
            "*", "*", "*",
        ))))
        .states(&ALL)
        .states(&[NOT_PRESENT])
        .settings_schema(&format!(
            r#"{{"type": "object", "additionalProperties": false, "properties": {{{},{}}}}}"#,
            standard::pods::SETTINGS,
            silence::SETTINGS
        ))
    }

    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure> {
        if let Some(verdict) = standard::deletion(object, input) {
            return Ok(verdict);
        }
        effort::begin();
        let verdict = stalled(object)
            .or_else(|| unobserved(object).map(|pending| paused(object).unwrap_or(pending)))
            .or_else(|| weigh::verdict(object))
            .map(doubt_if_not_fully_read);
        if let Some(suspended) = suspended(object).filter(|_| !has_finished(verdict.as_ref())) {
            return Ok(suspended);
        }
        let verdict = verdict.map_or_else(|| silence::verdict(object, input), Ok)?;
        Workload::with_restarts(verdict, input)
    }

    fn fixtures() -> Fixtures {
        fixtures!("fixtures")
    }
}

#[cfg(feature = "component")]
kindsight_sdk::export!(Generic);

/// Adds the fields that show the conventions.
fn by_conventions(kind: Kind) -> Kind {
    kind.uses_now()
        .deletion_check()
        .fields(&[
            "/metadata/creationTimestamp",
            "/metadata/generation",
            "/spec/desiredState",
            "/spec/instances",
            "/spec/replicas",
            "/spec/size",
            "/status",
        ])
        .fields(&desired::MANAGED)
        .fields(&PAUSE_FLAGS)
}

/// Suspended by its spec, which has priority over the status, because the status may be older.
fn suspended(object: &Object<'_>) -> Option<Verdict> {
    let flag = PAUSE_FLAGS.iter().find(|flag| object.at(flag).is_true())?;
    let name = flag.trim_start_matches('/').replace('/', ".");
    Some(Verdict::suspended("Suspended", format!("{name} is set")))
}

/// Suspended by its conditions. Only for a generation that was not observed. Otherwise, the
/// conditions are weighed with the remaining evidence.
fn paused(object: &Object<'_>) -> Option<Verdict> {
    let pause = conditions::pause(object.status())?;
    evidence::verdict(&[pause])
}

/// Returns whether the object has completed. It is then not suspended, regardless of its spec.
fn has_finished(verdict: Option<&Verdict>) -> bool {
    verdict.is_some_and(|verdict| verdict.state == "Succeeded")
}

/// Present, if there is good evidence but not everything was read.
fn doubt_if_not_fully_read(verdict: Verdict) -> Verdict {
    if effort::is_spent() && matches!(&*verdict.state, "Ready" | "Succeeded") {
        let message = "it reports ready, but its status has more parts than are read";
        return Verdict::present("TooMuchToRead", message);
    }
    verdict
}

/// Stalled has priority over the generation: see [`standard::progress`]. If the object also reports
/// that it is ready, all evidence is weighed.
fn stalled(object: &Object<'_>) -> Option<Verdict> {
    let conditions = object.conditions();
    let is_ready = conditions
        .find("Ready")
        .is_some_and(|ready| ready.is_true());
    let is_good = is_ready || (members::are_good(object.status()) && !object.is_stale());
    let stalled = conditions.find("Stalled")?;
    (stalled.is_true() && !is_good).then(|| {
        let verdict = Verdict::failed(stalled.reason_or("Stalled"), stalled.message().to_owned());
        verdict.since(stalled.since_ms())
    })
}

fn unobserved(object: &Object<'_>) -> Option<Verdict> {
    if object.is_stale() {
        return Some(standard::generation_not_observed(object));
    }
    let generation = object.generation()?;
    let observed = OBSERVED_GENERATIONS
        .iter()
        .find_map(|name| object.status().get(name).integer())?;
    (observed < generation).then(|| {
        let message = format!("generation {generation} is not observed yet, only {observed}");
        Verdict::pending("GenerationNotObserved", message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fixture_holds() {
        kindsight_sdk::harness::check_fixtures::<Generic>();
    }

    #[test]
    fn no_damage_makes_an_object_ready() {
        kindsight_sdk::harness::check_mutations::<Generic>();
    }

    /// Fields that a reporter omits or rewrites never make an object ready.
    #[test]
    fn an_object_that_was_not_read_completely_is_not_ready() {
        let conditions = r#"{"type": "Ready", "status": "True"},"#.repeat(50_000);
        let object = format!(
            r#"{{"spec": {{}}, "status": {{"conditions": [{conditions}
                {{"type": "Healthy", "status": "False"}}]}}}}"#
        );
        let verdict = kindsight_sdk::harness::judge::<Generic>(&object).expect("a verdict");
        assert_eq!(
            (&*verdict.state, &*verdict.reason),
            ("Present", "TooMuchToRead")
        );
        let ready =
            r#"{"spec": {}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}"#;
        let verdict = kindsight_sdk::harness::judge::<Generic>(ready).expect("a verdict");
        assert_eq!(
            verdict.state, "Ready",
            "the next object has the full effort"
        );
    }

    #[test]
    fn an_object_does_not_become_ready_because_fields_are_omitted() {
        let objects = [
            r#"{"spec": {"replicas": 3}, "status": {"phase": "Ready", "replicas": 2, "readyReplicas": 2}}"#,
            r#"{"spec": {"replicas": 3}, "status": {"replicas": 3, "readyReplicas": 1, "ready": true}}"#,
            r#"{"metadata": {"generation": 2}, "spec": {}, "status": {"observedGeneration": 1, "phase": "Ready"}}"#,
        ];
        for object in objects {
            let without_spec = object.replace(r#""spec""#, r#""other""#);
            let without_status = object.replace(r#""status""#, r#""other""#);
            let as_text = (1..=3).fold(object.to_owned(), |text, number| {
                text.replace(&format!(": {number}"), &format!(r#": "{number}""#))
            });
            for object in [object, &without_spec, &without_status, &as_text] {
                let verdict = kindsight_sdk::harness::judge::<Generic>(object);
                let state = verdict.expect("a verdict").state;
                assert!(state != "Ready" && state != "Succeeded", "{object}");
            }
        }
    }
}
