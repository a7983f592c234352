//! Rules of Argo CD: health scripts in a tree of files or in its `ConfigMap`.
//!
//! - A tree has `GROUP/KIND/health.lua`, and cases in `health_test.yaml` beside the script. In names of
//!   folders, `_` stands for any characters.
//! - The `ConfigMap` `argocd-cm` has a key `resource.customizations.health.GROUP_KIND` for each script,
//!   `resource.customizations.useOpenLibs.GROUP_KIND` for its libraries, and the older key
//!   `resource.customizations`, whose YAML has `GROUP/KIND` with wildcards.
//!
//! Sources: `util/lua/lua.go` and `util/settings/settings.go` of Argo CD v3.1.

mod tree;

pub(crate) use tree::text as file_text;

use std::collections::BTreeMap;
use std::path::Path;

use kindsight_lua::Libraries;
use kindsight_lua::rules::Call;
use serde::Deserialize;
use serde_json::Value;

use crate::lua::{Source, convert};
use crate::{Conversion, ConversionError, Refused, yaml};

/// The name of an interpreter that is made without another name.
pub const NAME: &str = "argo-cd";

const SUMMARY: &str = "Health scripts of Argo CD";
const KEY: &str = "resource.customizations";

/// The members of an entry of the older key that this crate reads.
#[derive(Debug, Default, Deserialize)]
struct Override {
    #[serde(rename = "health.lua", default)]
    script: String,
    #[serde(rename = "health.lua.useOpenLibs", default)]
    use_open_libs: bool,
}

/// Makes an interpreter from the data of the `ConfigMap` `argocd-cm`. It reads the health scripts, and
/// ignores all other keys.
///
/// Scripts that are not valid are in [`Conversion::refused`]; the others work without them.
///
/// # Errors
/// If there is no health script, none is valid, or they are over a limit.
pub fn from_config_map(
    name: &str,
    data: &BTreeMap<String, String>,
) -> Result<Conversion, ConversionError> {
    let mut overrides: BTreeMap<String, (String, Override)> = BTreeMap::new();
    let mut refused = Vec::new();
    if let Some(text) = data.get(KEY).filter(|text| !text.trim().is_empty()) {
        let entries: BTreeMap<String, Override> =
            yaml::first(text).map_err(|error| ConversionError::Yaml(format!("`{KEY}`"), error))?;
        for (key, entry) in entries {
            overrides.insert(key.clone(), (format!("{KEY}: {key}"), entry));
        }
    }
    for (key, text) in data {
        if let Err(reason) = split_key(key, text, &mut overrides) {
            refused.push(Refused {
                origin: key.clone(),
                reason,
            });
        }
    }
    let sources: Vec<Source> = overrides
        .into_iter()
        .filter(|(_, (_, entry))| !entry.script.trim().is_empty())
        .map(|(key, (origin, entry))| source(key, origin, entry))
        .collect();
    if sources.is_empty() && refused.is_empty() {
        let what = "the ConfigMap has no key `resource.customizations.health.GROUP_KIND`, and no `health.lua` in `resource.customizations`";
        return Err(ConversionError::NoRules(what));
    }
    convert(name, SUMMARY, &sources, &[], refused)
}

fn source(key: String, origin: String, entry: Override) -> Source {
    Source {
        origin,
        key,
        call: Call::Argo,
        libraries: if entry.use_open_libs {
            Libraries::StringAndMath
        } else {
            Libraries::Base
        },
        script: entry.script,
    }
}

/// Reads a key for one Kind, `resource.customizations.TYPE.GROUP_KIND`.
fn split_key(
    key: &str,
    text: &str,
    overrides: &mut BTreeMap<String, (String, Override)>,
) -> Result<(), String> {
    let rest = key
        .strip_prefix(KEY)
        .and_then(|rest| rest.strip_prefix('.'));
    let Some((of, kind)) = rest.and_then(|rest| rest.split_once('.')) else {
        return Ok(());
    };
    if !matches!(of, "health" | "useOpenLibs") {
        return Ok(());
    }
    let kind = match kind.split('_').collect::<Vec<_>>().as_slice() {
        ["all"] => "*/*".to_owned(),
        [kind] if !kind.is_empty() => (*kind).to_owned(),
        [group, kind] => format!("{group}/{kind}"),
        _ => {
            return Err(format!(
                "`{kind}` is not GROUP_KIND: use one `_` between group and Kind, or the Kind alone for the core group"
            ));
        }
    };
    let entry = overrides.entry(kind).or_default();
    if of == "health" {
        text.clone_into(&mut entry.1.script);
        key.clone_into(&mut entry.0);
        return Ok(());
    }
    entry.1.use_open_libs = match text.trim() {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => true,
        "0" | "f" | "F" | "false" | "FALSE" | "False" => false,
        other => return Err(format!("`{other}` is not a boolean: use `true` or `false`")),
    };
    Ok(())
}

/// Makes an interpreter from a folder with `GROUP/KIND/health.lua`, or from a file with the `ConfigMap`.
///
/// # Errors
/// As [`from_config_map`], and if a file cannot be read or is over a limit.
pub fn from_path(name: &str, path: &Path) -> Result<Conversion, ConversionError> {
    if path.is_dir() {
        let tree = tree::read(path)?;
        return convert(name, SUMMARY, &tree.sources, &tree.cases, tree.refused);
    }
    let text = tree::text(path)?;
    let documents = yaml::documents(&text)
        .map_err(|error| ConversionError::Yaml(path.display().to_string(), error))?;
    let is_of_scripts = |document: &&Value| {
        let data = document.get("data").and_then(Value::as_object);
        document.get("kind").and_then(Value::as_str) == Some("ConfigMap")
            && data.is_some_and(|data| data.keys().any(|key| key.starts_with(KEY)))
    };
    let Some(found) = documents.iter().find(is_of_scripts) else {
        let what = "the file has no ConfigMap with keys `resource.customizations…`; give `argocd-cm.yaml`, or a folder with GROUP/KIND/health.lua";
        return Err(ConversionError::NoRules(what));
    };
    let data = found.get("data").and_then(Value::as_object);
    let texts = data.into_iter().flatten();
    let texts = texts.filter_map(|(key, text)| Some((key.clone(), text.as_str()?.to_owned())));
    from_config_map(name, &texts.collect())
}

#[cfg(test)]
mod tests;
