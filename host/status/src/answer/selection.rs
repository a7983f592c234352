//! Selects the resources of a query, and counts them per cluster, app and context.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use kindsight_api::status::{self as api, Output, QueryType, Readiness};
use kindsight_model::ClusterName;

use super::faults::{FAULTS_SHOWN_MAX, faults_at};
use super::reason::reason;
use super::resources::Resources;
use crate::moment::moment;
use crate::query::StatusQuery;
use crate::resource_view::Staleness;
use crate::rollup::Desired;
use crate::tally::{ResourcePlace, Tally};
use crate::view::{AppView, ClusterView, ContextView};

type App<'a> = api::App<'a, Resources<'a>>;
type Cluster<'a> = api::Cluster<'a, Resources<'a>>;

/// Counts on one level of an answer.
pub(crate) type Count<'a> = Tally<&'a str, ResourcePlace<'a>>;

/// The filters of a query, and the desired presence for the roll-up.
pub(crate) struct Selection<'q> {
    pub(crate) query: &'q StatusQuery,
    /// The type of status in the answer.
    pub(crate) kind: QueryType,
    pub(crate) desired: Desired,
}

impl<'q> Selection<'q> {
    /// The filters of a query on a context.
    pub(crate) fn of(query: &'q StatusQuery, kind: QueryType, context: &ContextView) -> Self {
        Self {
            query,
            kind,
            desired: context.desired(),
        }
    }

