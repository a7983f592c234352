//! Manifests: checks before they are stored, and the label that they get before they are sent.

use kindsight_appcontext::ResourceName;
use kindsight_model::{DeploymentId, Object, manifest};
use serde_json::{Map, Value};

#[cfg(test)]
mod tests;

/// The placeholder of redacted values in answers.
const REDACTED: &str = "REDACTED";
/// The paths of pod templates. A value there is a pod template if it has `spec.containers`.
const POD_TEMPLATES: [&str; 3] = [
    "/spec/template",
    "/spec/jobTemplate/spec/template",
    // The Kind PodTemplate.
    "/template",
];
/// The path of the templates of claims.
const CLAIM_TEMPLATES: &str = "/spec/volumeClaimTemplates";

/// Checks a manifest and returns the name of its resource.
///
/// # Errors
/// The reason, as text for users. It contains no value of a Secret.
pub(crate) fn checked(yaml: &str) -> Result<ResourceName, String> {
    let value = manifest::value(yaml)?;
    let object = Object::from_json(value.to_string()).map_err(|error| error.to_string())?;
    if object.gvk.kind.ends_with("List") && value.get("items").is_some_and(Value::is_array) {
        return Err("it is a list: write one manifest for each object".to_owned());
    }
    if object.name.is_empty() {
        return Err(
            "it has no `metadata.name`; a generated name cannot be removed again".to_owned(),
        );
    }
    let name = ResourceName::new(&object.name, &object.gvk.kind);
    let name = name.map_err(|error| error.to_string())?;
    if is_labelled(&value) {
        let label = DeploymentId::LABEL;
        return Err(format!(
            "it has the label `{label}`, which kindsight sets: remove the label"
        ));
    }
    if yaml.contains("Secret") && holds_placeholder(&value) {
        return Err(format!(
            "it contains `{REDACTED}`, the placeholder of a value that is not shown: write the value"
        ));
    }
    let any = DeploymentId {
        context: "0".parse().map_err(|_| "no id".to_owned())?,
        app: "app".into(),
    };
    with_label(value, &any).map(|_| name)
}

/// The API group and the namespace of a manifest; `None` if it cannot be read.
pub(crate) fn identity(yaml: &str) -> Option<(String, String)> {
    let value = manifest::value(yaml).ok()?;
    let object = Object::from_json(value.to_string()).ok()?;
    Some((object.gvk.group.to_string(), object.namespace.to_string()))
}

/// The manifest as JSON, with the label on the resource, on pod templates and on templates of claims.
///
/// # Errors
/// The reason, as text for users.
pub(crate) fn labelled(yaml: &str, deployment: &DeploymentId) -> Result<String, String> {
    with_label(manifest::value(yaml)?, deployment).map(|value| value.to_string())
}

fn with_label(mut value: Value, deployment: &DeploymentId) -> Result<Value, String> {
    set_label(&mut value, deployment)?;
    for path in POD_TEMPLATES {
        let template = value.pointer_mut(path);
        if let Some(template) = template.filter(|template| is_pod_template(template)) {
            set_label(template, deployment)?;
        }
    }
    let claims = value
        .pointer_mut(CLAIM_TEMPLATES)
        .and_then(Value::as_array_mut);
    for claim in claims.into_iter().flatten() {
        set_label(claim, deployment)?;
    }
    Ok(value)
}

fn is_pod_template(value: &Value) -> bool {
    value
        .pointer("/spec/containers")
        .is_some_and(Value::is_array)
}

fn set_label(value: &mut Value, deployment: &DeploymentId) -> Result<(), String> {
    let metadata = member(value, "metadata")?;
    let Value::Object(labels) = member(metadata, "labels")? else {
        return Err("`labels` is not an object".to_owned());
    };
    labels.insert(
        DeploymentId::LABEL.to_owned(),
        deployment.to_string().into(),
    );
    Ok(())
}

/// A member that is an object. A member that is absent or null becomes an empty object.
fn member<'a>(of: &'a mut Value, name: &str) -> Result<&'a mut Value, String> {
    let not_object = || format!("`{name}` is not an object");
    let members = of.as_object_mut().ok_or_else(not_object)?;
    let value = members.entry(name).or_insert(Value::Null);
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    if value.is_object() {
        Ok(value)
    } else {
        Err(not_object())
    }
}

/// Returns whether any metadata in the manifest has the label.
fn is_labelled(value: &Value) -> bool {
    let has_label = |labels: &Value| labels.get(DeploymentId::LABEL).is_some();
    match value {
        Value::Object(members) => {
            members.get("labels").is_some_and(has_label) || members.values().any(is_labelled)
        }
        Value::Array(items) => items.iter().any(is_labelled),
        _ => false,
    }
}

/// Returns whether any text is the placeholder, or JSON that contains the placeholder.
fn holds_placeholder(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            text == REDACTED
                || text.contains(&format!("\"{REDACTED}\""))
                // The encoded placeholder, in case a client encoded it.
                || text == "UkVEQUNURUQ="
        }
        Value::Object(members) => members.values().any(holds_placeholder),
        Value::Array(items) => items.iter().any(holds_placeholder),
        _ => false,
    }
}
