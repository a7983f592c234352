//! The file of an application, and the file of the network intents of a cluster.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use kindsight_api::lifecycle::{
    AppDependency, AppIntent, ControllerIntent, GroupIntent, NetworkIntents, ResourceDependency,
};
use kindsight_model::{DigName, manifest};
use serde::Deserialize;
use serde_json::Value;

/// Largest file that is read, in bytes: the largest request that a server accepts.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct ApplicationFile {
    project: String,
    composite_app: String,
    version: String,
    deployment_intent_group: String,
    profile: Option<String>,
    apps: Vec<App>,
    #[serde(default)]
    controllers: Vec<ControllerIntent>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct App {
    name: String,
    #[serde(default)]
    clusters: Vec<String>,
    #[serde(default)]
    any_of: Vec<Vec<String>>,
    manifests: Vec<Value>,
    #[serde(default)]
    depends_on: Vec<AppDependency>,
    #[serde(default)]
    resource_dependencies: Vec<ResourceDependency>,
}

/// Reads the file of an application, and the files of its manifests.
///
/// # Errors
/// When a file cannot be read, or is not valid.
pub(super) fn read(file: &Path) -> anyhow::Result<(DigName, GroupIntent)> {
    let value = manifest::value(&text(file)?).map_err(anyhow::Error::msg);
    let value = value.with_context(|| format!("read {}", file.display()))?;
    let content: ApplicationFile = serde_path_to_error::deserialize(value).with_context(|| {
        format!(
            "read {}; `kindsight apply --help` shows the form",
            file.display()
        )
    })?;
    let name = DigName::new(
        &content.project,
        &content.composite_app,
        &content.version,
        &content.deployment_intent_group,
    )?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let apps = content.apps.into_iter().map(|app| {
        Ok(AppIntent {
            manifests: manifests(folder, &app.manifests)
                .with_context(|| format!("app {}", app.name))?,
            name: app.name,
            clusters: app.clusters,
            any_of: app.any_of,
            depends_on: app.depends_on,
            resource_dependencies: app.resource_dependencies,
        })
    });
    let intent = GroupIntent {
        profile: content.profile,
        apps: apps.collect::<anyhow::Result<_>>()?,
        controllers: content.controllers,
    };
    Ok((name, intent))
}

/// Reads the network intents of a cluster: the documents of a YAML file.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn network_intents(file: &Path) -> anyhow::Result<NetworkIntents> {
    let manifests = documents(&text(file)?);
    Ok(NetworkIntents { manifests })
}

fn text(file: &Path) -> anyhow::Result<String> {
    let read = || {
        let bytes = fs::metadata(file)?.len();
        ensure!(
            bytes <= FILE_BYTES_MAX,
            "it has {bytes} bytes, and at most {FILE_BYTES_MAX} are read"
        );
        Ok(fs::read_to_string(file)?)
    };
    read().with_context(|| format!("read {}", file.display()))
}

/// The manifests of an app, one for each object.
fn manifests(folder: &Path, manifests: &[Value]) -> anyhow::Result<Vec<String>> {
    let mut texts = Vec::new();
    for manifest in manifests {
        match manifest {
            Value::String(path) => texts.extend(documents(&text(&folder.join(path))?)),
            Value::Object(_) => texts.push(manifest.to_string()),
            other => bail!("`{other}` is neither the path of a file nor an object"),
        }
    }
    Ok(texts)
}

/// The documents of a YAML stream that are not empty.
fn documents(stream: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    for line in stream.lines() {
        match after_separator(line) {
            Some(rest) if rest.is_empty() || rest.starts_with('#') => {
                documents.push(String::new());
            }
            Some(content) => documents.push(format!("{content}\n")),
            None => {
                if let Some(document) = documents.last_mut() {
                    document.extend([line, "\n"]);
                }
            }
        }
    }
    documents.retain(|text| {
        let is_content = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
        text.lines().any(is_content)
    });
    documents
}

/// The text after `---` at the beginning of a line, which separates documents. The text belongs to the next document.
fn after_separator(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("---")?;
    let is_separator = rest.is_empty() || rest.starts_with([' ', '\t']);
    is_separator.then_some(rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_split_at_its_separators() {
        let stream = "# comment\n---\nkind: A\ndata:\n  a: |\n    ---\n--- # next\nkind: B\n---\n";
        assert_eq!(
            documents(stream),
            ["kind: A\ndata:\n  a: |\n    ---\n", "kind: B\n"]
        );
    }

    #[test]
    fn a_document_may_begin_on_the_line_of_its_separator() {
        let stream = "--- {kind: A}\n---\t{kind: B,\n  spec: {}}\n----\n--- \n";
        assert_eq!(
            documents(stream),
            ["{kind: A}\n", "{kind: B,\n  spec: {}}\n----\n"]
        );
    }
}
