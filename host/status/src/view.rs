//! Views: the current state of each `AppContext` and each found application, prepared for queries.
//!
//! The pipeline builds them after every change; queries never do. Large parts are behind an [`Arc`]: after a
//! change in one cluster, the pipeline builds one new [`ClusterView`] and one new [`AppView`], and shares all others.

mod app;
mod instance;

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_api::status::QueryType;
use kindsight_model::{
    ClusterName, Connectivity, ContextId, ContextStatus, Coverage, DigName, Object, Verdict,
};

use crate::KNOWN_SHOWN_MAX;
use crate::resource_view::{Report, ResourceView, Staleness};
use crate::rollup::Desired;
use crate::table::ResourceTable;
use crate::tally::{ResourcePlace, Tally};

pub use app::AppView;

/// The current state of one `AppContext` or one found application.
#[derive(Debug, Clone, Default)]
pub struct ContextView {
    /// Its id; `None` for a found application.
    pub id: Option<ContextId>,
    /// The name of the group from the context's metadata, or the name of the found application; `None` for
    /// the contexts of clusters and logical clouds.
    pub meta: Option<DigName>,
    /// The context that stores its statuses and reports: this context, or the context of the first instance
    /// of its group; `None` for a found application.
    pub status_context: Option<ContextId>,
    /// The contexts that were instantiated for this context, in its own words.
    pub children: Vec<ContextId>,
    /// Its stored status; `None` before the first status is stored.
    pub status: Option<ContextStatus>,
    /// Its apps, in the order of the answer. Consecutive views share the apps that did not change.
    pub apps: Vec<Arc<AppView>>,
    /// Its unreadable parts, as text for users. They are part of every answer about it.
    pub faults: Vec<Arc<str>>,
}

impl ContextView {
    /// The desired presence of its resources.
    pub(crate) fn desired(&self) -> Desired {
        Desired::from_status(self.status.as_ref())
    }

    /// All clusters of all apps in order, each with the name of its app.
    pub fn placements(&self) -> impl Iterator<Item = (&Arc<str>, &ClusterView)> {
        self.apps.iter().flat_map(|app| {
            let clusters = app.clusters().iter();
            clusters.map(move |view| (app.name(), &**view))
        })
    }

    /// The app of this name. `at` is its likely position.
    pub fn app(&self, name: &str, at: usize) -> Option<&Arc<AppView>> {
        let is_it = |app: &&Arc<AppView>| **app.name() == *name;
        let likely = self.apps.get(at).filter(is_it);
        likely.or_else(|| self.apps.iter().find(is_it))
    }

    /// All clusters of all apps, in order.
    pub fn clusters(&self) -> impl Iterator<Item = &ClusterView> {
        self.placements().map(|(_, view)| view)
    }
}

/// One app in one cluster. Built by [`crate::project`].
#[derive(Debug, Clone)]
pub struct ClusterView {
    cluster: ClusterName,
    report: Report,
    faults: Vec<Arc<str>>,
    /// Faults that may affect every app of the cluster, shared by all its views.
    cluster_faults: Arc<[Arc<str>]>,
    /// Kinds that the cluster has not answered for, shared by all its views.
    unanswered: Arc<[Arc<str>]>,
    coverage: Coverage,
    connectivity: Connectivity,
    /// The instance of ONAP's Kubernetes plugin whose label an object had before the start.
    last_instance: Option<Arc<str>>,
    /// Shared with views that differ only in staleness or faults.
    rows: Arc<Rows>,
}

/// The resources of an app in a cluster according to one report.
#[derive(Debug)]
struct Rows {
    resources: ResourceTable,
    /// For each object of the report, the position of its resource; empty for a view of last-known state.
    of_objects: Arc<[usize]>,
    /// For each resource, the mark of its object before the start; empty for a view of a report.
    object_marks: Vec<Option<Arc<str>>>,
}

