//! Tally: all counts of one level of an answer, in one fold.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_api::emco::ReadyStatus;
use kindsight_model::ClusterName;

use crate::emco::ready_status;
use crate::phase_counts::PhaseCounts;
use crate::resource_view::{ResourceView, Role, Staleness};
use crate::rollup::Rollup;
use crate::table::RowPlace;

/// Counts of the resources on one level. `S` is the text of a state, `P` the place of a resource.
///
/// A commutative monoid, like [`Rollup`].
#[derive(Debug, Clone)]
pub(crate) struct Tally<S, P> {
    /// Number of resources that were sent, by rsync status.
    pub(crate) rsync: BTreeMap<&'static str, u32>,
    /// Number of all resources, by state.
    pub(crate) states: BTreeMap<S, u32>,
    /// Number of all resources, by `readyStatus` in EMCO's newer dialect.
    pub(crate) ready: BTreeMap<ReadyStatus, u32>,
    /// The earliest staleness of its reports.
    pub(crate) stale: Option<Staleness>,
    /// Kinds that the clusters have not answered for, as text for readers.
    pub(crate) unanswered: BTreeSet<Arc<str>>,
    /// Resources that were sent.
    sent: Ranked<P>,
    /// Resources that were not sent and that no other resource owns.
    unsent: Ranked<P>,
    /// Resources that no longer exist.
    gone: Ranked<P>,
    hooks: Ranked<P>,
    children: Ranked<P>,
}

/// Roll-up of the resources of one rank. The first rank with resources decides.
#[derive(Debug, Clone)]
pub(crate) struct Ranked<P> {
    pub(crate) rollup: Rollup<P>,
    /// The latest start of a resource's state, in Unix milliseconds.
    pub(crate) since_ms: Option<i64>,
}

impl<P> Default for Ranked<P> {
    fn default() -> Self {
        Self {
            rollup: Rollup::default(),
            since_ms: None,
        }
    }
}

impl<P: Ord + Clone> Ranked<P> {
    fn add(&mut self, resource: &ResourceView, place: P) {
        self.rollup.add(resource.verdict.phase, place);
        self.since_ms = self.since_ms.max(resource.since_ms);
    }

    fn merge<Q>(&mut self, other: &Ranked<Q>, place: impl Fn(&Q) -> P) {
        self.rollup.merge(&other.rollup, place);
        self.since_ms = self.since_ms.max(other.since_ms);
    }

    fn map<Q>(self, place: impl Fn(P) -> Q) -> Ranked<Q> {
        Ranked {
            rollup: self.rollup.map(place),
            since_ms: self.since_ms,
        }
    }
}

impl<S, P> Default for Tally<S, P> {
    fn default() -> Self {
        Self {
            rsync: BTreeMap::new(),
            states: BTreeMap::new(),
            ready: BTreeMap::new(),
            stale: None,
            unanswered: BTreeSet::new(),
            sent: Ranked::default(),
            unsent: Ranked::default(),
            gone: Ranked::default(),
            hooks: Ranked::default(),
            children: Ranked::default(),
        }
    }
}

impl<S: Ord, P: Ord + Clone> Tally<S, P> {
    pub(crate) fn add(&mut self, resource: &ResourceView, state: S, place: P) {
        if let Some(rsync) = resource.rsync {
            count(&mut self.rsync, rsync.as_str(), 1);
        }
        count(&mut self.states, state, 1);
        count(&mut self.ready, ready_status(resource), 1);
        let rank = match (resource.role, resource.owner) {
            (Role::Sent, _) => &mut self.sent,
            (Role::Unsent, None) | (Role::Missing, _) => &mut self.unsent,
            (Role::Unsent, Some(_)) => &mut self.children,
            (Role::Gone, _) => &mut self.gone,
            (Role::Hook | Role::SentHook, _) => &mut self.hooks,
        };
        rank.add(resource, place);
    }

    /// Adds the counts of other resources.
    pub(crate) fn merge(&mut self, other: &Self)
    where
        S: Clone,
    {
        self.merge_mapped(other, S::clone, P::clone);
    }

    /// Adds the counts of other resources, with other states and places. `place` must name the same resources.
    pub(crate) fn merge_mapped<'o, T, Q>(
        &mut self,
        other: &'o Tally<T, Q>,
        state: impl Fn(&'o T) -> S,
        place: impl Fn(&Q) -> P,
    ) {
        for (status, more) in &other.rsync {
            count(&mut self.rsync, *status, *more);
        }
        for (text, more) in &other.states {
            count(&mut self.states, state(text), *more);
        }
        for (status, more) in &other.ready {
            count(&mut self.ready, *status, *more);
        }
        if other.stale.is_some() {
            let stale = self.stale.take().into_iter();
            self.stale = stale.chain(other.stale.clone()).min();
        }
        self.unanswered.extend(other.unanswered.iter().cloned());
        self.sent.merge(&other.sent, &place);
        self.unsent.merge(&other.unsent, &place);
        self.gone.merge(&other.gone, &place);
        self.hooks.merge(&other.hooks, &place);
        self.children.merge(&other.children, &place);
    }

