//! Drafts of intents, as clients send them, and their checks.

use std::collections::BTreeSet;

use kindsight_appcontext::{Intent, IntentApp, IntentCondition, IntentDependency};
use kindsight_model::{
    ClusterName, DeploymentId, LABEL_VALUE_GRAMMAR, NAME_GRAMMAR, RecordSubject, is_label_value,
    is_name,
};

use crate::manifest;

mod controllers;
mod dependencies;
mod networks;
#[cfg(test)]
mod tests;

pub use networks::NETWORK_GROUP;

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
/// Maximum size of the manifests of a group, each once for each of its clusters, in bytes. The work on an instance has
/// all of them in memory.
pub const GROUP_SENT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Maximum number of apps that an app waits for.
pub const APP_DEPENDENCIES_MAX: usize = 64;
/// Maximum number of dependencies between the resources of an app.
pub const RESOURCE_DEPENDENCIES_MAX: usize = 256;
/// Maximum time to wait after the condition of a dependency is met, in seconds.
pub const WAIT_SECONDS_MAX: u32 = 3600;

/// An intent that was not checked.
#[derive(Clone, Default)]
pub struct Draft {
    /// The apps.
    pub apps: Vec<DraftApp>,
    /// The names of controllers and of the intents that they receive.
    pub controllers: Vec<(String, String)>,
}

/// An app of a [`Draft`].
#[derive(Clone)]
pub struct DraftApp {
    /// The name.
    pub name: String,
    /// The clusters, as `provider+name`.
    pub clusters: Vec<String>,
    /// Groups of clusters. The app is sent to one cluster of each.
    pub any_of: Vec<Vec<String>>,
    /// The manifests, as YAML.
    pub manifests: Vec<String>,
    /// The apps that it waits for.
    pub depends_on: Vec<DraftDependency>,
    /// The resources that wait for others.
    pub resource_dependencies: Vec<DraftResourceDependency>,
}

/// An app that another app waits for.
#[derive(Clone)]
pub struct DraftDependency {
    /// The app.
    pub app: String,
    /// The condition.
    pub condition: IntentCondition,
    /// The time to wait after the condition is met, in seconds.
    pub wait_seconds: u32,
}

/// A resource that waits for another one of the same app in the same cluster.
#[derive(Clone)]
pub struct DraftResourceDependency {
    /// The resource that waits, as `Kind/name`.
    pub resource: String,
    /// The other resource, as `Kind/name`.
    pub on: String,
    /// The condition.
    pub condition: IntentCondition,
    /// The time to wait after the condition is met, in seconds.
    pub wait_seconds: u32,
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
    /// Checks the draft as the content of a subject.
    ///
    /// # Errors
    /// See [`Draft::checked`].
    pub(crate) fn checked_for(self, subject: &RecordSubject) -> Result<Intent, Vec<DraftProblem>> {
        match subject {
            RecordSubject::Group(_) | RecordSubject::LogicalCloud(_) => self.checked(),
            RecordSubject::Cluster(cluster) => networks::checked(self, cluster),
        }
    }

    /// Checks the draft as the content of a group.
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
        let bytes = self.apps.iter().map(DraftApp::bytes);
        let bytes = bytes.fold(0_usize, usize::saturating_add);
        if bytes > GROUP_SENT_BYTES_MAX {
            let detail = format!("the manifests have {bytes} bytes in their clusters");
            let expected = format!("at most {GROUP_SENT_BYTES_MAX} bytes");
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
            dependencies::check(&intent, &mut problems);
        }
        intent.controllers = controllers::checked(self.controllers, &mut problems);
        if problems.0.is_empty() {
            Ok(intent)
        } else {
            Err(problems.0)
        }
    }
}

impl DraftApp {
    fn resources(&self) -> usize {
        self.clusters_max().saturating_mul(self.manifests.len())
    }

    fn bytes(&self) -> usize {
        let bytes = self.manifests.iter().map(String::len).sum::<usize>();
        self.clusters_max().saturating_mul(bytes)
    }

    /// The number of clusters in the context, before one of each group is chosen.
    fn clusters_max(&self) -> usize {
        self.clusters.len() + self.any_of.iter().map(Vec::len).sum::<usize>()
    }

    fn checked(self, path: &str, problems: &mut Problems) -> IntentApp {
        let (of_clusters, of_manifests) = (format!("{path}.clusters"), format!("{path}.manifests"));
        check_name(&format!("{path}.name"), &self.name, problems);
        if self.any_of.is_empty() {
            problems.length(&of_clusters, &self.clusters, APP_CLUSTERS_MAX);
        } else if self.clusters_max() > APP_CLUSTERS_MAX {
            let detail = format!("the app names {} clusters", self.clusters_max());
            problems.add(&of_clusters, detail, format!("at most {APP_CLUSTERS_MAX}"));
        }
        problems.length(&of_manifests, &self.manifests, APP_MANIFESTS_MAX);
        let mut seen = BTreeSet::new();
        let all_of = clusters(&of_clusters, &self.clusters, &mut seen, problems);
        let groups = self.any_of.iter().enumerate().map(|(position, group)| {
            let path = format!("{path}.any-of[{position}]");
            problems.length(&path, group, APP_CLUSTERS_MAX);
            clusters(&path, group, &mut seen, problems)
        });
        let any_of = groups.collect();
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
        let depends_on = self
            .depends_on
            .into_iter()
            .map(|dependency| IntentDependency {
                app: dependency.app,
                condition: dependency.condition,
                wait_seconds: dependency.wait_seconds,
            });
        let waiting = self.resource_dependencies.into_iter();
        IntentApp {
            name: self.name,
            clusters: all_of,
            any_of,
            manifests: self.manifests,
            depends_on: depends_on.collect(),
            resource_dependencies: waiting.map(dependencies::of_resource).collect(),
        }
    }
}

/// The names of clusters. A cluster that was seen before is a problem.
fn clusters(
    path: &str,
    texts: &[String],
    seen: &mut BTreeSet<ClusterName>,
    problems: &mut Problems,
) -> Vec<ClusterName> {
    let mut clusters: Vec<ClusterName> = Vec::new();
    for (position, text) in texts.iter().enumerate() {
        let path = format!("{path}[{position}]");
        match text.parse::<ClusterName>() {
            Ok(cluster) if !seen.insert(cluster.clone()) => {
                let detail = format!("the cluster {cluster} is named twice");
                problems.add(&path, detail, "another cluster");
            }
            Ok(cluster) => clusters.push(cluster),
            Err(error) => problems.add(&path, error.to_string(), ""),
        }
    }
    clusters
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
