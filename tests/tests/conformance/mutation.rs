//! The same objects, damaged as by a careless reporter. No interpreter may fail, and no object may become ready because
//! a part is missing.

use kindsight_model::Phase;
use serde_json::Value;

use crate::cases::CaseFile;
use crate::judging::Judging;

/// Result of judging damaged objects.
#[derive(Debug, Default)]
pub(crate) struct Mutated {
    pub(crate) objects: usize,
    pub(crate) problems: Vec<String>,
}

/// One way to damage an object.
type Damage = fn(&Value) -> Value;

const WITHOUT_STATUS: &str = "without status";

const DAMAGES: [(&str, Damage); 6] = [
    (WITHOUT_STATUS, |object| without(object, &["status"])),
    ("with a text as status", with_text_as_status),
    ("without spec", |object| without(object, &["spec"])),
    ("without spec and status", |object| {
        without(object, &["spec", "status"])
    }),
    ("with texts for numbers", |object| {
        without_numbers(object, ToString::to_string)
    }),
    ("with words for numbers", |object| {
        without_numbers(object, |_| "many".to_owned())
    }),
];

/// Kinds whose controllers write no status until there is work. Without a status, a damaged object of such a Kind cannot
/// be distinguished from an object that waits for work, which is ready.
const READY_WITHOUT_STATUS: [&str; 1] = ["CronJob"];

/// Damages every object in every way.
pub(crate) fn check(file: &CaseFile, judging: &Judging) -> Result<Mutated, String> {
    let objects = file.objects();
    let whole = judging.judge(&objects)?;
    let mut mutated = Mutated::default();
    for (how, damage) in DAMAGES {
        let damaged: Vec<Value> = objects.iter().copied().map(damage).collect();
        let answer = judging.judge(&damaged.iter().collect::<Vec<_>>())?;
        mutated.objects += damaged.len();
        for ((case, before), after) in file.cases.iter().zip(&whole).zip(&answer) {
            let may_turn = how == WITHOUT_STATUS && is_ready_without_status(&case.object);
            let turned = before.phase != Phase::Ready && after.phase == Phase::Ready && !may_turn;
            let what = match (after.is_fault, turned) {
                (true, _) => "is a fault",
                (_, true) => "turned green",
                _ => continue,
            };
            let problem = format!("{} {how} {what}: {after}", case.id);
            mutated.problems.push(problem);
        }
    }
    Ok(mutated)
}

fn is_ready_without_status(object: &Value) -> bool {
    let kind = object.get("kind").and_then(Value::as_str);
    kind.is_some_and(|kind| READY_WITHOUT_STATUS.contains(&kind))
}

fn without(object: &Value, members: &[&str]) -> Value {
    let mut object = object.clone();
    if let Some(object) = object.as_object_mut() {
        object.retain(|name, _| !members.contains(&name.as_str()));
    }
    object
}

fn with_text_as_status(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(object) = object.as_object_mut() {
        object.insert("status".to_owned(), Value::from("many"));
    }
    object
}

fn without_numbers(value: &Value, text: fn(&serde_json::Number) -> String) -> Value {
    match value {
        Value::Number(number) => Value::String(text(number)),
        Value::Array(items) => items
            .iter()
            .map(|item| without_numbers(item, text))
            .collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| (name.clone(), without_numbers(member, text)))
            .collect(),
        other => other.clone(),
    }
}
