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
/// When the file cannot be read, or has no object.
pub(super) fn network_intents(file: &Path) -> anyhow::Result<NetworkIntents> {
    let manifests = objects(file)?;
    Ok(NetworkIntents { manifests })
}

/// Reads the documents of a YAML file, one for each object.
///
/// # Errors
/// When the file cannot be read, or has no object. A program that failed may leave an empty file, and the next update
/// would remove the resources that the file had before.
fn objects(file: &Path) -> anyhow::Result<Vec<String>> {
    let documents = documents(&text(file)?);
    ensure!(!documents.is_empty(), "{} has no object", file.display());
    Ok(documents)
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
            Value::String(path) => texts.extend(objects(&folder.join(path))?),
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
    fn a_file_without_an_object_is_refused() {
        let folder = tempfile::TempDir::new().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write(
            "app.yaml",
            "project: shop\ncomposite-app: web\nversion: v1\ndeployment-intent-group: prod\napps:\n- name: front\n  clusters: [lab+a]\n  manifests:\n  - map.yaml\n  - front.yaml\n",
        );
        write("map.yaml", "kind: ConfigMap\n");
        let (app, front) = (
            folder.path().join("app.yaml"),
            folder.path().join("front.yaml"),
        );
        for empty in ["", "\n", "---\n---\n", "# Source: front.yaml\n---\n"] {
            write("front.yaml", empty);
            let refused = read(&app).err().unwrap();
            let refused = format!("{refused:#}");
            assert!(refused.starts_with("app front: "), "{refused}");
            assert!(refused.ends_with("front.yaml has no object"), "{refused}");
            let refused = network_intents(&front).err().unwrap().to_string();
            assert!(refused.ends_with("front.yaml has no object"), "{refused}");
        }
        write("front.yaml", "kind: Pod\n---\n# empty\n");
        let (_, intent) = read(&app).ok().unwrap();
        let manifests = intent.apps.first().unwrap().manifests.clone();
        assert_eq!(manifests, ["kind: ConfigMap\n", "kind: Pod\n"]);
        assert_eq!(network_intents(&front).ok().unwrap().manifests.len(), 1);
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
