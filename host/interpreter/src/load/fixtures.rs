//! Tries the fixtures of a component before it may go live.

use std::sync::Arc;

use kindsight_model::{Object, Verdict};
use wasmtime::component::{ComponentType, Lift};

use crate::bounded_store::{begin, fault_of, store};
use crate::call_input::Settings;
use crate::describe::cut;
use crate::instance_context::InstanceContext;
use crate::interpreter::Interpreter;
use crate::limits::{LOAD_ANSWER_BYTES_MAX, LOAD_DEADLINE, Limits};
use crate::load_error::LoadError;
use crate::related::Siblings;
use crate::trial::Trial;

const INTERFACE: &str = "kindsight:interpreter/fixtures@1.0.0";
/// Fixtures of one component; one with more is refused.
const FIXTURES_MAX: usize = 256;

/// `fixture` of the contract.
#[derive(ComponentType, Lift)]
#[component(record)]
struct Fixture {
    name: String,
    object: String,
    related: Vec<Related>,
    #[component(name = "now-ms")]
    now_ms: i64,
    settings: Option<String>,
    expected: Expectation,
}

/// `related-object` of the contract.
#[derive(ComponentType, Lift)]
#[component(record)]
struct Related {
    group: String,
    version: String,
    kind: String,
    namespace: String,
    name: String,
    object: String,
}

/// `expectation` of the contract.
#[derive(ComponentType, Lift)]
#[component(record)]
struct Expectation {
    state: String,
    reason: Option<String>,
}

/// Tries every fixture the component brings, on one instance as production does.
pub(super) fn try_all(interpreter: &Interpreter, limits: &Limits) -> Result<(), LoadError> {
    let fixtures = list(interpreter, limits)?;
    if fixtures.len() > FIXTURES_MAX {
        let many = format!(
            "{} fixtures are over the limit of {FIXTURES_MAX}",
            fixtures.len()
        );
        return Err(LoadError::Fixtures(vec![many]));
    }
    let mut trial = Trial::new(interpreter, limits);
    let wrong: Vec<String> = fixtures
        .iter()
        .filter_map(|fixture| {
            let what = mismatch(&mut trial, fixture)?;
            Some(format!("fixture `{}`: {what}", cut(&fixture.name)))
        })
        .collect();
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(LoadError::Fixtures(wrong))
    }
}

/// Asks the component for its fixtures; none where it does not export the interface.
fn list(interpreter: &Interpreter, limits: &Limits) -> Result<Vec<Fixture>, LoadError> {
    let pre = interpreter.pre();
    let component = pre.component();
    let Some((_, interface)) = component.get_export(None, INTERFACE) else {
        return Ok(Vec::new());
    };
    let Some((_, function)) = component.get_export(Some(&interface), "fixtures") else {
        return Ok(Vec::new());
    };
    let by = Arc::clone(interpreter.by());
    let context = InstanceContext::new(by, Arc::default(), limits.memory_bytes_max);
    let mut store = store(pre.engine(), context);
    store.set_hostcall_fuel(LOAD_ANSWER_BYTES_MAX);
    begin(&mut store, LOAD_DEADLINE);
    let answer = pre.instantiate(&mut store).and_then(|instance| {
        let function = instance.get_typed_func::<(), (Vec<Fixture>,)>(&mut store, &function)?;
        begin(&mut store, LOAD_DEADLINE);
        function.call(&mut store, ())
    });
    let (fixtures,) =
        answer.map_err(|error| LoadError::Call("fixtures", fault_of(&store, &error)))?;
    Ok(fixtures)
}

/// The difference between the answer and the expectation, if any.
fn mismatch(trial: &mut Trial<'_>, fixture: &Fixture) -> Option<String> {
    let object = match Object::from_json(fixture.object.as_str()) {
        Ok(object) => object,
        Err(error) => return Some(error.to_string()),
    };
    let related: Result<Vec<Object>, String> = fixture.related.iter().map(related_object).collect();
    let siblings = match related {
        Ok(related) => Siblings::given(&related),
        Err(what) => return Some(what),
    };
    let settings = fixture.settings.as_deref().map(Arc::from);
    let verdict = match trial.judge(
        &object,
        &siblings,
        fixture.now_ms,
        &Settings::of(settings.as_ref()),
    ) {
        Ok(verdict) => verdict,
        Err(what) => return Some(what),
    };
    if holds(&fixture.expected, &verdict) {
        return None;
    }
    let expected = &fixture.expected;
    let reason = expected.reason.as_deref();
    let reason = reason.map_or_else(String::new, |reason| format!(" {}", cut(reason)));
    Some(format!(
        "expected state {}{reason}, got {} {} ({})",
        cut(&expected.state),
        verdict.state,
        verdict.reason,
        verdict.message
    ))
}

fn holds(expected: &Expectation, verdict: &Verdict) -> bool {
    let reason = expected.reason.as_deref();
    *verdict.state == *expected.state && reason.is_none_or(|reason| reason == &*verdict.reason)
}

fn related_object(related: &Related) -> Result<Object, String> {
    let gvk = kindsight_model::Gvk::new(&related.group, &related.version, &related.kind);
    let mut object = Object::from_json_as(related.object.as_str(), &gvk)
        .map_err(|error| format!("related object `{}`: {error}", cut(&related.name)))?;
    object.name = related.name.as_str().into();
    object.namespace = related.namespace.as_str().into();
    Ok(object)
}
