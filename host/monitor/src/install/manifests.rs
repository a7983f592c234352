//! The objects of the installation, from the files in `deploy`.

use std::fmt;

use serde_json::{Value, json};

use super::{InstallError, InstallOptions};

/// The objects of the monitor.
const OBJECTS: &str = include_str!("../../../../deploy/monitor.yaml");
/// The definition of the Kind ResourceBundleState.
const DEFINITION: &str = include_str!("../../../../deploy/monitor-crd.yaml");
/// The label of roles that the role of the monitor aggregates.
pub(super) const AGGREGATED: &str = "rbac.kindsight.dev/aggregate-to-monitor";
/// The role that grants Secrets.
const SECRETS_ROLE: &str = "kindsight-monitor-secrets";

/// The API groups of the objects, with the path of each Kind and whether it is in namespaces.
const KINDS: [(&str, &str, bool); 6] = [
    ("Namespace", "/api/v1#namespaces", false),
    ("ServiceAccount", "/api/v1#serviceaccounts", true),
    (
        "ClusterRole",
        "/apis/rbac.authorization.k8s.io/v1#clusterroles",
        false,
    ),
    (
        "ClusterRoleBinding",
        "/apis/rbac.authorization.k8s.io/v1#clusterrolebindings",
        false,
    ),
    ("Deployment", "/apis/apps/v1#deployments", true),
    (
        "CustomResourceDefinition",
        "/apis/apiextensions.k8s.io/v1#customresourcedefinitions",
        false,
    ),
];

/// One object of the installation.
#[derive(Debug)]
pub(super) struct Manifest {
    pub(super) object: Value,
    pub(super) path: String,
}

impl Manifest {
    /// The manifest of an object of one of [`KINDS`].
    pub(super) fn of(object: Value) -> Result<Self, InstallError> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let kind = text("/kind").unwrap_or_default();
        let name = text("/metadata/name").unwrap_or_default();
        let known = KINDS.iter().find(|(known, _, _)| *known == kind);
        let place = known.and_then(|(_, place, _)| place.split_once('#'));
        let (Some((_, _, is_namespaced)), Some((root, plural))) = (known, place) else {
            let text = format!("unknown Kind `{kind}`");
            return Err(InstallError::Manifest(text));
        };
        let path = if *is_namespaced {
            let namespace = text("/metadata/namespace").unwrap_or("default");
            format!("{root}/namespaces/{namespace}/{plural}/{name}")
        } else {
            format!("{root}/{plural}/{name}")
        };
        Ok(Self { object, path })
    }

    /// Its Kind.
    pub(super) fn kind(&self) -> &str {
        let kind = self.object.get("kind").and_then(Value::as_str);
        kind.unwrap_or_default()
    }

    fn name(&self) -> &str {
        let name = self.object.pointer("/metadata/name");
        name.and_then(Value::as_str).unwrap_or_default()
    }
}

impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind(), self.name())
    }
}

/// The definition of the Kind.
///
/// # Errors
/// The file of the executable is damaged.
pub(super) fn definition() -> Result<Manifest, InstallError> {
    Manifest::of(read(DEFINITION)?)
}

/// The objects of the monitor, in the order of their application.
///
/// # Errors
/// The file of the executable is damaged.
pub(super) fn objects(options: &InstallOptions) -> Result<Vec<Manifest>, InstallError> {
    let documents = OBJECTS.split("\n---\n");
    let objects = documents.map(|document| Manifest::of(read(document)?));
    let mut objects: Vec<Manifest> = objects.collect::<Result<_, InstallError>>()?;
    for manifest in &mut objects {
        if options.grant_secrets && manifest.name() == SECRETS_ROLE {
            let metadata = manifest.object.get_mut("metadata");
            if let Some(metadata) = metadata.and_then(Value::as_object_mut) {
                metadata.insert("labels".to_owned(), json!({AGGREGATED: "true"}));
            }
        }
        if manifest.kind() == "Deployment" {
            configure(&mut manifest.object, options);
        }
    }
    Ok(objects)
}

/// Sets the image and the arguments of the Deployment.
fn configure(deployment: &mut Value, options: &InstallOptions) {
    let Some(container) = deployment.pointer_mut("/spec/template/spec/containers/0") else {
        return;
    };
    if let Some(image) = &options.image {
        container["image"] = image.as_str().into();
    }
    if let Some(arguments) = container["args"].as_array_mut() {
        arguments.extend(
            options
                .arguments
                .iter()
                .map(|text| Value::from(text.as_str())),
        );
    }
}

fn read(document: &str) -> Result<Value, InstallError> {
    let read = serde_saphyr::from_str(document);
    read.map_err(|error| InstallError::Manifest(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(manifest: &Manifest) -> Vec<String> {
        let rules = manifest.object["rules"].as_array().into_iter().flatten();
        let resources = rules.filter_map(|rule| rule["resources"].as_array().cloned());
        let resources = resources.flatten();
        resources
            .map(|it| it.as_str().unwrap_or_default().to_owned())
            .collect()
    }

    #[test]
    fn no_role_grants_everything_and_only_one_role_grants_secrets() {
        let objects = objects(&InstallOptions::default()).unwrap();
        for manifest in objects.iter().filter(|it| it.kind() == "ClusterRole") {
            let resources = rules(manifest);
            assert!(!resources.iter().any(|it| it.contains('*')), "{manifest}");
            let has_secrets = resources.iter().any(|it| it == "secrets");
            assert_eq!(has_secrets, manifest.name() == SECRETS_ROLE, "{manifest}");
            let is_aggregated = manifest.object["metadata"]["labels"]
                .get(AGGREGATED)
                .is_some();
            let is_part = manifest.name() != SECRETS_ROLE && manifest.name() != "kindsight-monitor";
            assert_eq!(is_aggregated, is_part, "{manifest}");
        }
    }

    #[test]
    fn options_change_the_image_the_arguments_and_the_role_of_secrets() {
        let options = InstallOptions {
            grant_secrets: true,
            image: Some("registry.example/monitor:1".to_owned()),
            arguments: vec!["--create".to_owned()],
            ..InstallOptions::default()
        };
        let objects = objects(&options).unwrap();
        let named = |name: &str, kind: &str| {
            let mut all = objects.iter();
            let found = all.find(|it| it.name() == name && it.kind() == kind);
            &found.expect("the object").object
        };
        let role = named(SECRETS_ROLE, "ClusterRole");
        assert_eq!(role["metadata"]["labels"][AGGREGATED], "true");
        let deployment = named("kindsight-monitor", "Deployment");
        let container = &deployment["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(container["image"], "registry.example/monitor:1");
        assert_eq!(container["args"], json!(["run", "--create"]));
        assert_eq!(definition().unwrap().kind(), "CustomResourceDefinition");
    }
}
