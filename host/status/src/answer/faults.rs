//! Faults in answers: the faults of one app in a cluster, and the faults of everything that a query selects.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::selection::Selection;
use crate::view::{ClusterView, ContextView};

/// Maximum number of faults on one level of an answer; the first ones are kept.
pub const FAULTS_SHOWN_MAX: usize = 20;

/// The faults of one app in a cluster: first its own faults, then the faults of the cluster.
pub(super) fn faults_at(view: &ClusterView) -> Cow<'_, [Arc<str>]> {
    match (view.faults(), view.cluster_faults()) {
        (faults, []) | ([], faults) => first(faults),
        (own, of_cluster) => {
            let of_cluster = of_cluster.iter().filter(|fault| !own.contains(fault));
            let faults = own.iter().chain(of_cluster);
            faults.take(FAULTS_SHOWN_MAX).cloned().collect()
        }
    }
}

/// The faults of everything that a query selects, each with its place: faults of the context, of each app in
/// a cluster, and of each cluster once.
pub(super) fn faults_of<'a>(
    context: &'a ContextView,
    selection: &Selection<'_>,
) -> Cow<'a, [Arc<str>]> {
    let views = || {
        let placements = context.placements();
        placements.filter(|(app, view)| selection.selects(app, view.cluster()))
    };
    let has_faults =
        |view: &ClusterView| !(view.faults().is_empty() && view.cluster_faults().is_empty());
    if !views().any(|(_, view)| has_faults(view)) {
        return first(&context.faults);
    }
    let own = views().flat_map(|(app, view)| {
        let faults = view.faults().iter();
        faults.map(move |fault| format!("{app} in {}: {fault}", view.cluster()).into())
    });
    let mut told = BTreeSet::new();
    let clusters = views().filter(|(_, view)| told.insert(view.cluster()));
    let of_clusters = clusters.flat_map(|(_, view)| {
        let faults = view.cluster_faults().iter();
        faults.map(|fault| format!("{}: {fault}", view.cluster()).into())
    });
    let faults = context.faults.iter().cloned().chain(of_clusters).chain(own);
    faults.take(FAULTS_SHOWN_MAX).collect()
}

/// The first [`FAULTS_SHOWN_MAX`] faults.
fn first(faults: &[Arc<str>]) -> Cow<'_, [Arc<str>]> {
    Cow::Borrowed(faults.get(..FAULTS_SHOWN_MAX).unwrap_or(faults))
}
