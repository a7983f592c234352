//! Clusters with several contexts of kubeconfigs.
//!
//! The uid of the namespace `kube-system` identifies a cluster. Of the contexts that were found in a kubeconfig, one
//! gives the cluster its name, and the others wait:
//!
//! - The name does not change while the context is configured and the cluster was listed. Until the first list, a
//!   context with known applications has precedence, and then the first by name.
//! - The access may be the access of any context: first the context that may list most Kinds, and another one if it
//!   fails.
//!
//! A cluster that the configuration file names is always watched under that name, and with its own access.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kindsight_model::ClusterName;
use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::Instant;

use super::Access;
use super::connection::{ApiClient, ApiError};

/// Time for which a session does not end for the access of another context after that access failed.
const FAILED_FOR: Duration = Duration::from_mins(10);

/// The contexts of each cluster, shared by all sources of a host.
#[derive(Debug, Clone, Default)]
pub struct Identities {
    by_uid: Arc<Mutex<BTreeMap<Arc<str>, Contexts>>>,
    /// The names with applications from before the start.
    known: Arc<BTreeSet<ClusterName>>,
    changed: Arc<watch::Sender<()>>,
}

/// The contexts of one cluster.
#[derive(Debug, Default)]
struct Contexts {
    by_rank: BTreeMap<Rank, Reach>,
    /// The context that gives the cluster its name.
    holder: Option<Rank>,
    /// True once the cluster was listed under this name.
    is_settled: bool,
}

/// A context of a cluster. The first one gives the cluster its name, unless the name is settled.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// True if the context was found in a kubeconfig, and the configuration does not name it.
    is_found: bool,
    /// True if no application of the name is known from before the start.
    is_new: bool,
    name: ClusterName,
    /// The name of the context, as text for readers.
    origin: Arc<str>,
}

/// The way to a cluster by one of its contexts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reach {
    pub(super) access: Access,
    /// Number of Kinds that the credentials do not allow to list, if that is known.
    refused: usize,
    /// True if the access changed, and no server has accepted it since.
    is_new: bool,
    /// The time at which a session with this access failed; none if the last session was accepted.
    failed_at: Option<Instant>,
}

/// One context of a cluster, entered until this value is dropped.
#[derive(Debug)]
pub(super) struct Identity {
    all: Identities,
    uid: Arc<str>,
    rank: Rank,
}

impl Reach {
    /// The way of a session that was accepted.
    pub(super) fn new(access: Access, refused: usize) -> Self {
        Self {
            access,
            refused,
            is_new: false,
            failed_at: None,
        }
    }

    /// Returns whether a session with this access failed lately.
    fn has_failed(&self) -> bool {
        self.failed_at.is_some_and(|at| at.elapsed() < FAILED_FOR)
    }
}

impl Contexts {
    /// Chooses the context that gives the cluster its name.
    fn choose(&mut self) {
        let held = self.holder.as_ref();
        let held = held.filter(|rank| self.by_rank.contains_key(*rank));
        let Some(first) = self.by_rank.keys().next() else {
            self.holder = None;
            return;
        };
        let is_kept = held.is_some_and(|held| held <= first || self.is_settled && first.is_found);
        if !is_kept {
            self.holder = Some(first.clone());
            self.is_settled = false;
        }
    }
}

impl Identities {
    /// Contexts of clusters. The clusters with these names have known applications.
    #[must_use]
    pub fn with_known(names: impl IntoIterator<Item = ClusterName>) -> Self {
        Self {
            known: Arc::new(names.into_iter().collect()),
            ..Self::default()
        }
    }

    /// Enters a context of the cluster with this uid.
    pub(super) fn enter(
        &self,
        uid: Arc<str>,
        (is_found, name, origin): (bool, ClusterName, Arc<str>),
        reach: Reach,
    ) -> Identity {
        let is_new = !self.known.contains(&name);
        let rank = Rank {
            is_found,
            is_new,
            name,
            origin,
        };
        self.change(&uid, |contexts| {
            contexts.by_rank.insert(rank.clone(), reach);
        });
        Identity {
            all: self.clone(),
            uid,
            rank,
        }
    }

    /// Returns whether a context leads to the cluster with this uid.
    pub(super) fn has(&self, uid: &str) -> bool {
        self.by_uid().contains_key(uid)
    }

    fn by_uid(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Contexts>> {
        self.by_uid.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, uid: &Arc<str>, change: impl FnOnce(&mut Contexts)) {
        let mut by_uid = self.by_uid();
        let contexts = by_uid.entry(Arc::clone(uid)).or_default();
        change(contexts);
        contexts.choose();
        if contexts.by_rank.is_empty() {
            by_uid.remove(uid);
        }
        drop(by_uid);
        self.changed.send_replace(());
    }
}

impl Identity {
    /// The uid of the cluster.
    pub(super) fn uid(&self) -> &Arc<str> {
        &self.uid
    }

