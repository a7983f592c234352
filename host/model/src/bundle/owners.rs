//! Owners of Pods in the reports of a cluster whose definition of ResourceBundleState is the original one.

use std::collections::HashSet;
use std::sync::Arc;

use crate::{Object, Owner};

/// Kinds whose controllers name Pods: the name of the owner, a hyphen, and a text without a hyphen.
const OWNER_KINDS: [&str; 5] = [
    "DaemonSet",
    "Job",
    "ReplicaSet",
    "ReplicationController",
    "StatefulSet",
];

/// The fault of a report without uids.
const PRUNED: &str = "the definition of ResourceBundleState in the cluster removes uids and owners, so Pods are matched with their owners by name; apply kindsight's definition to keep them";

/// Gives each Pod without an owner the owner that its name shows, if the cluster removed uids and owners from the items
/// of a report. Returns the fault of such a report. Called for each report of kindsight's monitor, which writes the uid
/// of each object.
pub(super) fn by_name(objects: &mut [Object]) -> Option<Arc<str>> {
    if objects.iter().all(|object| !object.uid.is_empty()) {
        return None;
    }
    let owners: HashSet<(Arc<str>, Arc<str>, &str)> = objects
        .iter()
        .filter_map(|object| {
            let mut kinds = OWNER_KINDS.iter();
            let kind = kinds.find(|kind| **kind == &*object.gvk.kind)?;
            Some((
                Arc::clone(&object.namespace),
                Arc::clone(&object.name),
                *kind,
            ))
        })
        .collect();
    let pods = objects.iter_mut().filter(|object| {
        &*object.gvk.kind == "Pod" && object.uid.is_empty() && object.owners.is_empty()
    });
    for pod in pods {
        let Some((name, _)) = pod.name.rsplit_once('-') else {
            continue;
        };
        let name = Arc::<str>::from(name);
        let owner = OWNER_KINDS
            .iter()
            .find(|kind| owners.contains(&(Arc::clone(&pod.namespace), Arc::clone(&name), **kind)));
        if let Some(kind) = owner {
            let owner = Owner {
                kind: (*kind).into(),
                name,
                uid: Arc::default(),
            };
            pod.owners = [owner].into();
        }
    }
    Some(PRUNED.into())
}
