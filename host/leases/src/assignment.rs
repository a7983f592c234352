//! The assignment of clusters to hosts: rendezvous hashing with bounded load.
//!
//! Each pair of a host and a cluster has a score, a hash of both names. Without a bound, the host with
//! the highest score owns the cluster (Thaler and Ravishankar 1998). So if a host joins or leaves, only
//! its own clusters move. Each host has a limit of its load (Mirrokni, Thorup and Zadimoghaddam 2018):
//! the pairs are visited in the order of their scores, and a pair counts while its host has room.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use kindsight_model::ClusterName;

use crate::{HostId, Weight};

/// Maximum number of clusters of a host, in percent of its fair share, rounded up.
pub const LOAD_MAX_PERCENT: u64 = 125;

/// Gives each cluster its owner. Empty without hosts. The result depends only on the arguments, and is
/// the same on every machine: it uses integers and a fixed hash.
///
/// No host gets more clusters than [`LOAD_MAX_PERCENT`] of the share of its weight. The cost is the
/// number of hosts times the number of clusters.
pub fn assign(
    hosts: &BTreeMap<HostId, Weight>,
    clusters: &BTreeSet<ClusterName>,
) -> BTreeMap<ClusterName, HostId> {
    let mut room: BTreeMap<&HostId, u64> = capacities(hosts, clusters.len()).collect();
    let mut pairs = Vec::with_capacity(hosts.len().saturating_mul(clusters.len()));
    for cluster in clusters {
        let name = hash(&cluster.to_string(), 0);
        for (host, weight) in hosts {
            pairs.push((Reverse(score(host, *weight, name)), cluster, host));
        }
    }
    pairs.sort_unstable();
    let mut owners = BTreeMap::new();
    for (_, cluster, host) in pairs {
        let Some(room) = room.get_mut(host).filter(|room| **room > 0) else {
            continue;
        };
        if !owners.contains_key(cluster) {
            *room -= 1;
            owners.insert(cluster.clone(), host.clone());
        }
    }
    owners
}

/// The most clusters of each host. Their sum is at least the number of clusters.
fn capacities(
    hosts: &BTreeMap<HostId, Weight>,
    clusters: usize,
) -> impl Iterator<Item = (&HostId, u64)> {
    let clusters = u64::try_from(clusters).unwrap_or(u64::MAX);
    let total: u64 = hosts
        .values()
        .map(|weight| u64::from(weight.number()))
        .sum();
    hosts.iter().map(move |(host, weight)| {
        let share = clusters.saturating_mul(u64::from(weight.number()));
        let room = share.saturating_mul(LOAD_MAX_PERCENT);
        (host, room.div_ceil(total.saturating_mul(100).max(1)))
    })
}

/// The score of a host for a cluster: the best of as many draws as the weight of the host. So the
/// probability of the best score is proportional to the weight.
fn score(host: &HostId, weight: Weight, cluster: u64) -> u64 {
    let draws =
        (0..u64::from(weight.number())).map(|draw| hash(host.as_str(), cluster ^ mix(draw)));
    draws.max().unwrap_or(0)
}

/// FNV-1a over the bytes, mixed at the end. The constants are part of the assignment: hosts of two
/// releases must compute the same owners.
pub(crate) fn hash(text: &str, seed: u64) -> u64 {
    let bytes = text.bytes();
    let folded = bytes.fold(0xcbf2_9ce4_8422_2325 ^ seed, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    mix(folded)
}

/// The finalizer of `SplitMix64` (Steele, Lea and Flood 2014): each bit depends on all bits.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests;