    /// The name under which the cluster is watched instead of this one; none if it is this one.
    pub(super) fn watched_as(&self) -> Option<ClusterName> {
        let by_uid = self.all.by_uid();
        let holder = by_uid.get(&self.uid)?.holder.as_ref();
        let holder = holder.filter(|holder| self.rank.is_found && **holder != self.rank);
        holder.map(|holder| holder.name.clone())
    }

    /// Notes that the cluster was listed under this name.
    pub(super) fn settle(&self) {
        let mut by_uid = self.all.by_uid();
        if let Some(contexts) = by_uid.get_mut(&self.uid)
            && contexts.holder.as_ref() == Some(&self.rank)
        {
            contexts.is_settled = true;
        }
    }

    /// The ways to the cluster for a session under this name, best first. The context that may list most Kinds is
    /// first; among equal contexts, the own context is first. A changed access of the own context precedes all others,
    /// because it may lead to another cluster now.
    pub(super) fn reaches(&self) -> Vec<Reach> {
        let by_uid = self.all.by_uid();
        let contexts = by_uid.get(&self.uid);
        let contexts = contexts.into_iter().flat_map(|it| &it.by_rank);
        let usable =
            contexts.filter(|(rank, _)| **rank == self.rank || self.rank.is_found && rank.is_found);
        let mut usable: Vec<(bool, &Reach)> = usable
            .map(|(rank, reach)| (*rank != self.rank, reach))
            .collect();
        usable.sort_by_key(|(is_other, reach)| {
            let is_changed = reach.is_new && !is_other;
            (!is_changed, reach.refused, *is_other)
        });
        usable.into_iter().map(|(_, reach)| reach.clone()).collect()
    }

    /// Replaces the access of the own context.
    pub(super) fn replace_access(&self, access: Access) {
        let mut by_uid = self.all.by_uid();
        let contexts = by_uid.get_mut(&self.uid);
        let own = contexts.and_then(|contexts| contexts.by_rank.get_mut(&self.rank));
        if let Some(own) = own {
            *own = Reach {
                is_new: true,
                ..Reach::new(access, own.refused)
            };
        }
    }

    /// Notes that a session with an access failed.
    pub(super) fn fail(&self, access: &Access) {
        let now = Instant::now();
        self.change_reaches(access, |reach| reach.failed_at = Some(now));
    }

    /// Notes how many Kinds the credentials of an access, which the server accepted, do not allow to list. Returns whether
    /// another access allows more and has not failed lately.
    pub(super) fn is_narrow(&self, access: &Access, refused: usize) -> bool {
        self.change_reaches(access, |reach| {
            reach.refused = refused;
            reach.is_new = false;
            reach.failed_at = None;
        });
        let mut reaches = self.reaches().into_iter();
        reaches.any(|reach| reach.refused < refused && !reach.has_failed())
    }

    /// Changes the ways of all contexts with an access.
    fn change_reaches(&self, access: &Access, change: impl Fn(&mut Reach)) {
        let mut by_uid = self.all.by_uid();
        let contexts = by_uid.get_mut(&self.uid).into_iter();
        let reaches = contexts.flat_map(|contexts| contexts.by_rank.values_mut());
        for reach in reaches.filter(|reach| reach.access == *access) {
            change(reach);
        }
    }

    /// The other contexts that lead to the cluster and are not watched, as their kubeconfigs name them.
    pub(super) fn others(&self) -> Vec<Arc<str>> {
        let by_uid = self.all.by_uid();
        let contexts = by_uid.get(&self.uid);
        let ranks = contexts
            .into_iter()
            .flat_map(|context| context.by_rank.keys());
        let others = ranks.filter(|rank| rank.is_found && **rank != self.rank);
        others.map(|rank| Arc::clone(&rank.origin)).collect()
    }

    /// Notified when a context is added or removed.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.all.changed.subscribe()
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        self.all.change(&self.uid, |contexts| {
            contexts.by_rank.remove(&self.rank);
        });
    }
}

