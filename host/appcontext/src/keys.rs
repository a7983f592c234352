//! Keys of contexts and records, built and parsed in this module and nowhere else.
//!
//! Every key ends in `/`. The keys below an app, a cluster or a resource therefore follow directly after
//! its own key, without keys of another name between them. Contexts in memory keep this order. Names are
//! checked before they become part of a key.

use kindsight_model::{ClusterName, ContextId, is_name};

use crate::{Error, Result};

mod own;
mod parsed;
mod resource_name;

pub(crate) use own::{
    ASKED, BUNDLES, CLUSTERS, CREATIONS, DIGS, OWN, REGISTRATIONS, Subject, asked, asked_of,
    bundles, cluster_of_bundle, creation, creation_of, deployed, intent, record, record_of,
    registration, registration_of, revision, revisions, subject,
};
pub(crate) use parsed::{ClusterKey, ContextKey, context_key, context_of_root};
pub(crate) use resource_name::split_resource;
pub use resource_name::{RESOURCE_NAME_BYTES_MAX, ResourceName};

/// The prefix of the reference layout.
pub(crate) const CONTEXTS: &str = "/context/";
/// The only forbidden name of an app: its key would be the prefix of the instructions beside the apps.
const NOT_AN_APP: &str = "instruction";

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

    /// The keys of an app in a cluster, each by its name in a stored key.
    pub(crate) fn stored_cluster(&self, app: &str, cluster: &str) -> ClusterKeys {
        ClusterKeys(format!("{}app/{app}/cluster/{cluster}/", self.0))
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

    fn key(&self, key: ClusterKey<'_>) -> String {
        format!("{}{}", self.0, key.below())
    }

    pub(crate) fn group(&self) -> String {
        self.key(ClusterKey::Group)
    }

    pub(crate) fn bundle(&self) -> String {
        self.key(ClusterKey::Bundle)
    }

    pub(crate) fn connectivity(&self) -> String {
        self.key(ClusterKey::Connectivity)
    }

    pub(crate) fn reference(&self) -> String {
        self.key(ClusterKey::Reference)
    }

    pub(crate) fn resource_order(&self) -> String {
        self.key(ClusterKey::ResourceOrder)
    }

    pub(crate) fn resource_dependency(&self) -> String {
        self.key(ClusterKey::ResourceDependency)
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

    pub(crate) fn definition(&self) -> String {
        format!("{}definition/", self.0)
    }
}

#[cfg(test)]
mod tests {
    use kindsight_model::{DigName, RecordSubject};

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
        let name = RecordSubject::from(&name);
        assert_eq!(record(&name), "/kindsight/digs/p/ca/v1/d/");
        assert_eq!(intent(&name), "/kindsight/intents/p/ca/v1/d/");
        assert_eq!(record_of(&record(&name)), Some(name));
        let edge: ClusterName = "p+edge01".parse().unwrap();
        let edge = RecordSubject::from(&edge);
        assert_eq!(record(&edge), "/kindsight/clusters/p+edge01/");
        assert_eq!(revision(&edge, 2), "/kindsight/revisions/p+edge01/2/");
        assert_eq!(record_of(&record(&edge)), Some(edge));
        assert_eq!(record_of("/kindsight/digs/p/ca/v1/"), None);
        assert_eq!(record_of("/kindsight/clusters/edge01/"), None);
    }
}
