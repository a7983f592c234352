//! Views: the current state of each `AppContext` and each application that was found, prepared for queries.
//!
//! Built by the pipeline on every change, never by a query. Everything large is behind an [`Arc`]: a
//! change in one cluster builds one new [`ClusterView`] and shares all others.

use std::sync::Arc;

use kindsight_api::status::QueryType;
use kindsight_model::{ClusterName, Connectivity, ContextId, ContextStatus, DigName};

use crate::KNOWN_SHOWN_MAX;
use crate::resource_view::{Report, ResourceView, Staleness};
use crate::rollup::Desired;
use crate::tally::{Place, Tally};

/// The current state of one `AppContext`, or of an application that was found in the clusters.
#[derive(Debug, Clone, Default)]
pub struct ContextView {
    /// Its id; none for an application that was found.
    pub id: Option<ContextId>,
    /// The group that was instantiated, from the context's metadata, or the application that was found; none
    /// for the contexts of clusters and of logical clouds.
    pub meta: Option<DigName>,
    /// The context that its statuses and reports are kept in: itself, or that of the first instance of its group;
    /// none for an application that was found.
    pub status_context: Option<ContextId>,
    /// The contexts that were instantiated for this one, as it names them.
    pub children: Vec<ContextId>,
    /// Its stored status; none if none is stored yet.
    pub status: Option<ContextStatus>,
    /// Its apps, in the order of the answer.
    pub apps: Vec<AppView>,
    /// Parts of it that could not be read, as text for people; part of every answer about it.
    pub faults: Vec<Arc<str>>,
}

impl ContextView {
    /// The desired presence of its resources.
    pub(crate) fn desired(&self) -> Desired {
        Desired::from_status(self.status.as_ref())
    }

    /// All clusters of all apps, in order.
    pub(crate) fn clusters(&self) -> impl Iterator<Item = &ClusterView> {
        self.apps
            .iter()
            .flat_map(|app| &app.clusters)
            .map(Arc::as_ref)
    }
}

/// One app of a context.
#[derive(Debug, Clone)]
pub struct AppView {
    /// Its name.
    pub name: Arc<str>,
    /// Its clusters, in the order of the answer.
    pub clusters: Vec<Arc<ClusterView>>,
}

/// One app in one cluster. Built by [`crate::project`].
#[derive(Debug, Clone)]
pub struct ClusterView {
    cluster: ClusterName,
    report: Report,
    faults: Vec<Arc<str>>,
    /// Faults of the cluster as a whole, shared by all its views.
    cluster_faults: Arc<[Arc<str>]>,
    connectivity: Connectivity,
    /// Shared with views that differ only in staleness or faults.
    rows: Arc<Rows>,
}

/// The resources of an app in a cluster, with an index and precomputed counts for queries.
#[derive(Debug)]
struct Rows {
    resources: Vec<ResourceView>,
    /// Positions of resources in the order of their names, so that a query by name does not scan all.
    by_name: Box<[usize]>,
    /// Number of different names.
    name_count: usize,
    /// Counts of all resources, so that a summary does not scan any.
    tally: Tally<Arc<str>, usize>,
    /// Marks of the objects that the resources had before the start, at their positions; empty for a view that
    /// is made of a report.
    object_marks: Vec<Option<Arc<str>>>,
}

impl ClusterView {
    pub(crate) fn new(
        cluster: ClusterName,
        report: Report,
        resources: Vec<ResourceView>,
        faults: Vec<Arc<str>>,
    ) -> Self {
        let name = |position: &usize| resources.get(*position).map(|it| &*it.name);
        let mut by_name: Box<[usize]> = (0..resources.len()).collect();
        // Stable: those of one name stay in their order.
        by_name.sort_by(|left, right| name(left).cmp(&name(right)));
        let names = by_name.chunk_by(|left, right| name(left) == name(right));
        let rows = Rows {
            name_count: names.count(),
            resources,
            by_name,
            tally: Tally::default(),
            object_marks: Vec::new(),
        };
        let mut view = Self {
            cluster,
            report,
            faults,
            cluster_faults: Arc::default(),
            connectivity: Connectivity::Unknown,
            rows: Arc::new(rows),
        };
        let tally = view.count();
        if let Some(rows) = Arc::get_mut(&mut view.rows) {
            rows.tally = tally;
        }
        view
    }

    /// What was last known before the start, without objects, with the mark of the object that each had; see
    /// [`object_mark`](crate::object_mark).
    pub fn remembered(
        cluster: ClusterName,
        resources: Vec<(ResourceView, Option<Arc<str>>)>,
        stale: Staleness,
    ) -> Self {
        let report = Report::Received { stale: Some(stale) };
        let (resources, marks) = resources.into_iter().unzip();
        let mut view = Self::new(cluster, report, resources, Vec::new());
        if let Some(rows) = Arc::get_mut(&mut view.rows) {
            rows.object_marks = marks;
        }
        view
    }