/// The uid of a cluster; none if its namespace `kube-system` may not be read or does not exist.
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
            let uid = read.map(|namespace_object| namespace_object.metadata.uid);
            Ok(uid.filter(|uid| !uid.is_empty()))
        }
        Err(ApiError::Forbidden(_) | ApiError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubernetes::kubeconfig::KubeconfigFile;

    fn enter(all: &Identities, uid: &str, is_found: bool, name: &str, refused: usize) -> Identity {
        let cluster = cluster_name(name);
        let access = Access::Kubeconfig {
            file: KubeconfigFile::new("config"),
            context: Some(name.to_owned()),
            content: None,
        };
        let reach = Reach::new(access, refused);
        all.enter(uid.into(), (is_found, cluster, name.into()), reach)
    }

    fn cluster_name(name: &str) -> ClusterName {
        ClusterName::new("kubeconfig", name).unwrap()
    }

    fn contexts(identity: &Identity) -> Vec<String> {
        let reaches = identity.reaches().into_iter();
        let contexts = reaches.map(|reach| match reach.access {
            Access::Kubeconfig { context, .. } => context.unwrap(),
            Access::InCluster | Access::Registered { .. } => {
                unreachable!("every access is a kubeconfig")
            }
        });
        contexts.collect()
    }

    #[test]
    fn the_first_of_several_new_contexts_by_name_gives_a_cluster_its_name() {
        let all = Identities::default();
        let late = enter(&all, "uid-1", true, "b", 9);
        let other = enter(&all, "uid-2", true, "c", 9);
        assert_eq!(late.watched_as(), None);
        let mut changes = late.changes();
        changes.mark_unchanged();
        let first = enter(&all, "uid-1", true, "a", 9);
        assert!(changes.has_changed().unwrap());
        assert_eq!(late.watched_as(), Some(cluster_name("a")));
        assert_eq!(
            (first.watched_as(), first.others()),
            (None, vec!["b".into()])
        );
        assert_eq!((other.watched_as(), other.others()), (None, Vec::new()));
        drop(first);
        assert_eq!(late.watched_as(), None);
        drop((late, other));
        assert!(all.by_uid().is_empty());
    }

    #[test]
    fn a_context_whose_name_sorts_first_does_not_rename_a_listed_cluster() {
        let all = Identities::default();
        let held = enter(&all, "uid-1", true, "b", 9);
        held.settle();
        let first = enter(&all, "uid-1", true, "a", 9);
        assert_eq!(held.watched_as(), None);
        assert_eq!(first.watched_as(), Some(cluster_name("b")));
        // The name does not change after a restart either.
        let all = Identities::with_known([cluster_name("b")]);
        let first = enter(&all, "uid-1", true, "a", 9);
        assert_eq!(first.watched_as(), None);
        let held = enter(&all, "uid-1", true, "b", 9);
        assert_eq!(held.watched_as(), None);
        assert_eq!(first.watched_as(), Some(cluster_name("b")));
    }

    #[test]
    fn a_cluster_is_reached_by_the_context_that_may_list_most_kinds() {
        let all = Identities::default();
        let held = enter(&all, "uid-1", true, "b", 9);
        let wider = enter(&all, "uid-1", true, "c", 2);
        let equal = enter(&all, "uid-1", true, "d", 9);
        let named = enter(&all, "uid-1", false, "named", 3);
        assert_eq!(contexts(&held), ["c", "b", "d"]);
        let [best, own, ..] = &held.reaches()[..] else {
            panic!("three contexts");
        };
        assert!(held.is_narrow(&own.access, 9));
        assert!(!held.is_narrow(&best.access, 2));
        drop((wider, equal));
        assert_eq!(contexts(&held), ["b"]);
        assert_eq!(contexts(&named), ["named"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_does_not_end_for_an_access_that_failed_lately() {
        let all = Identities::default();
        let held = enter(&all, "uid-1", true, "b", 9);
        let _wider = enter(&all, "uid-1", true, "c", 2);
        let [wider, own] = &held.reaches()[..] else {
            panic!("two contexts");
        };
        held.fail(&wider.access);
        assert!(!held.is_narrow(&own.access, 9));
        assert_eq!(contexts(&held), ["c", "b"], "another failure may need it");
        tokio::time::advance(FAILED_FOR).await;
        assert!(held.is_narrow(&own.access, 9));
        held.fail(&wider.access);
        assert!(!held.is_narrow(&wider.access, 2), "it was accepted");
        assert!(held.is_narrow(&own.access, 9));
    }

    #[test]
    fn a_changed_access_of_the_own_context_is_used_first() {
        let all = Identities::default();
        let held = enter(&all, "uid-1", true, "b", 9);
        let wider = enter(&all, "uid-1", true, "c", 2);
        assert_eq!(contexts(&held), ["c", "b"]);
        let changed = Access::Kubeconfig {
            file: KubeconfigFile::new("other"),
            context: Some("new".to_owned()),
            content: None,
        };
        held.replace_access(changed.clone());
        assert_eq!(contexts(&held), ["new", "c"]);
        assert_eq!(contexts(&wider), ["c", "new"]);
        assert!(held.is_narrow(&changed, 9), "it was accepted");
        assert_eq!(contexts(&held), ["c", "new"]);
    }

    #[test]
    fn a_cluster_that_the_configuration_names_is_watched_in_any_case() {
        let all = Identities::default();
        let found = enter(&all, "uid-1", true, "a", 9);
        found.settle();
        let named = ["m", "n"].map(|name| enter(&all, "uid-1", false, name, 9));
        assert_eq!(found.watched_as(), Some(cluster_name("m")));
        for named in named {
            assert_eq!(
                (named.watched_as(), named.others()),
                (None, vec!["a".into()])
            );
        }
    }
}
