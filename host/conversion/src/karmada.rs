//! Rules of Karmada: `ResourceInterpreterCustomization` objects with a script for `InterpretHealth`.
//!
//! Source: `pkg/resourceinterpreter/customized/declarative` of Karmada v1.13.

use std::path::Path;

use kindsight_lua::Libraries;
use kindsight_lua::rules::Call;
use serde::Deserialize;
use serde_json::Value;

use crate::argo::file_text;
use crate::lua::{Source, convert};
use crate::yaml::documents;
use crate::{Conversion, ConversionError, Refused};

/// The name of an interpreter that is made without another name.
pub const NAME: &str = "karmada";

const SUMMARY: &str = "Health scripts of Karmada";
const KIND: &str = "ResourceInterpreterCustomization";

#[derive(Debug, Deserialize)]
struct Customization {
    #[serde(default)]
    metadata: Metadata,
    spec: Spec,
}

#[derive(Debug, Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    name: String,
}

#[derive(Debug, Deserialize)]
struct Spec {
    target: Target,
    #[serde(default)]
    customizations: Customizations,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Target {
    api_version: String,
    kind: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Customizations {
    health_interpretation: Option<HealthInterpretation>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HealthInterpretation {
    lua_script: String,
}

/// Makes an interpreter from a YAML file with `ResourceInterpreterCustomization` objects. Other
/// objects in it are ignored.
///
/// # Errors
/// If the file cannot be read, there is no health script, none is valid, or they are over a limit.
pub fn from_path(name: &str, path: &Path) -> Result<Conversion, ConversionError> {
    from_yaml(name, &file_text(path)?, &path.display().to_string())
}

/// The same with the text of the file; `origin` names it in errors.
///
/// # Errors
/// As [`from_path`].
pub fn from_yaml(name: &str, yaml: &str, origin: &str) -> Result<Conversion, ConversionError> {
    let documents =
        documents(yaml).map_err(|error| ConversionError::Yaml(origin.to_owned(), error))?;
    let (mut sources, mut refused) = (Vec::new(), Vec::new());
    for document in documents.into_iter().flat_map(objects) {
        if document.get("kind").and_then(Value::as_str) != Some(KIND) {
            continue;
        }
        match serde_json::from_value::<Customization>(document) {
            Ok(customization) => sources.extend(source(customization)),
            Err(error) => refused.push(Refused {
                origin: origin.to_owned(),
                reason: format!("not a {KIND}: {error}"),
            }),
        }
    }
    if sources.is_empty() && refused.is_empty() {
        let what = "the file has no ResourceInterpreterCustomization with `spec.customizations.healthInterpretation.luaScript`";
        return Err(ConversionError::NoRules(what));
    }
    convert(name, SUMMARY, &sources, &[], refused)
}

/// The items of a List, as `kubectl get` prints it, or the object itself.
fn objects(document: Value) -> Vec<Value> {
    match document {
        Value::Object(mut list) if list.contains_key("items") => match list.remove("items") {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        },
        object => vec![object],
    }
}

fn source(customization: Customization) -> Option<Source> {
    let health = customization.spec.customizations.health_interpretation?;
    let target = customization.spec.target;
    let group = target.api_version.rsplit_once('/').map(|(group, _)| group);
    Some(Source {
        origin: customization.metadata.name,
        key: match group {
            Some(group) => format!("{group}/{}", target.kind),
            None => target.kind,
        },
        call: Call::Karmada,
        libraries: Libraries::StringAndMath,
        script: health.lua_script,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: widgets}
spec:
  target: {apiVersion: example.com/v1, kind: Widget}
  customizations:
    healthInterpretation:
      luaScript: |
        function InterpretHealth(observedObj)
          return observedObj.status.ready == true
        end
";

    #[test]
    fn a_health_script_becomes_a_rule() {
        let conversion = from_yaml(NAME, RULE, "file").expect("a rule");
        assert_eq!((conversion.rules, conversion.refused.len()), (1, 0));
    }

    #[test]
    fn a_script_without_the_function_is_refused() {
        let other = RULE.replace("InterpretHealth(", "Other(");
        let error = from_yaml(NAME, &other, "file").unwrap_err();
        assert_eq!(
            error.to_string(),
            "no rule could be converted: widgets: the script of example.com/Widget does not define the function InterpretHealth"
        );
        let error = from_yaml(NAME, "kind: ConfigMap", "file").unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("no rule was found: the file has no")
        );
    }
}
