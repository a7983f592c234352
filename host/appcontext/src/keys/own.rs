//! Keys of our own: records, parts of reports, and marks of creations; and what a key is about.

use kindsight_model::{ClusterName, ContextId, DigName};

use super::CONTEXTS;
use super::parsed::context_of;

/// The prefix of all keys of our own.
pub(crate) const OWN: &str = "/kindsight/";
/// The prefix of the parts of reports that are too large for one key.
pub(crate) const BUNDLES: &str = "/kindsight/bundles/";
/// The prefix of the marks of contexts that are being created.
pub(crate) const CREATIONS: &str = "/kindsight/creations/";
/// The prefix of the records of deployment intent groups.
pub(crate) const DIGS: &str = "/kindsight/digs/";
/// The prefix of the intents of deployment intent groups.
const INTENTS: &str = "/kindsight/intents/";
/// The prefix of the clusters that operators registered.
pub(crate) const REGISTRATIONS: &str = "/kindsight/registrations/";
/// The prefix of the records of clusters.
pub(crate) const CLUSTERS: &str = "/kindsight/clusters/";

/// The prefix of the contents of revisions of deployment intent groups.
const REVISIONS: &str = "/kindsight/revisions/";
/// The prefix of the state of the work on resources, by status context.
const DEPLOYED: &str = "/kindsight/deployed/";
/// The prefix of the work that is asked for on contexts.
pub(crate) const ASKED: &str = "/kindsight/asked/";

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

/// Builds the prefix of the parts of reports on a thing, from its own key.
pub(crate) fn bundles(thing: &str) -> String {
    let below = thing.strip_prefix(CONTEXTS).unwrap_or(thing);
    format!("{BUNDLES}{below}")
}

/// Parses a key of a report in parts: its prefix, and the key of its cluster.
pub(crate) fn cluster_of_bundle(key: &str) -> Option<(&str, String)> {
    let part = || key.get(..=key.rfind("/parts/")?);
    let prefix = key.strip_suffix("current/").or_else(part)?;
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

/// Builds the key of the intent of a deployment intent group.
pub(crate) fn intent(name: &DigName) -> String {
    format!("{INTENTS}{name}/")
}

/// Builds the prefix of the contents of the revisions of a deployment intent group.
pub(crate) fn revisions(name: &DigName) -> String {
    format!("{REVISIONS}{name}/")
}

/// Builds the key of the content of a revision of a deployment intent group.
pub(crate) fn revision(name: &DigName, revision: i64) -> String {
    format!("{REVISIONS}{name}/{revision}/")
}

/// Builds the prefix of the state of the work on the resources of a status context.
pub(crate) fn deployed(status_context: &ContextId) -> String {
    format!("{DEPLOYED}{status_context}/")
}

/// Builds the key of the work that is asked for on a context.
pub(crate) fn asked(id: &ContextId) -> String {
    format!("{ASKED}{id}/")
}

/// Parses the key of the work that is asked for on a context; none for any other key.
pub(crate) fn asked_of(key: &str) -> Option<ContextId> {
    let id = key.strip_prefix(ASKED)?.strip_suffix('/')?;
    id.parse().ok()
}

/// Parses the key of the record of a deployment intent group; none for any other key.
pub(crate) fn dig_of(key: &str) -> Option<DigName> {
    let parts: Vec<&str> = key.strip_prefix(DIGS)?.split('/').collect();
    let [project, composite_app, version, dig, ""] = *parts.as_slice() else {
        return None;
    };
    DigName::new(project, composite_app, version, dig).ok()
}

/// Builds the key of the registration of a cluster.
pub(crate) fn registration(name: &ClusterName) -> String {
    format!("{REGISTRATIONS}{name}/")
}

/// Parses the key of the registration of a cluster; none for any other key.
pub(crate) fn registration_of(key: &str) -> Option<ClusterName> {
    let name = key.strip_prefix(REGISTRATIONS)?.strip_suffix('/')?;
    name.parse().ok()
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
