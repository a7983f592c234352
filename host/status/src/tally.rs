//! Tally: all counts of one level of an answer, in one fold.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use kindsight_model::ClusterName;

use crate::resource_view::{ResourceView, Staleness};
use crate::rollup::Rollup;

/// Counts of the resources on one level. `S` is the text of a state, `P` the place of a resource.
///
/// A commutative monoid, like [`Rollup`].
#[derive(Debug, Clone)]
pub(crate) struct Tally<S, P> {
    /// Number of resources that were sent, by rsync status.
    pub(crate) rsync: BTreeMap<&'static str, u32>,
    /// Number of all resources, by state.
    pub(crate) states: BTreeMap<S, u32>,
    /// The staleness of the first of its reports that is stale.
    pub(crate) stale: Option<Staleness>,
    /// Roll-up of the resources that were sent.
    expected: Rollup<P>,
    /// Roll-up of the resources that only the cluster has and no other one of them owns.
    extra: Rollup<P>,
    /// Roll-up of the children.
    children: Rollup<P>,
}

impl<S, P> Default for Tally<S, P> {
    fn default() -> Self {
        Self {
            rsync: BTreeMap::new(),
            states: BTreeMap::new(),
            stale: None,
            expected: Rollup::default(),
            extra: Rollup::default(),
            children: Rollup::default(),
        }
    }
}

impl<S: Ord, P: Ord + Clone> Tally<S, P> {
    pub(crate) fn add(&mut self, resource: &ResourceView, state: S, place: P) {
        if let Some(rsync) = resource.rsync {
            count(&mut self.rsync, rsync.as_str(), 1);
        }
        count(&mut self.states, state, 1);
        let rollup = match resource.owner {
            _ if resource.expected => &mut self.expected,
            None => &mut self.extra,
            Some(_) => &mut self.children,
        };
        rollup.add(resource.verdict.phase, place);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (status, more) in other.rsync {
            count(&mut self.rsync, status, more);
        }
        for (state, more) in other.states {
            count(&mut self.states, state, more);
        }
        if other.stale.is_some() {
            self.stale = self.stale.take().into_iter().chain(other.stale).min();
        }
        self.expected.merge(other.expected);
        self.extra.merge(other.extra);
        self.children.merge(other.children);
    }

    /// The roll-up of the level.
    ///
    /// Resources that only the cluster has are ignored if any that were sent are selected, and children if
    /// anything else is: a Job answers for its Pods, and one old failed Pod does not fail an app. Where
    /// nothing else is selected, they speak for themselves.
    pub(crate) fn rollup(&self) -> &Rollup<P> {
        let levels = [&self.expected, &self.extra];
        let mut counting = levels.into_iter().filter(|it| !it.is_empty());
        counting.next().unwrap_or(&self.children)
    }

    /// Only the counts of `type=rsync`.
    pub(crate) fn sent<T, Q>(&self) -> Tally<T, Q> {
        Tally {
            rsync: self.rsync.clone(),
            ..Tally::default()
        }
    }

    /// Only the counts of `type=cluster`, with other states and places. `place` must preserve the order
    /// of places.
    pub(crate) fn reported<'a, T: Ord, Q: Ord + Clone>(
        &'a self,
        state: impl Fn(&'a S) -> T,
        place: impl Fn(&P) -> Q,
    ) -> Tally<T, Q> {
        Tally {
            rsync: BTreeMap::new(),
            states: self
                .states
                .iter()
                .map(|(text, n)| (state(text), *n))
                .collect(),
            stale: None,
            expected: self.expected.map(&place),
            extra: self.extra.map(&place),
            children: self.children.map(&place),
        }
    }
}

fn count<K: Ord>(counts: &mut BTreeMap<K, u32>, key: K, more: u32) {
    let count = counts.entry(key).or_default();
    *count = count.saturating_add(more);
}

/// The place of a resource. Ordered by app, cluster and the resource's own identity, so that the choice
/// among several bad resources does not depend on the order of a report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) app: &'a str,
    pub(crate) cluster: &'a ClusterName,
    /// The resources of the app in the cluster.
    pub(crate) resources: &'a [ResourceView],
    /// Position among the resources of the cluster.
    pub(crate) position: usize,
}

impl<'a> Place<'a> {
    pub(crate) fn resource(&self) -> Option<&'a ResourceView> {
        self.resources.get(self.position)
    }

    fn key(&self) -> impl Ord {
        let resource = self.resource().map(ResourceView::key);
        (self.app, self.cluster, resource, self.position)
    }
}

impl PartialEq for Place<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Place<'_> {}

impl PartialOrd for Place<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Place<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}
