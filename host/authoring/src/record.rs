//! Fixtures from real objects: only the fields that the description names, with the present verdict as the promise.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_contract::Fixture;
use kindsight_contract::limits::FIXTURE_NAME_BYTES_MAX;
use kindsight_interpreter::{Examination, Interpreters, PublishError, Siblings};
use kindsight_model::{Object, Source, Verdict};
use serde_json::{Map, Value, json};

/// Members of the metadata that name an object.
const NAME: [&str; 2] = ["name", "namespace"];
/// Members of the metadata that relate objects to each other.
const METADATA: [&str; 5] = ["name", "namespace", "uid", "labels", "ownerReferences"];
/// Maximum length of a fixture's name without its number, in bytes.
const NAME_BYTES_MAX: usize = FIXTURE_NAME_BYTES_MAX - " (1000000)".len();

/// The reason why no fixtures can be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The component cannot be used.
    #[error(transparent)]
    Load(#[from] kindsight_interpreter::LoadError),
    /// The component cannot be used alone.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The fixtures cannot be written.
    #[error("write the fixtures: {0}")]
    Yaml(String),
}

/// One recorded object.
#[derive(Debug)]
pub enum Recorded {
    /// A fixture that holds.
    Fixture(Value),
    /// The component does not judge the object.
    NotJudged(String),
    /// The fixture would not hold, with the reason. Usually an object was found by a field that is not recorded.
    Differs(String, String),
}

/// Records fixtures of one component.
pub struct Recorder {
    interpreters: Interpreters,
    examination: Examination,
    /// The names of the component's own fixtures and of the recorded ones.
    names: Names,
}

impl Recorder {
    /// Makes the component the only live one of `interpreters`.
    ///
    /// # Errors
    /// If the component is refused.
    pub fn new(interpreters: Interpreters, component: &[u8]) -> Result<Self, RecordError> {
        let loaded = interpreters.load(component)?;
        interpreters.publish(vec![(Source::Upload, loaded)])?;
        let examination = interpreters.examine(component)?;
        let fixtures = examination.fixtures().iter();
        let names = Names(fixtures.map(|fixture| fixture.name.clone()).collect());
        Ok(Self {
            interpreters,
            examination,
            names,
        })
    }

    /// Records objects that were reported together, at a time in Unix milliseconds. The names of the fixtures differ from
    /// all earlier ones.
    ///
    /// # Errors
    /// If the component cannot be examined.
    pub fn record(
        &mut self,
        objects: Vec<Object>,
        now_ms: i64,
    ) -> Result<Vec<Recorded>, RecordError> {
        let mut examiner = self.examination.examiner()?;
        let objects: Arc<[Object]> = objects.into();
        let siblings = Arc::new(Siblings::of(&objects));
        let set = self.interpreters.published();
        let verdicts = self
            .interpreters
            .judge_among(&set, &objects, &siblings, now_ms);
        let mut recorded = Vec::with_capacity(objects.len());
        for (object, verdict) in objects.iter().zip(verdicts) {
            let name = label(object);
            let input = set.inputs(object, &siblings, now_ms, &verdict).pop();
            let interpreter = self.examination.interpreter();
            let is_judged = verdict.by.is_some() && !is_fault(&verdict, interpreter);
            let Some(input) = input.filter(|_| is_judged) else {
                recorded.push(Recorded::NotJudged(name));
                continue;
            };
            let input: Value = serde_json::from_str(&input.json).unwrap_or_default();
            let own = self.names.unique(&name);
            let fixture = fixture(&own, object, &objects, &input, &verdict);
            let parsed = Fixture::parse_all(&Value::Array(vec![fixture.clone()]).to_string());
            let mismatch = match parsed {
                Ok((parsed, _)) => parsed.first().and_then(|parsed| examiner.mismatch(parsed)),
                Err(problems) => Some(problems.join("; ")),
            };
            recorded.push(match mismatch {
                None => Recorded::Fixture(fixture),
                Some(why) => Recorded::Differs(name, why),
            });
        }
        Ok(recorded)
    }

    /// Fixtures as YAML, for a file in the folder `fixtures` of a project.
    ///
    /// # Errors
    /// If a value cannot be written as YAML.
    pub fn yaml(fixtures: &[Value]) -> Result<String, RecordError> {
        serde_saphyr::to_string(&fixtures).map_err(|error| RecordError::Yaml(error.to_string()))
    }
}

/// Names of fixtures, which are unique in a component.
struct Names(BTreeSet<String>);