impl ClusterView {
    pub(crate) fn new(
        cluster: ClusterName,
        report: Report,
        resources: Vec<ResourceView>,
        faults: Vec<Arc<str>>,
    ) -> Self {
        let rows = Rows {
            resources: resources.into_iter().collect(),
            of_objects: Arc::default(),
            object_marks: Vec::new(),
        };
        Self {
            cluster,
            report,
            faults,
            cluster_faults: Arc::default(),
            unanswered: Arc::default(),
            coverage: Coverage::default(),
            connectivity: Connectivity::Unknown,
            last_instance: None,
            rows: Arc::new(rows),
        }
    }

    /// The same view with the position of each object's resource.
    #[must_use]
    pub(crate) fn with_objects_at(mut self, positions: Arc<[usize]>) -> Self {
        if let Some(rows) = Arc::get_mut(&mut self.rows) {
            rows.of_objects = positions;
        }
        self
    }

    /// A view of the last-known state from before the start. It has no objects, but the
    /// [mark](crate::object_mark) of each.
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

    /// A view that another host projected, for a replica: the same resources, in the same order.
    pub fn replicated(
        cluster: ClusterName,
        report: Report,
        resources: Vec<ResourceView>,
        faults: Vec<Arc<str>>,
    ) -> Self {
        Self::new(cluster, report, resources, faults)
    }

    /// The same view with newer versions of some resources, by position. The cost does not grow with the number of
    /// resources. `None` if a position does not exist or has a resource with another identity; the caller then builds
    /// the complete view. For replicas.
    #[must_use]
    pub fn with_resources(&self, changed: BTreeMap<usize, ResourceView>) -> Option<Self> {
        let is_same = |(position, resource): (&usize, &ResourceView)| {
            let before = self.resources().get(*position);
            before.is_some_and(|before| before.key() == resource.key())
        };
        if !changed.iter().all(is_same) {
            return None;
        }
        let rows = Rows {
            resources: self.resources().with(changed),
            of_objects: Arc::default(),
            object_marks: Vec::new(),
        };
        Some(Self {
            rows: Arc::new(rows),
            ..self.clone()
        })
    }

    /// The mark of a resource's object before the start; `None` if it is unknown.
    pub fn object_mark(&self, position: usize) -> Option<&Arc<str>> {
        self.rows.object_marks.get(position)?.as_ref()
    }

    /// The same resources with another report state and other faults. The cost does not depend on the number
    /// of resources.
    #[must_use]
    pub fn with_report(&self, report: Report, faults: Vec<Arc<str>>) -> Self {
        Self {
            cluster: self.cluster.clone(),
            report,
            faults,
            cluster_faults: Arc::clone(&self.cluster_faults),
            unanswered: Arc::clone(&self.unanswered),
            coverage: self.coverage.clone(),
            connectivity: self.connectivity,
            last_instance: self.last_instance.clone(),
            rows: Arc::clone(&self.rows),
        }
    }

    /// The same view with other faults that may affect every app of the cluster, such as a report that names
    /// no app.
    #[must_use]
    pub fn with_cluster_faults(self, cluster_faults: Arc<[Arc<str>]>) -> Self {
        Self {
            cluster_faults,
            ..self
        }
    }

    /// The same view with other Kinds that the cluster has not answered for, as text for users.
    #[must_use]
    pub fn with_unanswered(self, unanswered: Arc<[Arc<str>]>) -> Self {
        Self { unanswered, ..self }
    }

    /// The same view with another coverage of its report.
    #[must_use]
    pub fn with_coverage(self, coverage: Coverage) -> Self {
        Self { coverage, ..self }
    }

    /// The same view with another connectivity.
    #[must_use]
    pub fn with_connectivity(self, connectivity: Connectivity) -> Self {
        Self {
            connectivity,
            ..self
        }
    }