    /// The mark of the object that a resource had before the start; none where that is not known.
    pub fn object_mark(&self, position: usize) -> Option<&Arc<str>> {
        self.rows.object_marks.get(position)?.as_ref()
    }

    /// The same resources with another report state and other faults. O(1) in the number of resources.
    #[must_use]
    pub fn with_report(&self, report: Report, faults: Vec<Arc<str>>) -> Self {
        Self {
            cluster: self.cluster.clone(),
            report,
            faults,
            cluster_faults: Arc::clone(&self.cluster_faults),
            connectivity: self.connectivity,
            rows: Arc::clone(&self.rows),
        }
    }

    /// The same view with these faults of the cluster as a whole, such as reports about nobody knows what.
    #[must_use]
    pub fn with_cluster_faults(self, cluster_faults: Arc<[Arc<str>]>) -> Self {
        Self {
            cluster_faults,
            ..self
        }
    }

    /// The same view of a cluster that is reached, or not.
    #[must_use]
    pub fn with_connectivity(self, connectivity: Connectivity) -> Self {
        Self {
            connectivity,
            ..self
        }
    }

    fn count(&self) -> Tally<Arc<str>, usize> {
        let mut tally = Tally::default();
        for (position, resource) in self.resources().iter().enumerate() {
            let state = Arc::clone(&resource.verdict.state);
            tally.add(resource, state, self.place("", position));
        }
        let mut counts = tally.reported(Arc::clone, |place| place.position);
        counts.rsync = tally.rsync;
        counts
    }

    /// The cluster.
    pub fn cluster(&self) -> &ClusterName {
        &self.cluster
    }

    /// The outcome of the last attempt to reach the cluster: `Available` where it reports itself, also while that
    /// report is stale; else as its orchestrator stored it, and `Unknown` where it stored none.
    pub fn connectivity(&self) -> Connectivity {
        self.connectivity
    }

    /// State of its report: none yet, or received and possibly stale.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Its resources: those that were sent in the order of the context, then those that only the cluster
    /// has in the order of its report.
    pub fn resources(&self) -> &[ResourceView] {
        &self.rows.resources
    }

    /// Returns whether both have the very same resources: they were made of one report.
    pub fn shares_resources_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.rows, &other.rows)
    }

    /// Returns whether both have as many resources in each phase that roll up alike.
    pub(crate) fn rolls_up_like(&self, other: &Self) -> bool {
        self.rows.tally.rolls_up_like(&other.rows.tally)
    }

    /// Parts of its report and of the sent resources that could not be read, as text for people.
    pub fn faults(&self) -> &[Arc<str>] {
        &self.faults
    }

    /// Faults of the cluster as a whole, as text for people: any of its apps may be concerned.
    pub fn cluster_faults(&self) -> &[Arc<str>] {
        &self.cluster_faults
    }

    /// The number of different names of its resources.
    pub(crate) fn name_count(&self) -> usize {
        self.rows.name_count
    }

    /// The different names of its resources, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        let names = self.rows.by_name.iter().filter_map(|it| self.name(*it));
        let mut before = None;
        names.filter(move |name| before.replace(*name) != Some(name))
    }

    /// The first of the names of its resources in order, at most [`KNOWN_SHOWN_MAX`].
    pub(crate) fn first_names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.names().take(KNOWN_SHOWN_MAX)
    }

    /// Returns whether it has a resource of this name, of any Kind.
    pub(crate) fn has(&self, name: &str) -> bool {
        !self.positions(name).is_empty()
    }

    /// Positions of the resources of this name, ascending.
    pub(crate) fn positions(&self, name: &str) -> &[usize] {
        let all = &*self.rows.by_name;
        let is_before = |position: &usize| self.name(*position).is_some_and(|it| **it < *name);
        let (_, from) = all.split_at(all.partition_point(is_before));
        let is_it = |position: &usize| self.name(*position).is_some_and(|it| **it == *name);
        let (found, _) = from.split_at(from.partition_point(is_it));
        found
    }

    fn name(&self, position: usize) -> Option<&Arc<str>> {
        self.resources().get(position).map(|it| &it.name)
    }

    /// The place of one of its resources in `app`.
    pub(crate) fn place<'a>(&'a self, app: &'a str, position: usize) -> Place<'a> {
        Place {
            app,
            cluster: &self.cluster,
            resources: self.resources(),
            position,
        }
    }

    /// Counts of all its resources that an answer of this type has, with places in `app`.
    pub(crate) fn tally<'a>(&'a self, app: &'a str, kind: QueryType) -> Tally<&'a str, Place<'a>> {
        match kind {
            QueryType::Rsync => self.rows.tally.only_sent(),
            QueryType::Cluster => {
                let place = |position: &usize| self.place(app, *position);
                self.rows.tally.reported(AsRef::as_ref, place)
            }
        }
    }
}
