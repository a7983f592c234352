//! Keys of our own: records, parts of reports, and marks of creations; and what a key is about.

use kindsight_model::{ClusterName, ContextId, DigName, RecordSubject};

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
/// The prefix of the intents of deployment intent groups and clusters.
const INTENTS: &str = "/kindsight/intents/";
/// The prefix of the clusters that operators registered.
pub(crate) const REGISTRATIONS: &str = "/kindsight/registrations/";
/// The prefix of the records of clusters.
pub(crate) const CLUSTERS: &str = "/kindsight/clusters/";
/// The prefix of the records of logical clouds. No record of a logical cloud is created yet.
const LOGICAL_CLOUDS: &str = "/kindsight/logical-clouds/";

/// The prefix of the contents of revisions of deployment intent groups and clusters.
const REVISIONS: &str = "/kindsight/revisions/";
/// The prefix of the state of the work on resources, by status context.
const DEPLOYED: &str = "/kindsight/deployed/";
/// The prefix of the work that is asked for on contexts.
pub(crate) const ASKED: &str = "/kindsight/asked/";

/// The context or record that a key is a part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
    Context(ContextId),
    Record(RecordSubject),
}

/// Finds the context or record that a key is a part of; none for a key that is not read.
pub(crate) fn subject(key: &str) -> Option<Subject> {
    let context = context_of(key).map(Subject::Context);
    context.or_else(|| record_of(key).map(Subject::Record))
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

/// Builds the key of the record of a subject.
pub(crate) fn record(subject: &RecordSubject) -> String {
    let prefix = match subject {
        RecordSubject::Group(_) => DIGS,
        RecordSubject::Cluster(_) => CLUSTERS,
        RecordSubject::LogicalCloud(_) => LOGICAL_CLOUDS,
    };
    format!("{prefix}{}/", subject.name())
}

/// Parses the key of a record; none for any other key.
pub(crate) fn record_of(key: &str) -> Option<RecordSubject> {
    let group = dig_of(key).map(RecordSubject::Group);
    group.or_else(|| cluster_of(key).map(RecordSubject::Cluster))
}

/// Builds the key of the intent of a subject. Only the name of a cluster contains `+`, so no name of a group is the name
/// of a cluster or begins with one.
pub(crate) fn intent(subject: &RecordSubject) -> String {
    format!("{INTENTS}{}/", subject.name())
}

/// Builds the prefix of the contents of the revisions of a subject.
pub(crate) fn revisions(subject: &RecordSubject) -> String {
    format!("{REVISIONS}{}/", subject.name())
}

/// Builds the key of the content of a revision of a subject.
pub(crate) fn revision(subject: &RecordSubject, revision: i64) -> String {
    format!("{}{revision}/", revisions(subject))
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
fn dig_of(key: &str) -> Option<DigName> {
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

/// Parses the key of the record of a cluster; none for any other key.
fn cluster_of(key: &str) -> Option<ClusterName> {
    let name = key.strip_prefix(CLUSTERS)?.strip_suffix('/')?;
    name.parse().ok()
}
