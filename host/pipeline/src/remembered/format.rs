//! The stored form of verdicts on found applications. A change of it is another version.

use std::sync::Arc;

use kindsight_model::{
    ClusterName, Coverage, CoverageEntry, DigName, Gvk, InterpretedBy, Phase, Verdict,
};
use kindsight_status::{ClusterView, ConnectionView, ResourceView, Role, object_mark};
use serde::{Deserialize, Serialize};

use super::{RememberedCluster, RememberedPlacement};

/// The mark of the version.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredVersion {
    pub(super) version: u64,
}

/// A cluster.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct StoredCluster {
    cluster: String,
    current_until_ms: i64,
    /// The label selector that its objects were looked for by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    selector: Option<Arc<str>>,
    /// Its identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    identity: Option<Arc<str>>,
    /// The Kinds that were not covered; left out if its source sent no coverage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    not_covered: Option<Vec<CoverageEntry>>,
}

impl StoredCluster {
    /// The stored form of a cluster that is current until then.
    pub(super) fn of(
        name: &ClusterName,
        connection: &ConnectionView,
        current_until_ms: i64,
    ) -> Self {
        let facts = connection.facts.as_ref();
        let coverage = connection.coverage.as_ref();
        Self {
            cluster: name.to_string(),
            current_until_ms,
            selector: connection.selector().cloned(),
            identity: facts.and_then(|facts| facts.identity.clone()),
            // A limit on the cluster itself is not kept.
            not_covered: coverage.map(|coverage| {
                let kinds = coverage.not_covered().filter(|row| row.group.is_some());
                kinds.map(CoverageEntry::from).collect()
            }),
        }
    }

    /// The cluster; none if its name cannot be one.
    pub(super) fn read(self) -> Option<(ClusterName, RememberedCluster)> {
        let coverage = self.not_covered.map(|kinds| {
            let mut coverage = Coverage::default();
            coverage.extend(kinds);
            coverage
        });
        let cluster = RememberedCluster {
            current_until_ms: self.current_until_ms,
            selector: self.selector,
            identity: self.identity,
            coverage,
        };
        Some((self.cluster.parse().ok()?, cluster))
    }
}

/// An app of a found application in a cluster.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct StoredPlacement {
    application: String,
    app: Arc<str>,
    cluster: String,
    /// True if an object has the label of the instance of ONAP's Kubernetes plugin that the application is named after.
    /// Earlier releases ignore this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_instance: bool,
    /// The interpreters that the resources name by their positions.
    interpreters: Vec<InterpretedBy>,
    resources: Vec<StoredResource>,
}

/// A resource, without its object.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct StoredResource {
    #[serde(rename = "GVK")]
    gvk: Gvk,
    namespace: Arc<str>,
    name: Arc<str>,
    role: StoredRole,
    /// True for a resource that is gone and that an inventory lists. Earlier releases ignore this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_missing: bool,
    phase: Phase,
    state: Arc<str>,
    reason: Arc<str>,
    message: Arc<str>,
    /// Since when by the object itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    told_since_ms: Option<i64>,
    /// Since when as it is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since_ms: Option<i64>,
    /// Position of the interpreter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<usize>,
    /// Position of the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<usize>,
    /// Mark of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    object: Option<Arc<str>>,
}

/// The roles that a resource of a found application may have.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredRole {
    Here,
    Hook,
    Gone,
}

/// JSON of a value. Values of this module always are.
pub(super) fn written(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

impl StoredPlacement {
    /// The stored form of a view.
    pub(super) fn of(application: &DigName, app: &Arc<str>, view: &ClusterView) -> Self {
        let mut interpreters: Vec<InterpretedBy> = Vec::new();
        let mut by = |verdict: &Verdict| {
            let by = verdict.by.as_deref()?;
            let is_it = |known: &InterpretedBy| known.digest == by.digest && known.name == by.name;
            let known = interpreters.iter().position(is_it);
            Some(known.unwrap_or_else(|| {
                interpreters.push(by.clone());
                interpreters.len() - 1
            }))
        };
        let resources = view.resources().iter().enumerate();
        let resources = resources.map(|(at, resource)| StoredResource {
            gvk: resource.gvk.clone(),
            namespace: Arc::clone(&resource.namespace),
            name: Arc::clone(&resource.name),
            role: match resource.role {
                Role::Sent | Role::Unsent => StoredRole::Here,
                Role::Hook | Role::SentHook => StoredRole::Hook,
                Role::Gone | Role::Missing => StoredRole::Gone,
            },
            is_missing: resource.role == Role::Missing,
            phase: resource.verdict.phase,
            state: Arc::clone(&resource.verdict.state),
            reason: Arc::clone(&resource.verdict.reason),
            message: Arc::clone(&resource.verdict.message),
            told_since_ms: resource.verdict.since_ms,
            since_ms: resource.since_ms,
            by: by(&resource.verdict),
            owner: resource.owner,
            object: match &resource.object {
                Some(object) => Some(object_mark(object)),
                None => view.object_mark(at).cloned(),
            },
        });
        Self {
            application: application.to_string(),
            app: Arc::clone(app),
            cluster: view.cluster().to_string(),
            is_instance: view.has_instance(&application.composite_app),
            resources: resources.collect(),
            interpreters,
        }
    }

    /// The placement; none where a name in it cannot be one.
    pub(super) fn read(self) -> Option<RememberedPlacement> {
        let interpreters: Vec<_> = self.interpreters.into_iter().map(Arc::new).collect();
        let count = self.resources.len();
        let resources = self.resources.into_iter().enumerate().map(|(at, stored)| {
            let verdict = Verdict {
                phase: stored.phase,
                state: stored.state,
                reason: stored.reason,
                message: stored.message,
                since_ms: stored.told_since_ms,
                recheck_at_ms: None,
                by: stored.by.and_then(|by| interpreters.get(by).cloned()),
            };
            let resource = ResourceView {
                gvk: stored.gvk,
                namespace: stored.namespace,
                name: stored.name,
                manifest: None,
                rsync: None,
                object: None,
                verdict,
                since_ms: stored.since_ms,
                role: match stored.role {
                    StoredRole::Here => Role::Unsent,
                    StoredRole::Hook => Role::Hook,
                    StoredRole::Gone if stored.is_missing => Role::Missing,
                    StoredRole::Gone => Role::Gone,
                },
                owner: stored.owner.filter(|owner| *owner < count && *owner != at),
                claims: None,
            };
            (resource, stored.object)
        });
        let application: DigName = self.application.parse().ok()?;
        let instance = Arc::clone(&application.composite_app);
        Some(RememberedPlacement {
            application,
            app: self.app,
            cluster: self.cluster.parse().ok()?,
            instance: Some(instance).filter(|_| self.is_instance),
            resources: resources.collect(),
        })
    }
}