    /// The same view with newer objects and their verdicts, by the position of the object in the report. The
    /// cost does not grow with the number of resources.
    ///
    /// `None` if an object is a different object, has other owners, or was not in the report. The caller then
    /// [projects](crate::project) the complete report.
    #[must_use]
    pub fn with_objects<'o>(
        &self,
        changed: impl IntoIterator<Item = (usize, &'o Object, &'o Verdict)>,
        now_ms: i64,
    ) -> Option<Self> {
        let mut rows = BTreeMap::new();
        for (at, object, verdict) in changed {
            let position = *self.rows.of_objects.get(at)?;
            let before = self.resources().get(position)?;
            rows.insert(position, before.with_object(object, verdict, now_ms)?);
        }
        let rows = Rows {
            resources: self.resources().with(rows),
            of_objects: Arc::clone(&self.rows.of_objects),
            object_marks: Vec::new(),
        };
        Some(Self {
            rows: Arc::new(rows),
            ..self.clone()
        })
    }

    /// The cluster.
    pub fn cluster(&self) -> &ClusterName {
        &self.cluster
    }

    /// The outcome of the last attempt to reach the cluster. `Available` if the cluster reports directly,
    /// even if the report is stale; else the outcome that the orchestrator stored, or `Unknown`.
    pub fn connectivity(&self) -> Connectivity {
        self.connectivity
    }

    /// State of its report: none yet, or received and possibly stale.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Its resources: first the resources that were sent, in the order of the context, then all others, in
    /// the order of the report.
    pub fn resources(&self) -> &ResourceTable {
        &self.rows.resources
    }

    /// Returns whether both share their resources, because they show the same report.
    pub fn shares_resources_with(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.resources().is_same(other.resources())
    }

    /// Unreadable parts of its report and of the sent resources, as text for users.
    pub fn faults(&self) -> &[Arc<str>] {
        &self.faults
    }

    /// Faults that may affect every app of the cluster, as text for users.
    pub fn cluster_faults(&self) -> &[Arc<str>] {
        &self.cluster_faults
    }

    /// Kinds that the cluster has not answered for, as text for users. Objects of these Kinds may exist.
    pub fn unanswered(&self) -> &[Arc<str>] {
        &self.unanswered
    }

    /// The coverage of its report. A Kind with an item that could not be read is not covered. In a replica, the
    /// coverage has only the states for which the report [may lack objects](Coverage::lacking).
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// The number of different names of its resources.
    pub(crate) fn name_count(&self) -> usize {
        self.resources().name_count()
    }

    /// The different names of its resources, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.resources().names()
    }

    /// The first names of its resources in order, at most [`KNOWN_SHOWN_MAX`].
    pub(crate) fn first_names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.names().take(KNOWN_SHOWN_MAX)
    }

    /// Returns whether it has a resource of this name, of any Kind.
    pub(crate) fn has(&self, name: &str) -> bool {
        !self.positions(name).is_empty()
    }

    /// Positions of the resources of this name, ascending.
    pub(crate) fn positions(&self, name: &str) -> &[usize] {
        self.resources().positions(name)
    }

    /// The place of one of its resources in `app`.
    pub(crate) fn place<'a>(&'a self, app: &'a str, position: usize) -> ResourcePlace<'a> {
        ResourcePlace {
            app,
            cluster: &self.cluster,
            row: self.resources().row_place(position),
        }
    }

    /// The phases of all its resources.
    pub(crate) fn phases(&self) -> Tally<(), ()> {
        self.resources().counts().phases()
    }

    /// Counts of all its resources in an answer of this type, with places in `app`.
    pub(crate) fn tally<'a>(
        &'a self,
        app: &'a str,
        kind: QueryType,
    ) -> Tally<&'a str, ResourcePlace<'a>> {
        let counts = self.resources().counts();
        let place = |position: &usize| self.place(app, *position);
        match kind {
            QueryType::Rsync => counts.only_sent(),
            QueryType::Cluster => counts.reported(AsRef::as_ref, place),
            QueryType::All => counts.mapped(AsRef::as_ref, place),
        }
    }
}
