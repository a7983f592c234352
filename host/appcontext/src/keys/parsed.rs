//! Keys of contexts, parsed.

use kindsight_model::ContextId;

use super::{CONTEXTS, ContextKeys};

/// The meaning of a key of one context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContextKey<'k> {
    Root,
    Meta,
    Status,
    StopFlag,
    StatusContext,
    AppOrder,
    App(&'k str),
    AppDependency(&'k str),
    InCluster(&'k str, &'k str, ClusterKey<'k>),
    /// A key that is not read.
    Other,
}

/// The meaning of a key of one app in one cluster. Resources are as stored: `<name>+<Kind>`,
/// unchecked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClusterKey<'k> {
    Root,
    Group,
    Bundle,
    Connectivity,
    Reference,
    ResourceOrder,
    ResourceDependency,
    Resource(&'k str),
    ResourceStatus(&'k str),
    ResourceReference(&'k str),
}

impl ClusterKey<'_> {
    /// The key without the key of its cluster.
    pub(crate) fn below(self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Group => "!@#metaGrp/".to_owned(),
            Self::Bundle => "status/".to_owned(),
            Self::Connectivity => "readystatus/".to_owned(),
            Self::Reference => "reference/".to_owned(),
            Self::ResourceOrder => "resource/instruction/order/".to_owned(),
            Self::ResourceDependency => "resource/instruction/dependency/".to_owned(),
            Self::Resource(name) => format!("resource/{name}/"),
            Self::ResourceStatus(name) => format!("resource/{name}/status/"),
            Self::ResourceReference(name) => format!("resource/{name}/reference/"),
        }
    }
}

/// Parses a key of the context whose root key is `root`.
pub(crate) fn context_key<'k>(root: &str, key: &'k str) -> ContextKey<'k> {
    let Some(below) = key.strip_prefix(root) else {
        return ContextKey::Other;
    };
    let parts: Vec<&str> = below.split('/').collect();
    match *parts.as_slice() {
        [""] => ContextKey::Root,
        ["meta", ""] => ContextKey::Meta,
        ["status", ""] => ContextKey::Status,
        ["stopflag", ""] => ContextKey::StopFlag,
        ["statusappctxid", ""] => ContextKey::StatusContext,
        ["app", "instruction", "order", ""] => ContextKey::AppOrder,
        ["app", app, ""] => ContextKey::App(app),
        ["app", app, "instruction", "dependency", ""] => ContextKey::AppDependency(app),
        ["app", app, "cluster", cluster, ref rest @ ..] => match cluster_key(rest) {
            Some(key) => ContextKey::InCluster(app, cluster, key),
            None => ContextKey::Other,
        },
        _ => ContextKey::Other,
    }
}

fn cluster_key<'k>(rest: &[&'k str]) -> Option<ClusterKey<'k>> {
    Some(match *rest {
        [""] => ClusterKey::Root,
        ["!@#metaGrp", ""] => ClusterKey::Group,
        ["status", ""] => ClusterKey::Bundle,
        ["readystatus", ""] => ClusterKey::Connectivity,
        ["reference", ""] => ClusterKey::Reference,
        ["resource", "instruction", "order", ""] => ClusterKey::ResourceOrder,
        ["resource", "instruction", "dependency", ""] => ClusterKey::ResourceDependency,
        ["resource", resource, ""] => ClusterKey::Resource(resource),
        ["resource", resource, "status", ""] => ClusterKey::ResourceStatus(resource),
        ["resource", resource, "reference", ""] => ClusterKey::ResourceReference(resource),
        _ => return None,
    })
}

/// Finds the context that a key is a part of; none for a key that is not read.
pub(crate) fn context_of(key: &str) -> Option<ContextId> {
    let (id, _) = key.strip_prefix(CONTEXTS)?.split_once('/')?;
    let id: ContextId = id.parse().ok()?;
    let is_read = context_key(ContextKeys::new(&id).root(), key) != ContextKey::Other;
    is_read.then_some(id)
}

/// Parses the root key of a context; none for any other key.
pub(crate) fn context_of_root(key: &str) -> Option<ContextId> {
    let id = key.strip_prefix(CONTEXTS)?.strip_suffix('/')?;
    id.parse().ok()
}
