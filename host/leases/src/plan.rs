//! The leases that a host asks for and ends.

use std::collections::{BTreeMap, BTreeSet};

use kindsight_model::ClusterName;
use kindsight_store::Revision;

use crate::assignment::assign;
use crate::values::{Digest, Identity};
use crate::{HostId, Table, Weight};

/// The most leases that a host asks for in one batch.
pub const TAKE_MAX: usize = 50;
/// The most leases that a host gives up in one batch. Its successor lists these clusters before the
/// next ones move.
pub const GIVE_UP_MAX: usize = 50;

/// Everything that a host bases its plan on.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The process of the host.
    pub me: &'a Identity,
    /// The live hosts and the owners.
    pub table: &'a Table,
    /// The clusters in the configuration of the host.
    pub configured: &'a BTreeSet<ClusterName>,
    /// The clusters whose leases the host has.
    pub held: &'a BTreeSet<ClusterName>,
    /// The clusters that had no owner for a long time; see [`Vacancies`](crate::Vacancies).
    pub vacant: &'a BTreeSet<ClusterName>,
}

/// The next steps of a host. Each list is sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The clusters whose leases the host ends, at most [`GIVE_UP_MAX`].
    pub give_up: Vec<ClusterName>,
    /// The clusters whose leases the host asks for, at most [`TAKE_MAX`].
    pub take: Vec<ClusterName>,
    /// The keys of this process without a lease in the process, with their revisions: the store
    /// granted them and its answer was lost. The host removes them.
    pub stray: Vec<(ClusterName, Revision)>,
}

impl Plan {
    /// The next steps.
    ///
    /// A host takes a cluster without an owner if the cluster is assigned to the host, or was without an
    /// owner for long. A host gives a cluster up if its configuration no longer has the cluster. It also
    /// gives up the clusters of other hosts, but only if all live hosts compute the same assignment:
    /// while a changed configuration or another release reaches the hosts, no cluster moves.
    pub fn of(situation: Situation<'_>) -> Self {
        let Situation {
            me,
            table,
            configured,
            held,
            vacant,
        } = situation;
        let assigned = assign(&weights(table), configured);
        let is_mine = |cluster: &ClusterName| assigned.get(cluster) == Some(&me.host);
        let agrees = table.agrees(Digest::of(configured));
        let gives_up = |cluster: &&ClusterName| {
            !configured.contains(*cluster) || (agrees && !is_mine(cluster))
        };
        let takes = |cluster: &&ClusterName| {
            let is_free = table.owner(cluster).is_none() && !held.contains(*cluster);
            is_free && (is_mine(cluster) || vacant.contains(*cluster))
        };
        let stray = table.owners().iter().filter(|(cluster, owner)| {
            owner.process.as_ref() == Some(me) && !held.contains(*cluster)
        });
        Self {
            give_up: held
                .iter()
                .filter(gives_up)
                .take(GIVE_UP_MAX)
                .cloned()
                .collect(),
            take: configured
                .iter()
                .filter(takes)
                .take(TAKE_MAX)
                .cloned()
                .collect(),
            stray: stray
                .map(|(cluster, owner)| (cluster.clone(), owner.revision))
                .take(TAKE_MAX)
                .collect(),
        }
    }

    /// Returns whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.give_up.is_empty() && self.take.is_empty() && self.stray.is_empty()
    }
}

fn weights(table: &Table) -> BTreeMap<HostId, Weight> {
    let hosts = table.hosts().iter();
    hosts.map(|(id, host)| (id.clone(), host.weight)).collect()
}

#[cfg(test)]
mod tests;