impl Names {
    /// A name that is not used yet. The end of a long name is left out.
    fn unique(&mut self, name: &str) -> String {
        let (name, _) = name.split_at(name.floor_char_boundary(NAME_BYTES_MAX));
        let numbered = (2_u32..).map(|number| format!("{name} ({number})"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        let unused = names.find(|name| !self.0.contains(name));
        let unused = unused.unwrap_or_else(|| name.to_owned());
        self.0.insert(unused.clone());
        unused
    }
}

/// Returns whether a verdict is none of the component's declared states: the host made it because the call failed.
fn is_fault(verdict: &Verdict, interpreter: &kindsight_interpreter::Interpreter) -> bool {
    let mut states = interpreter.description().states.iter();
    !states.any(|state| state.name == verdict.state)
}

fn label(object: &Object) -> String {
    let kind = &object.gvk.kind;
    match &*object.namespace {
        "" => format!("{kind} {}", object.name),
        namespace => format!("{kind} {namespace}/{}", object.name),
    }
}

fn fixture(name: &str, object: &Object, all: &[Object], input: &Value, verdict: &Verdict) -> Value {
    let reduced = input.get("object").cloned().unwrap_or_default();
    let mut fixture = Map::new();
    fixture.insert("name".to_owned(), name.into());
    let related = related(input, all);
    let members = if related.is_empty() {
        &NAME[..]
    } else {
        &METADATA
    };
    fixture.insert("object".to_owned(), identified(reduced, object, members));
    if !related.is_empty() {
        let coverage = input.pointer("/related/0/coverage").cloned();
        fixture.insert("related".to_owned(), related.into());
        fixture.insert("coverage".to_owned(), coverage.unwrap_or_default());
    }
    if let Some(now) = input.get("now-ms") {
        fixture.insert("now".to_owned(), rfc3339(now.as_i64()));
    }
    if let Some(settings) = input
        .get("settings")
        .filter(|settings| **settings != json!({}))
    {
        fixture.insert("settings".to_owned(), settings.clone());
    }
    let expect = json!({"state": &*verdict.state, "reason": &*verdict.reason});
    fixture.insert("expect".to_owned(), expect);
    fixture.into()
}

/// The time of a call as a fixture has it.
fn rfc3339(ms: Option<i64>) -> Value {
    ms.map_or(Value::Null, |ms| {
        kindsight_contract::time::rfc_3339(ms).into()
    })
}

/// The related objects of an input, each once, with the metadata that relates them.
fn related(input: &Value, all: &[Object]) -> Vec<Value> {
    let sets = input.get("related").and_then(Value::as_array);
    let objects = sets
        .into_iter()
        .flatten()
        .filter_map(|set| set.get("objects")?.as_array());
    let mut related = Vec::new();
    for reduced in objects.flatten() {
        let text = |pointer: &str| {
            reduced
                .pointer(pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let original = all.iter().find(|object| {
            *object.gvk.kind == *text("/kind")
                && *object.name == *text("/metadata/name")
                && *object.namespace == *text("/metadata/namespace")
        });
        let object = original.map_or_else(
            || reduced.clone(),
            |original| identified(reduced.clone(), original, &METADATA),
        );
        if !related.contains(&object) {
            related.push(object);
        }
    }
    related
}

/// A reduced object with these members of its metadata.
fn identified(mut reduced: Value, original: &Object, members: &[&str]) -> Value {
    let original: Value = serde_json::from_str(&original.json).unwrap_or_default();
    let Some(reduced_object) = reduced.as_object_mut() else {
        return reduced;
    };
    let metadata = reduced_object
        .entry("metadata")
        .or_insert_with(|| json!({}));
    for member in members {
        if let Some(value) = original.pointer(&format!("/metadata/{member}"))
            && let Some(metadata) = metadata.as_object_mut()
        {
            metadata.entry(*member).or_insert_with(|| value.clone());
        }
    }
    reduced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_fixtures_are_unique_and_within_the_limit() {
        let mut names = Names(BTreeSet::from(["Widget a".to_owned()]));
        assert_eq!(names.unique("Widget a"), "Widget a (2)");
        assert_eq!(names.unique("Widget a"), "Widget a (3)");
        let long = format!("Widget {}", "a".repeat(FIXTURE_NAME_BYTES_MAX));
        let (first, second) = (names.unique(&long), names.unique(&long));
        assert_ne!(first, second);
        assert!(first.starts_with("Widget aaa") && second.ends_with(" (2)"));
        assert!(second.len() <= FIXTURE_NAME_BYTES_MAX, "{}", second.len());
    }
}
