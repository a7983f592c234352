//! Keys of contexts and records, built and parsed here and nowhere else.
//!
//! Every key ends in `/`. So the keys below an app, a cluster or a resource follow directly after
//! its own key, and are never mixed with those of a name that begins with its name;
//! `snapshot/reading.rs` reads in one pass because of it. Names are checked before they become part
//! of a key.

use std::fmt;
use std::str::FromStr;

use kindsight_model::{ClusterName, ContextId, DigName, is_label_value, is_name};

use crate::{Error, Result};

/// The prefix of the reference layout.
pub(crate) const CONTEXTS: &str = "/context/";
/// The prefix of all keys of our own.
pub(crate) const OWN: &str = "/kindsight/";
/// The prefix of the parts of reports that are too large for one key.
pub(crate) const BUNDLES: &str = "/kindsight/bundles/";
/// The prefix of the marks of contexts that are being created.
pub(crate) const CREATIONS: &str = "/kindsight/creations/";
/// The prefix of the records of deployment intent groups.
pub(crate) const DIGS: &str = "/kindsight/digs/";
/// The prefix of the records of clusters.
pub(crate) const CLUSTERS: &str = "/kindsight/clusters/";

/// The longest name of a resource, in bytes; the limit of Kubernetes.
pub const RESOURCE_NAME_BYTES_MAX: usize = 253;

/// The one name that an app cannot have: its key would be that of the instructions beside the apps.
const NOT_AN_APP: &str = "instruction";

/// The name of a resource within its app and cluster: `<name>+<Kind>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceName {
    name: Box<str>,
    kind: Box<str>,
}

impl ResourceName {
    /// Checks a name and a Kind. The name may hold `+` and `:`, as names of RBAC objects do.
    ///
    /// # Errors
    /// [`Error::Name`] for a name that is empty, over [`RESOURCE_NAME_BYTES_MAX`] or holds `/` or a control
    /// character, and for a Kind that is no label value.
    pub fn new(name: &str, kind: &str) -> Result<Self> {
        let bad = |char: char| char == '/' || char.is_control();
        if name.is_empty() || name.len() > RESOURCE_NAME_BYTES_MAX || name.contains(bad) {
            return Err(Error::Name {
                name: name.to_owned(),
                expected: "the name of a resource: 1 to 253 bytes without `/` and control characters",
            });
        }
        if !is_label_value(kind) {
            return Err(Error::Name {
                name: kind.to_owned(),
                expected: "a Kind: 1 to 63 letters and digits",
            });
        }
        Ok(Self {
            name: name.into(),
            kind: kind.into(),
        })
    }

    /// The name of the resource, without its Kind.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The Kind of the resource.
    pub fn kind(&self) -> &str {
        &self.kind
    }
}

impl fmt::Display for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.name, self.kind)
    }
}

impl FromStr for ResourceName {
    type Err = Error;

    /// Splits at the last `+`: a Kind never holds one, a name may.
    fn from_str(text: &str) -> Result<Self> {
        let (name, kind) = split_resource(text).ok_or_else(|| Error::Name {
            name: text.to_owned(),
            expected: "a resource: write `<name>+<Kind>`",
        })?;
        Self::new(name, kind)
    }
}

/// Splits a resource as another writer stored it into name and Kind; neither is empty, and nothing
/// else is checked.
pub(crate) fn split_resource(text: &str) -> Option<(&str, &str)> {
    let (name, kind) = text.rsplit_once('+')?;
    (!name.is_empty() && !kind.is_empty()).then_some((name, kind))
}

/// The keys of one context.
#[derive(Debug, Clone)]
pub(crate) struct ContextKeys(String);

impl ContextKeys {
    pub(crate) fn new(id: &ContextId) -> Self {
        Self(format!("{CONTEXTS}{id}/"))
    }

    /// The key that exists when the context does, and the prefix of all its keys.
    pub(crate) fn root(&self) -> &str {
        &self.0
    }

    pub(crate) fn meta(&self) -> String {
        format!("{}meta/", self.0)
    }

    pub(crate) fn status(&self) -> String {
        format!("{}status/", self.0)
    }

    pub(crate) fn stop_flag(&self) -> String {
        format!("{}stopflag/", self.0)
    }

    pub(crate) fn status_context(&self) -> String {
        format!("{}statusappctxid/", self.0)
    }

    /// The prefix of all apps and their instructions.
    pub(crate) fn apps(&self) -> String {
        format!("{}app/", self.0)
    }

