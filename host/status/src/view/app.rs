//! One app of a context in all its clusters.

use std::sync::Arc;

use super::{ClusterView, Report};
use crate::tally::Tally;

/// One app of a context, with the roll-up of its clusters. It is immutable: after a change in one cluster, the pipeline
/// builds one new view of the app, and roll-ups of the application add up the roll-ups of its apps.
#[derive(Debug)]
pub struct AppView {
    name: Arc<str>,
    clusters: Vec<Arc<ClusterView>>,
    phases: Tally<(), ()>,
    awaits_report: bool,
}

impl AppView {
    /// An app with its clusters, in the order of the answer. The cost grows with the number of clusters, and not with the
    /// number of their resources.
    pub fn new(name: Arc<str>, clusters: Vec<Arc<ClusterView>>) -> Arc<Self> {
        let mut phases = Tally::default();
        for view in &clusters {
            phases.merge(&view.phases());
        }
        let mut reports = clusters.iter().map(|view| view.report());
        Arc::new(Self {
            awaits_report: reports.any(|report| *report == Report::NotYet),
            name,
            clusters,
            phases,
        })
    }

    /// The app with these clusters: `before` itself if it has the same ones, so that readers see at once that the app did
    /// not change.
    pub fn renewed(
        before: Option<&Arc<Self>>,
        name: &Arc<str>,
        clusters: Vec<Arc<ClusterView>>,
    ) -> Arc<Self> {
        let is_same = |before: &&Arc<Self>| {
            let mut pairs = before.clusters.iter().zip(&clusters);
            before.name == *name
                && before.clusters.len() == clusters.len()
                && pairs.all(|(before, after)| Arc::ptr_eq(before, after))
        };
        match before.filter(is_same) {
            Some(before) => Arc::clone(before),
            None => Self::new(Arc::clone(name), clusters),
        }
    }

    /// Its name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Its clusters, in the order of the answer.
    pub fn clusters(&self) -> &[Arc<ClusterView>] {
        &self.clusters
    }

    /// Returns whether a cluster has not reported on it yet.
    pub fn awaits_report(&self) -> bool {
        self.awaits_report
    }

    /// The phases of all its resources.
    pub(crate) fn phases(&self) -> &Tally<(), ()> {
        &self.phases
    }

    /// Returns whether the roll-ups of both are equal.
    pub(crate) fn rolls_up_like(&self, other: &Self) -> bool {
        self.phases.rolls_up_like(&other.phases)
    }
}