    /// The apps of the answer, and the counts of all selected resources. A summary has no apps.
    pub(crate) fn apps<'a>(&self, context: &'a ContextView) -> (Vec<App<'a>>, Count<'a>) {
        if self.query.output == Output::Summary {
            return (Vec::new(), self.count(context));
        }
        let mut count = Count::default();
        let mut apps = Vec::new();
        for app in &context.apps {
            if let Some((app, of_app)) = self.app(app) {
                count.merge(&of_app);
                apps.push(app);
            }
        }
        (apps, count)
    }

    /// The counts of all selected resources.
    fn count<'a>(&self, context: &'a ContextView) -> Count<'a> {
        let mut count = Count::default();
        let selected = context
            .apps
            .iter()
            .filter(|app| self.selects_app(app.name()));
        for app in selected {
            for view in app.clusters() {
                if let Some((of_cluster, _)) = self.selected(app.name(), view) {
                    count.merge(&of_cluster);
                }
            }
        }
        count
    }

    /// Returns whether the query selects this app.
    pub(crate) fn selects_app(&self, app: &str) -> bool {
        let apps = &self.query.apps;
        apps.is_empty() || apps.contains(app)
    }

    /// Returns whether the query selects this cluster.
    pub(crate) fn selects_cluster(&self, cluster: &ClusterName) -> bool {
        let clusters = &self.query.clusters;
        clusters.is_empty() || clusters.contains(cluster)
    }

    /// Returns whether the query selects this app in this cluster.
    pub(crate) fn selects(&self, app: &str, cluster: &ClusterName) -> bool {
        self.selects_app(app) && self.selects_cluster(cluster)
    }

    /// One app of the answer and its counts; `None` if the query selects no resource of it.
    fn app<'a>(&self, view: &'a AppView) -> Option<(App<'a>, Count<'a>)> {
        if !self.selects_app(view.name()) {
            return None;
        }
        let mut count = Count::default();
        let mut clusters = Vec::with_capacity(view.clusters().len());
        for cluster in view.clusters() {
            if let Some((cluster, of_cluster)) = self.cluster(view.name(), cluster) {
                count.merge(&of_cluster);
                clusters.push(cluster);
            }
        }
        let app = api::App {
            name: (&**view.name()).into(),
            readiness: self.readiness(&count),
            clusters,
        };
        (!app.clusters.is_empty()).then_some((app, count))
    }

    /// One cluster of the answer and its counts; `None` if the query selects no resource of it.
    fn cluster<'a>(&self, app: &'a str, view: &'a ClusterView) -> Option<(Cluster<'a>, Count<'a>)> {
        let (count, resources) = self.selected(app, view)?;
        let cluster = api::Cluster {
            cluster_provider: (&*view.cluster().provider).into(),
            cluster: (&*view.cluster().name).into(),
            readiness: self.readiness(&count),
            faults: faults_at(view),
            resources,
        };
        Some((cluster, count))
    }

    /// The selected resources of an app in a cluster, with their counts; `None` if the query selects none.
    fn selected<'a>(
        &self,
        app: &'a str,
        view: &'a ClusterView,
    ) -> Option<(Count<'a>, Resources<'a>)> {
        if !self.selects_cluster(view.cluster()) {
            return None;
        }
        let (count, resources) = if self.query.resources.is_empty() {
            let resources = Resources::all(view, self.query, self.kind);
            (view.tally(app, self.kind), resources)
        } else {
            self.named_resources(app, view)
        };
        let count = match self.kind {
            QueryType::Rsync => count,
            QueryType::Cluster | QueryType::All => with_freshness(count, app, view),
        };
        let is_selected = match self.kind {
            QueryType::Rsync => !count.rsync.is_empty(),
            QueryType::Cluster | QueryType::All => !count.states.is_empty(),
        };
        is_selected.then_some((count, resources))
    }

    fn named_resources<'a>(
        &self,
        app: &'a str,
        view: &'a ClusterView,
    ) -> (Count<'a>, Resources<'a>) {
        let names = self.query.resources.iter();
        let positions: BTreeSet<usize> = names
            .flat_map(|name| view.positions(name))
            .copied()
            .collect();
        let mut count = Count::default();
        for &position in &positions {
            if let Some(resource) = view.resources().get(position) {
                let place = view.place(app, position);
                count.add(resource, &resource.verdict.state, place);
            }
        }
        (count, Resources::at(view, positions, self.query, self.kind))
    }

    /// The roll-up of one level; empty with `type=rsync`.
    pub(super) fn readiness<'a>(&self, count: &Count<'a>) -> Readiness<'a> {
        if self.kind == QueryType::Rsync {
            return Readiness::default();
        }
        let rollup = count.rollup();
        let result = rollup.result(self.desired);
        Readiness {
            ready_status: Some(result.state.into()),
            ready_phase: Some(result.phase),
            ready_reason: reason(&result, rollup.counts()).map(Cow::Owned),
            ready_counts: rollup.counts().by_phase(),
            stale_since: count
                .stale
                .as_ref()
                .and_then(|stale| moment(stale.since_ms)),
            stale_reason: count
                .stale
                .as_ref()
                .map(|stale| stale.reason.to_string().into()),
            unanswered: count
                .unanswered
                .iter()
                .take(FAULTS_SHOWN_MAX)
                .cloned()
                .collect(),
        }
    }
}

/// The counts with the staleness of the report and the Kinds that the cluster has not answered for.
pub(super) fn with_freshness<'a>(mut count: Count<'a>, app: &str, view: &ClusterView) -> Count<'a> {
    count.stale = staleness(app, view);
    count.unanswered = view.unanswered().iter().cloned().collect();
    count
}

/// The staleness of a cluster's report on an app; the reason names app and cluster.
pub(crate) fn staleness(app: &str, view: &ClusterView) -> Option<Staleness> {
    view.report().stale().map(|stale| Staleness {
        since_ms: stale.since_ms,
        reason: format!("{app} in {}: {}", view.cluster(), stale.reason).into(),
    })
}

/// Counts with keys of the wire type.
pub(crate) fn named(counts: BTreeMap<&str, u32>) -> BTreeMap<Cow<'_, str>, u32> {
    let counts = counts.into_iter();
    counts.map(|(name, count)| (name.into(), count)).collect()
}
