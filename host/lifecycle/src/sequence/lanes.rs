//! Placements in parallel: one lane for each cluster.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::thread;

use kindsight_model::ClusterName;

use super::{Part, Placement};
use crate::Result;

/// Maximum number of clusters that a group is sent to at the same time. Each has a thread, which mostly waits.
const LANES_MAX: usize = 8;

/// The state of the work in one cluster.
#[derive(Default)]
pub(crate) struct Lane {
    /// The reason why the cluster is unreachable. Nothing further is tried.
    pub(crate) unreachable: Option<String>,
    /// True if every resource was vetted in this call.
    pub(crate) is_vetted: bool,
}

/// The placements of one cluster, in their order.
type Queue<'p> = Vec<&'p Placement>;

/// Calls `work` for each placement: in the order of the list for the placements in one cluster, and in parallel for
/// different clusters. A cluster that is slow does not delay the others.
pub(crate) fn in_lanes(
    placements: &[Placement],
    work: impl Fn(&Placement, &mut Lane) -> Result<Part> + Sync,
) -> Result<Part> {
    let mut by_cluster: BTreeMap<&ClusterName, Queue<'_>> = BTreeMap::new();
    for placement in placements {
        let cluster = &placement.target.cluster;
        by_cluster.entry(cluster).or_default().push(placement);
    }
    let threads = by_cluster.len().min(LANES_MAX);
    let queues: VecDeque<Queue<'_>> = by_cluster.into_values().collect();
    let queues = Mutex::new(queues);
    let next = || {
        queues
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    };
    let worker = || {
        let mut part = Part::Done;
        while let Some(queue) = next() {
            part = part.and(in_lane(&queue, &work)?);
            if part == Part::Superseded {
                break;
            }
        }
        Ok(part)
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let own = worker();
        let results = others.into_iter().map(|other| match other.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        let results: Vec<Result<Part>> = results.collect();
        let mut results = results.into_iter();
        results.try_fold(own?, |part, other| Ok(part.and(other?)))
    })
}

fn in_lane(
    queue: &[&Placement],
    work: impl Fn(&Placement, &mut Lane) -> Result<Part>,
) -> Result<Part> {
    let mut lane = Lane::default();
    let mut part = Part::Done;
    for placement in queue {
        part = part.and(work(placement, &mut lane)?);
        if part == Part::Superseded {
            break;
        }
    }
    Ok(part)
}
