//! Normal form of answers: parts that differ between any two servers are replaced by their type.

use serde_json::{Map, Value};

/// Members whose content differs between servers: identities, versions, times, tokens and texts.
const DIFFERENT: [&str; 9] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "continue",
    "message",
    "managedFields",
    "annotations",
    "serverAddressByClientCIDRs",
    "preferredVersion",
];

/// Parts of objects that a real server completes with defaults.
const CONTENT: [&str; 3] = ["spec", "status", "data"];

/// The normal form of a value.
pub(crate) fn normalised(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().filter_map(|(name, value)| {
                // The `status` of an error is a text.
                let is_content = CONTENT.contains(&&**name) && value.is_object();
                (!is_content).then(|| (name.clone(), member(name, value)))
            });
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.iter().map(normalised).collect(),
        other => other.clone(),
    }
}

fn member(name: &str, value: &Value) -> Value {
    if name == "annotations" {
        let names = value.as_object().into_iter().flatten();
        return names.map(|(name, _)| Value::from(name.as_str())).collect();
    }
    if !DIFFERENT.contains(&name) {
        return normalised(value);
    }
    let kind = match value {
        Value::String(text) if text.parse::<u64>().is_ok() => "a number as text",
        Value::String(text) if text.is_empty() => "an empty text",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
        Value::Number(_) => "a number",
        Value::Bool(_) | Value::Null => "a word",
    };
    kind.into()
}
