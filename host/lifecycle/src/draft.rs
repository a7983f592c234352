//! Drafts of intents, as clients send them, and their checks.

use std::collections::BTreeSet;

use kindsight_appcontext::{Intent, IntentApp};
use kindsight_model::{
    ClusterName, DeploymentId, LABEL_VALUE_GRAMMAR, NAME_GRAMMAR, is_label_value, is_name,
};

use crate::manifest;

#[cfg(test)]
mod tests;

/// Maximum number of apps of a group. Each app is a prefix of keys in the context.
pub const APPS_MAX: usize = 128;
/// Maximum number of clusters of an app.
pub const APP_CLUSTERS_MAX: usize = 256;
/// Maximum number of manifests of an app.
pub const APP_MANIFESTS_MAX: usize = 1024;
/// Maximum number of resources of a group: the manifests of each app, once for each of its clusters. An instance writes
/// two keys for each.
pub const GROUP_RESOURCES_MAX: usize = 10_000;
/// Maximum number of problems of one draft that are reported.
const PROBLEMS_MAX: usize = 50;

/// An intent that was not checked.
#[derive(Clone, Default)]
pub struct Draft {
    /// The apps.
    pub apps: Vec<DraftApp>,
}

/// An app of a [`Draft`].
#[derive(Clone)]
pub struct DraftApp {
    /// The name.
    pub name: String,
    /// The clusters, as `provider+name`.
    pub clusters: Vec<String>,
    /// The manifests, as YAML.
    pub manifests: Vec<String>,
}

/// A problem of a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftProblem {
    /// The path in the JSON document, such as `apps[0].clusters[1]`.
    pub path: String,
    /// The problem, as a sentence without a full stop.
    pub detail: String,
    /// The correct form; empty if the detail says it.
    pub expected: String,
}

/// Collects problems.
#[derive(Default)]
struct Problems(Vec<DraftProblem>);

impl Problems {
    fn add(&mut self, path: &str, detail: impl Into<String>, expected: impl Into<String>) {
        if self.0.len() < PROBLEMS_MAX {
            self.0.push(DraftProblem {
                path: path.to_owned(),
                detail: detail.into(),
                expected: expected.into(),
            });
        }
    }

    /// Checks the length of a list. Items after the maximum are not checked.
    fn length<T>(&mut self, path: &str, list: &[T], max: usize) {
        if list.is_empty() {
            self.add(path, "it is empty", "at least one item");
        } else if list.len() > max {
            let detail = format!("it has {} items", list.len());
            self.add(path, detail, format!("at most {max} items"));
        }
    }
}

impl Draft {
    /// Checks the draft.
    ///
    /// # Errors
    /// All problems, at most 50, in the order of the document.
    pub fn checked(self) -> Result<Intent, Vec<DraftProblem>> {
        let mut problems = Problems::default();
        problems.length("apps", &self.apps, APPS_MAX);
        let resources = self.apps.iter().map(DraftApp::resources);
        let resources = resources.fold(0_usize, usize::saturating_add);
        if resources > GROUP_RESOURCES_MAX {
            let detail = format!("the apps have {resources} resources in their clusters");
            let expected = format!("at most {GROUP_RESOURCES_MAX} resources");
            problems.add("apps", detail, expected);
        }
        let mut intent = Intent::default();
        if problems.0.is_empty() {
            let mut names = BTreeSet::new();
            for (position, app) in self.apps.into_iter().enumerate() {
                let path = format!("apps[{position}]");
                if !names.insert(app.name.clone()) {
                    let detail = format!("the app `{}` is named twice", app.name);
                    problems.add(&format!("{path}.name"), detail, "another name");
                }
                intent.apps.push(app.checked(&path, &mut problems));
            }
        }
        if problems.0.is_empty() {
            Ok(intent)
        } else {
            Err(problems.0)
        }
    }
}

impl DraftApp {
    fn resources(&self) -> usize {
        self.clusters.len().saturating_mul(self.manifests.len())
    }

    fn checked(self, path: &str, problems: &mut Problems) -> IntentApp {
        let (of_clusters, of_manifests) = (format!("{path}.clusters"), format!("{path}.manifests"));
        check_name(&format!("{path}.name"), &self.name, problems);
        problems.length(&of_clusters, &self.clusters, APP_CLUSTERS_MAX);
        problems.length(&of_manifests, &self.manifests, APP_MANIFESTS_MAX);
        let mut clusters: Vec<ClusterName> = Vec::new();
        for (position, text) in self.clusters.iter().enumerate() {
            let path = format!("{of_clusters}[{position}]");
            match text.parse() {
                Ok(cluster) if clusters.contains(&cluster) => {
                    let detail = format!("the cluster {cluster} is named twice");
                    problems.add(&path, detail, "another cluster");
                }
                Ok(cluster) => clusters.push(cluster),
                Err(error) => problems.add(&path, error.to_string(), ""),
            }
        }
        let mut names = BTreeSet::new();
        for (position, yaml) in self.manifests.iter().enumerate() {
            let path = format!("{of_manifests}[{position}]");
            match manifest::checked(yaml) {
                Ok(name) if names.contains(&name) => {
                    let detail = format!("the app has two resources {name}");
                    problems.add(&path, detail, "another name or Kind");
                }
                Ok(name) => drop(names.insert(name)),
                Err(detail) => problems.add(&path, detail, ""),
            }
        }
        IntentApp {
            name: self.name,
            clusters,
            any_of: Vec::new(),
            manifests: self.manifests,
            depends_on: Vec::new(),
            resource_dependencies: Vec::new(),
        }
    }
}

/// Checks the name of an app. The label of its resources, which starts with the longest id, must be a label value.
fn check_name(path: &str, name: &str, problems: &mut Problems) {
    if !is_name(name) || name == "instruction" {
        let detail = format!("`{name}` is not the name of an app");
        problems.add(path, detail, format!("{NAME_GRAMMAR}, not `instruction`"));
        return;
    }
    let label = format!("{}-{name}", i64::MAX);
    if !is_label_value(&label) {
        let key = DeploymentId::LABEL;
        let detail = format!("the value of the label `{key}` would be `{label}`");
        problems.add(path, detail, LABEL_VALUE_GRAMMAR);
    }
}
