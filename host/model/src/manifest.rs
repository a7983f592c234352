//! Reads objects from YAML: manifests in the `AppContext`, and the output of `kubectl get -o yaml`.

use crate::Object;
use serde_json::Value;

/// Reads the single object of a manifest.
///
/// # Errors
/// The text is not YAML or does not hold exactly one valid object; the error is text for users.
pub fn object(yaml: &str) -> Result<Object, String> {
    let mut objects = objects(yaml)?;
    match (objects.pop(), objects.is_empty()) {
        (Some(object), true) => object,
        _ => Err("a manifest must hold exactly one object".to_owned()),
    }
}

/// Reads the objects of one YAML document: one, or the items of a List.
///
/// # Errors
/// The text is not YAML. An invalid item of a List is an `Err` at its position in the result.
pub fn objects(yaml: &str) -> Result<Vec<Result<Object, String>>, String> {
    Ok(match value(yaml)? {
        Value::Object(mut list) if is_list(&list) => match list.remove("items") {
            Some(Value::Array(items)) => items.iter().map(from_value).collect(),
            _ => Vec::new(),
        },
        value => vec![from_value(&value)],
    })
}

/// Reads the value of one YAML document.
///
/// # Errors
/// The text is not YAML; the error is text for users, and quotes no text that may be a Secret.
pub fn value(yaml: &str) -> Result<Value, String> {
    yaml_value(yaml).map_err(|why| format!("not a Kubernetes object: {why}"))
}

/// Reads one YAML document that is no manifest, for example settings.
///
/// # Errors
/// The text is not YAML; the error is text for users, and quotes no text that may be a Secret.
pub fn yaml_value(yaml: &str) -> Result<Value, String> {
    // As in kubectl, `y` and `on` are strings, not booleans.
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(yaml, options)
        .map_err(|error| format!("not YAML: {}", cause(&error, yaml)))
}

fn is_list(object: &serde_json::Map<String, Value>) -> bool {
    let kind = object.get("kind").and_then(Value::as_str);
    kind.is_some_and(|kind| kind.ends_with("List"))
        && object.get("items").is_some_and(Value::is_array)
}

fn from_value(value: &Value) -> Result<Object, String> {
    Object::from_json(value.to_string()).map_err(|error| error.to_string())
}

/// The cause of an error, in one line. If the text may be a Secret, the cause gives only the position,
/// because the message may quote the text.
fn cause(error: &serde_saphyr::Error, yaml: &str) -> String {
    if yaml.contains("Secret") {
        return error.location().map_or_else(String::new, |at| {
            format!("error at line {} column {}", at.line(), at.column())
        });
    }
    let message = error.to_string();
    message.lines().next().unwrap_or_default().to_owned()
}
