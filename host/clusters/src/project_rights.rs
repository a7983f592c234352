//! Rights of projects: the clusters, namespaces and Kinds that the resources of a project may use.

use kindsight_model::{ClusterName, NamePattern};

use crate::NamespacedName;

#[cfg(test)]
mod tests;

/// The group of the Kinds that grant rights.
const RBAC: &str = "rbac.authorization.k8s.io";
/// The prefix of the namespaces that Kubernetes reserves.
const RESERVED_NAMESPACES: &str = "kube-";

/// The rights of all projects, in the order of the configuration.
///
/// The first table that matches a project has its rights. Without any table, each project has the
/// [default rights](ProjectRights::default). With tables, a project that no table matches may send nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Projects(pub Vec<(NamePattern, ProjectRights)>);

/// The rights of a project. An empty list permits every name.
///
/// Without a `ServiceAccount`, requests have the rights of this process. Then three things are refused: cluster-scoped
/// Kinds, the Kinds of RBAC, and namespaces that begin with `kube-`, unless `namespaces` names them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectRights {
    /// Patterns of `provider+name`.
    pub clusters: Vec<NamePattern>,
    /// Patterns of namespaces.
    pub namespaces: Vec<NamePattern>,
    /// Patterns of Kinds: `Kind` in the core group, else `Kind.group`.
    pub kinds: Vec<NamePattern>,
    /// The `ServiceAccount` that requests impersonate, in each cluster.
    pub account: Option<NamespacedName>,
}

/// A Kind of a resource that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentKind<'a> {
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The Kind.
    pub kind: &'a str,
}

/// The reason why a project may not use something, as text for users.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RightsError {
    /// The configuration has tables of projects, and none for this project.
    #[error("the configuration has no `[[project]]` for the project `{0}`")]
    Project(String),
    /// The project may not use the cluster.
    #[error("the project may not use the cluster {0}")]
    Cluster(ClusterName),
    /// The project may not use the Kind.
    #[error("the project may not use the Kind {0}")]
    Kind(String),
    /// The project may not use the namespace.
    #[error("the project may not use the namespace `{0}`")]
    Namespace(String),
    /// The Kind is cluster-scoped or grants rights.
    #[error("the Kind {0} {1}, so its project needs a `service-account` in the configuration")]
    NeedsAccount(String, &'static str),
}

impl SentKind<'_> {
    /// The name in patterns and texts: `Kind` in the core group, else `Kind.group`.
    fn name(self) -> String {
        match self {
            Self { group: "", kind } => kind.to_owned(),
            Self { group, kind } => format!("{kind}.{group}"),
        }
    }
}

impl Projects {
    /// The rights of a project.
    ///
    /// # Errors
    /// [`RightsError::Project`].
    pub fn of(&self, project: &str) -> Result<ProjectRights, RightsError> {
        let Self(tables) = self;
        if tables.is_empty() {
            return Ok(ProjectRights::default());
        }
        let mut tables = tables.iter();
        let table = tables.find(|(name, _)| name.matches(project));
        let rights = table.map(|(_, rights)| rights.clone());
        rights.ok_or_else(|| RightsError::Project(project.to_owned()))
    }
}

impl ProjectRights {
    /// Checks the cluster of a resource.
    ///
    /// # Errors
    /// [`RightsError::Cluster`].
    pub fn check_cluster(&self, cluster: &ClusterName) -> Result<(), RightsError> {
        if permits(&self.clusters, &cluster.to_string()) {
            return Ok(());
        }
        Err(RightsError::Cluster(cluster.clone()))
    }

    /// Checks the Kind of a resource against the list of the project.
    ///
    /// # Errors
    /// [`RightsError::Kind`].
    pub fn check_kind(&self, kind: SentKind<'_>) -> Result<(), RightsError> {
        let name = kind.name();
        if permits(&self.kinds, &name) {
            return Ok(());
        }
        Err(RightsError::Kind(name))
    }

    /// Checks a namespace against the list of the project.
    ///
    /// # Errors
    /// [`RightsError::Namespace`].
    pub fn check_namespace(&self, namespace: &str) -> Result<(), RightsError> {
        let is_reserved = self.account.is_none()
            && self.namespaces.is_empty()
            && namespace.starts_with(RESERVED_NAMESPACES);
        if permits(&self.namespaces, namespace) && !is_reserved {
            return Ok(());
        }
        Err(RightsError::Namespace(namespace.to_owned()))
    }

    /// Checks a resource of an API server: its Kind, and the namespace that it is sent to. A cluster-scoped resource has
    /// no namespace. `name` is the name of the resource: a Namespace must be one that the project may use.
    ///
    /// # Errors
    /// [`RightsError`].
    pub fn check(
        &self,
        kind: SentKind<'_>,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<(), RightsError> {
        self.check_kind(kind)?;
        if self.account.is_none() {
            if kind.group == RBAC {
                return Err(RightsError::NeedsAccount(kind.name(), "grants rights"));
            }
            if namespace.is_none() {
                let name = kind.name();
                return Err(RightsError::NeedsAccount(name, "has no namespace"));
            }
        }
        match (namespace, kind) {
            (Some(namespace), _) => self.check_namespace(namespace),
            (
                None,
                SentKind {
                    group: "",
                    kind: "Namespace",
                },
            ) => self.check_namespace(name),
            (None, _) => Ok(()),
        }
    }
}

fn permits(patterns: &[NamePattern], name: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(name))
}
