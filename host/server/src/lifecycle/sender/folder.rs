//! A folder as the receiver of resources.

use std::io::{self, ErrorKind};

use kindsight_clusters::{FolderCluster, ManifestFile, ProjectRights, RightsError, SentKind};
use kindsight_lifecycle::{
    Applied, Change, Deletion, Preview, SendError, SentResource, Target, differences,
};
use serde_json::Value;

use super::{Receiver, Sent};

impl Receiver for FolderCluster {
    fn vet(&self, sent: &Sent<'_>) -> Result<(), SendError> {
        let checked = check_rights(&sent.rights, sent.resource.manifest);
        checked.map_err(|error| SendError::Refused(error.to_string()))
    }

    fn apply(&self, sent: &Sent<'_>) -> Result<Applied, SendError> {
        self.vet(sent)?;
        let manifest = sent.resource.manifest;
        self.write_manifest(&sent.target.deployment, &file(sent.resource), manifest)
            .map_err(|error| failed(&error))?;
        Ok(Applied::default())
    }

    fn preview(&self, sent: &Sent<'_>) -> Result<Preview, SendError> {
        self.vet(sent)?;
        let before = self.read_manifest(&sent.target.deployment, &file(sent.resource));
        let before = before.map_err(|error| failed(&error))?;
        Ok(preview(before.as_deref(), sent.resource.manifest))
    }

    /// A folder has manifests and reports, and a report has only parts of an object.
    fn read(&self, _: &Sent<'_>) -> Result<String, SendError> {
        Err(SendError::Refused(
            "a folder has no live objects".to_owned(),
        ))
    }

    fn delete(&self, sent: &Sent<'_>) -> Result<Deletion, SendError> {
        self.remove_manifest(&sent.target.deployment, &file(sent.resource))
            .map_err(|error| failed(&error))?;
        Ok(Deletion::Deleted)
    }

    /// The monitor of a folder writes its reports without being asked.
    fn announce(&self, _: &Target) -> Result<(), SendError> {
        Ok(())
    }

    fn removed(&self, target: &Target) -> Result<(), SendError> {
        self.remove_manifests(&target.deployment)
            .map_err(|error| failed(&error))
    }
}

/// Checks the names in a manifest. The program that applies the files knows the scope of a Kind, so a manifest without a
/// namespace is permitted.
fn check_rights(rights: &ProjectRights, manifest: &str) -> Result<(), RightsError> {
    let manifest: Value = serde_json::from_str(manifest).unwrap_or_default();
    let text = |path: &str| manifest.pointer(path).and_then(Value::as_str);
    let version = text("/apiVersion").unwrap_or_default();
    let (group, _) = version.split_once('/').unwrap_or_default();
    let kind = text("/kind").unwrap_or_default();
    rights.check_kind(SentKind { group, kind })?;
    match text("/metadata/namespace") {
        Some(namespace) if !rights.namespaces.is_empty() => rights.check_namespace(namespace),
        _ => Ok(()),
    }
}

fn file(resource: &SentResource<'_>) -> ManifestFile {
    ManifestFile::new(resource.position, resource.kind, resource.name)
}

/// The reaction to an error of the file system. A wrong type of file does not change by itself; any other cause may.
fn failed(error: &io::Error) -> SendError {
    match error.kind() {
        ErrorKind::NotADirectory
        | ErrorKind::IsADirectory
        | ErrorKind::InvalidFilename
        | ErrorKind::InvalidInput => SendError::Refused(error.to_string()),
        _ => SendError::Unreachable(error.to_string()),
    }
}

fn preview(before: Option<&str>, after: &str) -> Preview {
    let value = |text: &str| serde_json::from_str(text).unwrap_or_default();
    let (change, differences) = match before {
        None => (Change::Create, Vec::new()),
        Some(before) if before == after => (Change::Unchanged, Vec::new()),
        Some(before) => (Change::Update, differences(&value(before), &value(after))),
    };
    Preview {
        change,
        differences,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kinds_and_named_namespaces_of_a_project_count_for_folders() {
        let pattern = |text: &str| vec![text.parse().unwrap()];
        let rights = ProjectRights {
            kinds: pattern("*.apps"),
            namespaces: pattern("shop"),
            ..ProjectRights::default()
        };
        let check = |version: &str, namespace: &str| {
            let metadata = serde_json::json!({"name": "a", "namespace": namespace});
            let manifest = serde_json::json!({
                "apiVersion": version, "kind": "Deployment", "metadata": metadata,
            });
            check_rights(&rights, &manifest.to_string())
        };
        check("apps/v1", "shop").unwrap();
        let refused = check("v1", "shop").unwrap_err();
        assert_eq!(refused, RightsError::Kind("Deployment".to_owned()));
        let refused = check("apps/v1", "other").unwrap_err();
        assert_eq!(refused, RightsError::Namespace("other".to_owned()));
        let manifest = r#"{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {}}"#;
        check_rights(&rights, manifest).unwrap();
    }
}
