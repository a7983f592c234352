//! Clusters under several names: contexts of kubeconfigs that lead to the same one.
//!
//! A cluster is told from others by the uid of its namespace `kube-system`. Of the contexts that were taken
//! because a kubeconfig has them, the first by name watches; the others wait, and say so. A cluster that the
//! configuration names is watched under that name in any case.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use kindsight_model::ClusterName;
use serde::Deserialize;
use tokio::sync::watch;

use super::connection::{ApiClient, ApiError};

/// The names of each cluster, shared by all sources of a host.
#[derive(Debug, Clone, Default)]
pub struct Identities {
    by_uid: Arc<Mutex<BTreeMap<Arc<str>, BTreeSet<Rank>>>>,
    changed: Arc<watch::Sender<()>>,
}

/// A name of a cluster; the first one watches.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// True if a kubeconfig has it, and nobody asked for it by name.
    pub(super) is_found: bool,
    pub(super) name: ClusterName,
    /// Its name in the kubeconfig, for people.
    pub(super) origin: Arc<str>,
}

/// One name of a cluster, for as long as it is held.
#[derive(Debug)]
pub(super) struct Identity {
    all: Identities,
    uid: Arc<str>,
    rank: Rank,
}

impl Identities {
    /// Enters a name of the cluster with this uid.
    pub(super) fn enter(&self, uid: Arc<str>, rank: Rank) -> Identity {
        self.change(&uid, |names| names.insert(rank.clone()));
        Identity {
            all: self.clone(),
            uid,
            rank,
        }
    }

    fn change(&self, uid: &Arc<str>, change: impl FnOnce(&mut BTreeSet<Rank>) -> bool) {
        let mut by_uid = self.by_uid.lock().unwrap_or_else(PoisonError::into_inner);
        let names = by_uid.entry(Arc::clone(uid)).or_default();
        let is_changed = change(names);
        if names.is_empty() {
            by_uid.remove(uid);
        }
        drop(by_uid);
        if is_changed {
            self.changed.send_replace(());
        }
    }
}

impl Identity {
    /// The uid of the cluster.
    pub(super) fn uid(&self) -> &Arc<str> {
        &self.uid
    }

    /// The name under which the cluster is watched instead of this one; none if it is this one.
    pub(super) fn watched_as(&self) -> Option<ClusterName> {
        if !self.rank.is_found {
            return None;
        }
        let by_uid = self.all.by_uid.lock();
        let by_uid = by_uid.unwrap_or_else(PoisonError::into_inner);
        let first = by_uid.get(&self.uid)?.first()?;
        (*first != self.rank).then(|| first.name.clone())
    }

    /// The other contexts that lead to the cluster and are not watched, as their kubeconfigs name them.
    pub(super) fn others(&self) -> Vec<Arc<str>> {
        let by_uid = self.all.by_uid.lock();
        let by_uid = by_uid.unwrap_or_else(PoisonError::into_inner);
        let names = by_uid.get(&self.uid).into_iter().flatten();
        let others = names.filter(|it| it.is_found && **it != self.rank);
        others.map(|it| Arc::clone(&it.origin)).collect()
    }

    /// Notified when any name comes or goes.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.all.changed.subscribe()
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        self.all.change(&self.uid, |names| names.remove(&self.rank));
    }
}

/// The uid of a cluster; none where its namespace `kube-system` may not be read or is not there.
pub(super) async fn uid_of(client: &ApiClient) -> Result<Option<Arc<str>>, ApiError> {
    #[derive(Deserialize)]
    struct Namespace {
        metadata: Metadata,
    }
    #[derive(Deserialize)]
    struct Metadata {
        uid: Arc<str>,
    }
    let path = "/api/v1/namespaces/kube-system";
    match client.get(path, "application/json").await {
        Ok(bytes) => {
            let read = serde_json::from_slice::<Namespace>(&bytes).ok();
            let uid = read.map(|it| it.metadata.uid);
            Ok(uid.filter(|it| !it.is_empty()))
        }
        Err(ApiError::Forbidden(_) | ApiError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(is_found: bool, name: &str) -> Rank {
        Rank {
            is_found,
            name: ClusterName::new("kubeconfig", name).unwrap(),
            origin: name.into(),
        }
    }

    #[test]
    fn of_several_contexts_of_one_cluster_the_first_by_name_watches() {
        let all = Identities::default();
        let late = all.enter("uid-1".into(), rank(true, "b"));
        let other = all.enter("uid-2".into(), rank(true, "c"));
        assert_eq!(late.watched_as(), None);
        let mut changes = late.changes();
        changes.mark_unchanged();
        let first = all.enter("uid-1".into(), rank(true, "a"));
        assert!(changes.has_changed().unwrap());
        assert_eq!(late.watched_as(), Some(rank(true, "a").name));
        assert_eq!(
            (first.watched_as(), first.others()),
            (None, vec!["b".into()])
        );
        assert_eq!((other.watched_as(), other.others()), (None, Vec::new()));
        drop(first);
        assert_eq!(late.watched_as(), None);
        drop((late, other));
        assert!(all.by_uid.lock().unwrap().is_empty());
    }

    #[test]
    fn a_cluster_that_the_configuration_names_is_watched_in_any_case() {
        let all = Identities::default();
        let found = all.enter("uid-1".into(), rank(true, "a"));
        let named = ["m", "n"].map(|it| all.enter("uid-1".into(), rank(false, it)));
        assert_eq!(found.watched_as(), Some(rank(false, "m").name));
        for named in named {
            assert_eq!(
                (named.watched_as(), named.others()),
                (None, vec!["a".into()])
            );
        }
    }
}