    fn ranks(&self) -> [&Ranked<P>; 5] {
        [
            &self.sent,
            &self.unsent,
            &self.gone,
            &self.hooks,
            &self.children,
        ]
    }

    /// Returns whether both have the same number of resources of each rank in each phase, so that their
    /// roll-ups are equal.
    pub(crate) fn rolls_up_like(&self, other: &Self) -> bool {
        let mut pairs = self.ranks().into_iter().zip(other.ranks());
        pairs.all(|(one, other)| one.rollup.counts() == other.rollup.counts())
    }

    /// The resources that decide the roll-up of this level: the first of the following ranks with resources.
    ///
    /// 1. Resources that were sent.
    /// 2. Resources that were not sent and have no owner.
    /// 3. Resources that no longer exist. They precede hooks, because a hook that succeeded must not make a
    ///    deleted app `Ready`.
    /// 4. Hooks.
    /// 5. Children. They are last, because a Job represents its Pods, and one old failed Pod must not fail an
    ///    app.
    pub(crate) fn deciding(&self) -> &Ranked<P> {
        let ranks = [&self.sent, &self.unsent, &self.gone, &self.hooks];
        let mut ranks = ranks.into_iter().filter(|rank| !rank.rollup.is_empty());
        ranks.next().unwrap_or(&self.children)
    }

    /// The roll-up of the level.
    pub(crate) fn rollup(&self) -> &Rollup<P> {
        &self.deciding().rollup
    }

    /// The number of resources of all ranks in each phase.
    pub(crate) fn phase_counts(&self) -> PhaseCounts {
        let mut counts = PhaseCounts::default();
        for rank in self.ranks() {
            counts.merge(rank.rollup.counts());
        }
        counts
    }

    /// Only the phases of the resources, without their places.
    pub(crate) fn phases(&self) -> Tally<(), ()> {
        let mut phases = Tally::default();
        phases.sent.merge(&self.sent, |_| ());
        phases.unsent.merge(&self.unsent, |_| ());
        phases.gone.merge(&self.gone, |_| ());
        phases.hooks.merge(&self.hooks, |_| ());
        phases.children.merge(&self.children, |_| ());
        phases
    }

    /// Only the counts of `type=rsync`.
    pub(crate) fn only_sent<T, Q>(&self) -> Tally<T, Q> {
        Tally {
            rsync: self.rsync.clone(),
            ..Tally::default()
        }
    }

    /// The same counts with other places. `place` must name the same resources.
    pub(crate) fn with_places<Q>(self, place: impl Fn(P) -> Q) -> Tally<S, Q> {
        Tally {
            rsync: self.rsync,
            states: self.states,
            ready: self.ready,
            stale: self.stale,
            unanswered: self.unanswered,
            sent: self.sent.map(&place),
            unsent: self.unsent.map(&place),
            gone: self.gone.map(&place),
            hooks: self.hooks.map(&place),
            children: self.children.map(&place),
        }
    }

    /// The counts of `type=all`: the same counts with other states and places. `place` must name the same
    /// resources.
    pub(crate) fn mapped<'a, T: Ord, Q: Ord + Clone>(
        &'a self,
        state: impl Fn(&'a S) -> T,
        place: impl Fn(&P) -> Q,
    ) -> Tally<T, Q> {
        let mut all = Tally::default();
        all.merge_mapped(self, state, place);
        all
    }

    /// Only the counts of `type=cluster`, with other states and places. `place` must name the same resources.
    pub(crate) fn reported<'a, T: Ord, Q: Ord + Clone>(
        &'a self,
        state: impl Fn(&'a S) -> T,
        place: impl Fn(&P) -> Q,
    ) -> Tally<T, Q> {
        Tally {
            rsync: BTreeMap::new(),
            ..self.mapped(state, place)
        }
    }
}

fn count<K: Ord>(counts: &mut BTreeMap<K, u32>, key: K, more: u32) {
    let count = counts.entry(key).or_default();
    *count = count.saturating_add(more);
}

/// The place of a resource. Ordered by app, cluster and the resource's own identity, so that the choice
/// among several bad resources does not depend on the order of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ResourcePlace<'a> {
    pub(crate) app: &'a str,
    pub(crate) cluster: &'a ClusterName,
    /// Its place in the table of the app in the cluster.
    pub(crate) row: RowPlace<'a>,
}

impl<'a> ResourcePlace<'a> {
    pub(crate) fn resource(&self) -> Option<&'a ResourceView> {
        self.row.resource()
    }
}
