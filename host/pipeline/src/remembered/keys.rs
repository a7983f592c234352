//! Keys of the last-known state.

use kindsight_model::ClusterName;
use kindsight_status::ApplicationKey;

/// Prefix of every key.
pub(super) const PREFIX: &str = "/kindsight/remembered/";

/// Key of the mark of the version.
pub(super) const VERSION: &str = "/kindsight/remembered/version/";

/// Prefix of the keys of all applications.
pub(super) const APPLICATIONS: &str = "/kindsight/remembered/applications/";

/// Prefix of the keys of all clusters.
pub(super) const CLUSTERS: &str = "/kindsight/remembered/clusters/";

/// Prefix of the keys of all inventories.
pub(super) const INVENTORIES: &str = "/kindsight/remembered/inventories/";

/// Kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Cluster,
    Placement,
    History,
    Transition,
    Statuses,
    Inventory,
}

/// The kind of the value under a key. `None` for an unknown key.
pub(super) fn kind_of(key: &str) -> Option<Kind> {
    if key.starts_with(CLUSTERS) {
        return Some(Kind::Cluster);
    }
    if key.starts_with(INVENTORIES) {
        return Some(Kind::Inventory);
    }
    let key = key.strip_prefix(APPLICATIONS)?;
    // The name of a found application has four parts; an app, at the end, may have any.
    let parts: Vec<&str> = key.splitn(7, '/').collect();
    let what = match parts.as_slice() {
        ["context", _, what, ..] | ["found", _, _, _, _, what, ..] => *what,
        _ => return None,
    };
    match what {
        "history" => Some(Kind::History),
        "placements" => Some(Kind::Placement),
        "transitions" => Some(Kind::Transition),
        "unconfirmed" => Some(Kind::Statuses),
        _ => None,
    }
}

/// Prefix of the keys of one application.
pub(super) fn application(of: &ApplicationKey) -> String {
    match of {
        ApplicationKey::Context(id) => format!("{APPLICATIONS}context/{id}/"),
        ApplicationKey::Found(name) => format!("{APPLICATIONS}found/{name}/"),
    }
}

/// Key of an app in a cluster. `application` is the prefix of the application's keys, also below.
pub(super) fn placement(application: &str, cluster: &ClusterName, app: &str) -> String {
    format!("{application}placements/{cluster}/{app}")
}

/// Key of the summary of a history.
pub(super) fn history(application: &str) -> String {
    format!("{application}history/")
}

/// Key of a transition.
pub(super) fn transition(application: &str, id: u64) -> String {
    format!("{application}transitions/{id:020}/")
}

/// The prefix of the application's keys, and the id, of a key made by [`transition`]; `None` for any other key.
pub(super) fn transition_of(key: &str) -> Option<(&str, u64)> {
    let (application, id) = key.strip_suffix('/')?.rsplit_once("transitions/")?;
    let is_number = id.len() == 20 && id.bytes().all(|byte| byte.is_ascii_digit());
    let id = is_number.then(|| id.parse().ok())??;
    // An app may have such a name.
    (kind_of(key) == Some(Kind::Transition)).then_some((application, id))
}

/// Key of the statuses that were reported without a spec.
pub(super) fn statuses(application: &str) -> String {
    format!("{application}unconfirmed/")
}

/// Key of the state of a cluster.
pub(super) fn cluster(name: &ClusterName) -> String {
    format!("{CLUSTERS}{name}/")
}

/// Prefix of the keys of the inventories of one cluster.
pub(super) fn inventories(cluster: &ClusterName) -> String {
    format!("{INVENTORIES}{cluster}/")
}

/// Key of an inventory of a cluster. `object` is the object with the inventory, as text.
pub(super) fn inventory(cluster: &ClusterName, object: &str) -> String {
    format!("{}{object}/", inventories(cluster))
}
