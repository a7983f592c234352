//! Picks what a query asks for out of a context, and counts it on every level.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_model::redact_secret;

use crate::query::{Output, QueryType, StatusQuery};
use crate::response::{
    App, Cluster, Condition, Detail, FAULTS_SHOWN_MAX, Moment, Readiness, Reason, Resource,
};
use crate::rollup::Wanted;
use crate::tally::{Place, Tally};
use crate::view::{AppView, ClusterView, ResourceView};

/// What is counted on a level of an answer.
pub(super) type Count<'a> = Tally<&'a str, Place<'a>>;

/// Which part of a context is shown, and how.
pub(super) struct Selection<'q> {
    pub(super) query: &'q StatusQuery,
    pub(super) wanted: Wanted,
}

impl Selection<'_> {
    /// None if nothing of it is selected.
    pub(super) fn app<'a>(&self, view: &'a AppView) -> Option<(App<'a>, Count<'a>)> {
        let apps = &self.query.apps;
        if !apps.is_empty() && !apps.contains(&*view.name) {
            return None;
        }
        let mut count = Count::default();
        let mut clusters = Vec::with_capacity(view.clusters.len());
        for cluster in &view.clusters {
            if let Some((cluster, of_cluster)) = self.cluster(&view.name, cluster) {
                count.merge(of_cluster);
                clusters.push(cluster);
            }
        }
        let app = App {
            name: &view.name,
            readiness: self.readiness(&count),
            clusters,
        };
        (!app.clusters.is_empty()).then_some((app, count))
    }

    /// None if nothing of it is selected.
    fn cluster<'a>(&self, app: &'a str, view: &'a ClusterView) -> Option<(Cluster<'a>, Count<'a>)> {
        let clusters = &self.query.clusters;
        if !clusters.is_empty() && !clusters.contains(view.cluster()) {
            return None;
        }
        let (count, resources) = if self.query.resources.is_empty() {
            (view.tally(app), self.resources(view.resources().iter()))
        } else {
            self.named_resources(app, view)
        };
        let is_selected = match self.query.kind {
            QueryType::Rsync => !count.rsync.is_empty(),
            QueryType::Cluster => !count.states.is_empty(),
        };
        let cluster = Cluster {
            cluster_provider: &view.cluster().provider,
            cluster: &view.cluster().name,
            readiness: self.readiness(&count),
            faults: first(view.faults()),
            resources,
        };
        is_selected.then_some((cluster, count))
    }

    fn named_resources<'a>(
        &self,
        app: &'a str,
        view: &'a ClusterView,
    ) -> (Count<'a>, Vec<Resource<'a>>) {
        let names = self.query.resources.iter();
        let positions: BTreeSet<usize> = names
            .flat_map(|name| view.positions(name))
            .copied()
            .collect();
        let mut count = Count::new(view.report());
        let mut selected = Vec::with_capacity(positions.len());
        for position in positions {
            if let Some(resource) = view.resources().get(position) {
                let place = Place::new(app, view, position);
                count.add(resource, &resource.verdict.state, place);
                selected.push(resource);
            }
        }
        (count, self.resources(selected.into_iter()))
    }

    fn resources<'a>(&self, selected: impl Iterator<Item = &'a ResourceView>) -> Vec<Resource<'a>> {
        match (self.query.output, self.query.kind) {
            (Output::Summary, _) => Vec::new(),
            (_, QueryType::Rsync) => selected.filter_map(|one| self.sent(one)).collect(),
            (_, QueryType::Cluster) => selected.map(|one| self.there(one)).collect(),
        }
    }

    /// A resource as it was sent; none for one that only the cluster has.
    fn sent<'a>(&self, view: &'a ResourceView) -> Option<Resource<'a>> {
        let is_detail = self.query.output == Output::Detail;
        let manifest = view.manifest.as_ref().filter(|_| is_detail);
        Some(Resource {
            gvk: &view.gvk,
            name: &view.name,
            detail: manifest.map(|manifest| Detail(redact_secret(manifest))),
            rsync_status: Some(view.rsync?.as_str()),
            cluster_status: None,
            condition: None,
        })
    }

    /// A resource as it is in the cluster.
    fn there<'a>(&self, view: &'a ResourceView) -> Resource<'a> {
        let is_detail = self.query.output == Output::Detail;
        let object = view.object.as_ref().filter(|_| is_detail);
        Resource {
            gvk: &view.gvk,
            name: &view.name,
            detail: object.map(|object| Detail(redact_secret(object))),
            rsync_status: None,
            cluster_status: Some(&view.verdict.state),
            condition: Some(Condition {
                namespace: &view.namespace,
                phase: view.verdict.phase,
                reason: &view.verdict.reason,
                message: &view.verdict.message,
                since: view.since_ms.and_then(Moment::from_ms),
                expected: view.expected,
                interpreter: view.verdict.by.as_deref().filter(|_| self.query.explain),
            }),
        }
    }

    /// How a level fares; only the clusters' word says that.
    pub(super) fn readiness<'a>(&self, count: &Count<'a>) -> Option<Readiness<'a>> {
        if self.query.kind == QueryType::Rsync {
            return None;
        }
        let rollup = count.rollup();
        let fare = rollup.fare(self.wanted);
        Some(Readiness {
            ready_status: fare.state,
            ready_phase: fare.phase,
            ready_reason: Reason::of(&fare, rollup.counts()),
            ready_counts: rollup.counts().clone(),
            stale_since: count.stale_since_ms.and_then(Moment::from_ms),
        })
    }
}

/// The faults that are shown.
pub(super) fn first(faults: &[Arc<str>]) -> &[Arc<str>] {
    faults.get(..FAULTS_SHOWN_MAX).unwrap_or(faults)
}