    pub(crate) fn app_order(&self) -> String {
        format!("{}app/instruction/order/", self.0)
    }

    pub(crate) fn app_dependency(&self) -> String {
        format!("{}app/instruction/dependency/", self.0)
    }

    pub(crate) fn app(&self, app: &str) -> Result<AppKeys> {
        if !is_name(app) || app == NOT_AN_APP {
            return Err(Error::Name {
                name: app.to_owned(),
                expected: "the name of an app: 1 to 128 letters, digits, `-`, `_` or `.`, not `-` alone or only dots, and not `instruction`",
            });
        }
        Ok(AppKeys(format!("{}app/{app}/", self.0)))
    }
}

/// The keys of one app.
#[derive(Debug, Clone)]
pub(crate) struct AppKeys(String);

impl AppKeys {
    pub(crate) fn root(&self) -> &str {
        &self.0
    }

    pub(crate) fn dependency(&self) -> String {
        format!("{}instruction/dependency/", self.0)
    }

    pub(crate) fn cluster(&self, cluster: &ClusterName) -> ClusterKeys {
        ClusterKeys(format!("{}cluster/{cluster}/", self.0))
    }
}

/// The keys of one app in one cluster.
#[derive(Debug, Clone)]
pub(crate) struct ClusterKeys(String);

impl ClusterKeys {
    pub(crate) fn root(&self) -> &str {
        &self.0
    }

    pub(crate) fn group(&self) -> String {
        format!("{}!@#metaGrp/", self.0)
    }

    pub(crate) fn bundle(&self) -> String {
        format!("{}status/", self.0)
    }

    pub(crate) fn connectivity(&self) -> String {
        format!("{}readystatus/", self.0)
    }

    pub(crate) fn resource_order(&self) -> String {
        format!("{}resource/instruction/order/", self.0)
    }

    pub(crate) fn resource_dependency(&self) -> String {
        format!("{}resource/instruction/dependency/", self.0)
    }

    pub(crate) fn resource(&self, resource: &ResourceName) -> ResourceKeys {
        ResourceKeys(format!("{}resource/{resource}/", self.0))
    }
}

/// The keys of one resource.
#[derive(Debug, Clone)]
pub(crate) struct ResourceKeys(String);

impl ResourceKeys {
    pub(crate) fn root(&self) -> &str {
        &self.0
    }

    pub(crate) fn reference(&self) -> String {
        format!("{}reference/", self.0)
    }

    pub(crate) fn approval(&self) -> String {
        format!("{}subresource/approval/", self.0)
    }

    pub(crate) fn status(&self) -> String {
        format!("{}status/", self.0)
    }
}

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

/// The context or record that a key is a part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
    Context(ContextId),
    Dig(DigName),
    Cluster(ClusterName),
}

/// Finds the context or record that a key is a part of; none for a key that is not read.
pub(crate) fn subject(key: &str) -> Option<Subject> {
    let context = context_of(key).map(Subject::Context);
    context
        .or_else(|| dig_of(key).map(Subject::Dig))
        .or_else(|| cluster_of(key).map(Subject::Cluster))
}

/// Finds the context that a key is a part of; none for a key that is not read.
fn context_of(key: &str) -> Option<ContextId> {
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

/// Builds the prefix of the parts of reports on a thing, from its own key.
pub(crate) fn bundles(thing: &str) -> String {
    let below = thing.strip_prefix(CONTEXTS).unwrap_or(thing);
    format!("{BUNDLES}{below}")
}

/// Parses a key of a report in parts: its prefix, and the key of its cluster. None for all but one of
/// its keys.
pub(crate) fn cluster_of_bundle(key: &str) -> Option<(&str, String)> {
    let prefix = key.strip_suffix("current/")?;
    let below = prefix.strip_prefix(BUNDLES)?;
    Some((prefix, format!("{CONTEXTS}{below}")))
}

/// Builds the key of the mark of a context that is being created.
pub(crate) fn creation(id: &ContextId) -> String {
    format!("{CREATIONS}{id}/")
}

/// Parses the key of the mark of a context that is being created; none for any other key.
pub(crate) fn creation_of(key: &str) -> Option<ContextId> {
    let id = key.strip_prefix(CREATIONS)?.strip_suffix('/')?;
    id.parse().ok()
}

/// Builds the key of the record of a deployment intent group.
pub(crate) fn dig(name: &DigName) -> String {
    format!("{DIGS}{name}/")
}

/// Parses the key of the record of a deployment intent group; none for any other key.
pub(crate) fn dig_of(key: &str) -> Option<DigName> {
    let parts: Vec<&str> = key.strip_prefix(DIGS)?.split('/').collect();
    let [project, composite_app, version, dig, ""] = *parts.as_slice() else {
        return None;
    };
    DigName::new(project, composite_app, version, dig).ok()
}

/// Builds the key of the record of a cluster.
pub(crate) fn cluster(name: &ClusterName) -> String {
    format!("{CLUSTERS}{name}/")
}

/// Parses the key of the record of a cluster; none for any other key.
pub(crate) fn cluster_of(key: &str) -> Option<ClusterName> {
    let name = key.strip_prefix(CLUSTERS)?.strip_suffix('/')?;
    name.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> ContextKeys {
        ContextKeys::new(&"7".parse().unwrap())
    }

    #[test]
    fn every_key_that_is_read_is_parsed_as_what_it_was_built_for() {
        let context = context();
        let app = context.app("sink").unwrap();
        let cluster = app.cluster(&"p+edge".parse().unwrap());
        let resource = cluster.resource(&ResourceName::new("a+b:c", "Role").unwrap());
        let in_cluster = |key| ContextKey::InCluster("sink", "p+edge", key);
        for (key, expect) in [
            (context.root().to_owned(), ContextKey::Root),
            (context.meta(), ContextKey::Meta),
            (context.status(), ContextKey::Status),
            (context.stop_flag(), ContextKey::StopFlag),
            (context.app_order(), ContextKey::AppOrder),
            (context.app_dependency(), ContextKey::Other),
            (app.root().to_owned(), ContextKey::App("sink")),
            (cluster.root().to_owned(), in_cluster(ClusterKey::Root)),
            (cluster.group(), in_cluster(ClusterKey::Group)),
            (cluster.bundle(), in_cluster(ClusterKey::Bundle)),
            (cluster.connectivity(), in_cluster(ClusterKey::Connectivity)),
            (
                cluster.resource_order(),
                in_cluster(ClusterKey::ResourceOrder),
            ),
            (
                cluster.resource_dependency(),
                in_cluster(ClusterKey::ResourceDependency),
            ),
            (
                resource.root().to_owned(),
                in_cluster(ClusterKey::Resource("a+b:c+Role")),
            ),
            (
                resource.status(),
                in_cluster(ClusterKey::ResourceStatus("a+b:c+Role")),
            ),
        ] {
            assert_eq!(context_key(context.root(), &key), expect, "{key}");
        }
    }

    #[test]
    fn a_resource_is_split_at_its_last_plus() {
        let resource: ResourceName = "a+b+Role".parse().unwrap();
        assert_eq!((resource.name(), resource.kind()), ("a+b", "Role"));
        assert_eq!(resource.to_string(), "a+b+Role");
        let long = format!("{}+Pod", "x".repeat(RESOURCE_NAME_BYTES_MAX + 1));
        for bad in ["", "a", "+Pod", "a+", "a/b+Pod", "a\n+Pod", "a+Po d", &long] {
            assert!(bad.parse::<ResourceName>().is_err(), "{bad}");
        }
        let longest = format!("{}+Pod", "x".repeat(RESOURCE_NAME_BYTES_MAX));
        assert!(longest.parse::<ResourceName>().is_ok());
    }

    #[test]
    fn a_name_cannot_reach_outside_its_place() {
        for bad in ["", "a/b", "..", "instruction", "-"] {
            assert!(context().app(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_a_root_key_names_a_context() {
        assert_eq!(context_of_root("/context/7/").unwrap().as_str(), "7");
        for other in [
            "/context/7",
            "/context/",
            "/context/7/meta/",
            "/context/--7/",
            "/kindsight/7/",
        ] {
            assert_eq!(context_of_root(other), None, "{other}");
        }
    }

    #[test]
    fn record_keys_are_read_back() {
        let name = DigName::new("p", "ca", "v1", "d").unwrap();
        assert_eq!(dig(&name), "/kindsight/digs/p/ca/v1/d/");
        assert_eq!(dig_of(&dig(&name)), Some(name));
        let edge: ClusterName = "p+edge01".parse().unwrap();
        assert_eq!(cluster(&edge), "/kindsight/clusters/p+edge01/");
        assert_eq!(cluster_of(&cluster(&edge)), Some(edge));
        assert_eq!(dig_of("/kindsight/digs/p/ca/v1/"), None);
        assert_eq!(cluster_of("/kindsight/clusters/edge01/"), None);
    }
}
