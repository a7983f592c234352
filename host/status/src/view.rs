//! Views: the current state of each `AppContext`, prepared for queries.
//!
//! Built by the pipeline on every change, never by a query. Everything large is behind an [`Arc`]: a
//! change in one cluster builds one new [`ClusterView`] and shares all others.

use std::sync::Arc;

use kindsight_model::{
    ClusterName, ContextId, ContextStatus, DigName, Gvk, Object, RsyncStatus, Verdict,
};

use crate::map::{Map, map_for};
use crate::rollup::Desired;
use crate::tally::{Place, Tally};

/// The current state of one `AppContext`.
#[derive(Debug, Clone)]
pub struct ContextView {
    /// Its id.
    pub id: ContextId,
    /// The group that was instantiated, from the context's metadata; none for the contexts of clusters.
    pub meta: Option<DigName>,
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

/// The report of a cluster on an app: none yet, or one that may be out of date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Report {
    /// No bundle has come.
    #[default]
    NotYet,
    /// A bundle came.
    Received {
        /// Time since when the cluster cannot be reached, in Unix milliseconds; none while it can. Its
        /// last report is kept, and marked as stale in answers.
        stale_since_ms: Option<i64>,
    },
}

impl Report {
    /// Time since when the report may be out of date, in Unix milliseconds.
    pub fn stale_since_ms(self) -> Option<i64> {
        match self {
            Self::NotYet => None,
            Self::Received { stale_since_ms } => stale_since_ms,
        }
    }
}

/// One app in one cluster. Built by [`crate::project`].
#[derive(Debug, Clone)]
pub struct ClusterView {
    cluster: ClusterName,
    report: Report,
    faults: Vec<Arc<str>>,
    /// Shared with views that differ only in staleness or faults.
    rows: Arc<Rows>,
}

/// The resources of an app in a cluster, with an index and precomputed counts for queries.
#[derive(Debug)]
struct Rows {
    resources: Vec<ResourceView>,
    /// Positions of resources by name, so that a query by name does not scan all.
    by_name: Map<Arc<str>, Vec<usize>>,
    /// Counts of all resources, so that a summary does not scan any.
    tally: Tally<Arc<str>, usize>,
}

impl ClusterView {
    pub(crate) fn new(
        cluster: ClusterName,
        report: Report,
        resources: Vec<ResourceView>,
        faults: Vec<Arc<str>>,
    ) -> Self {
        let mut by_name = map_for::<Arc<str>, Vec<usize>>(resources.len());
        for (position, resource) in resources.iter().enumerate() {
            let positions = by_name.entry(Arc::clone(&resource.name)).or_default();
            positions.push(position);
        }
        let rows = Rows {
            resources,
            by_name,
            tally: Tally::default(),
        };
        let mut view = Self {
            cluster,
            report,
            faults,
            rows: Arc::new(rows),
        };
        let tally = view.count();
        if let Some(rows) = Arc::get_mut(&mut view.rows) {
            rows.tally = tally;
        }
        view
    }

    /// The same resources with another report state and other faults. O(1) in the number of resources.
    #[must_use]
    pub fn with_report(&self, report: Report, faults: Vec<Arc<str>>) -> Self {
        Self {
            cluster: self.cluster.clone(),
            report,
            faults,
            rows: Arc::clone(&self.rows),
        }
    }

    fn count(&self) -> Tally<Arc<str>, usize> {
        let mut tally = Tally::default();
        for (position, resource) in self.resources().iter().enumerate() {
            let state = Arc::clone(&resource.verdict.state);
            tally.add(resource, state, Place::new("", self, position));
        }
        tally.map(Arc::clone, |place| place.position)
    }

    /// The cluster.
    pub fn cluster(&self) -> &ClusterName {
        &self.cluster
    }

    /// State of its report: none yet, or received and possibly stale.
    pub fn report(&self) -> Report {
        self.report
    }

    /// Its resources: those that were sent in the order of the context, then those that only the cluster
    /// has in the order of its report.
    pub fn resources(&self) -> &[ResourceView] {
        &self.rows.resources
    }

    /// Parts of its report and of the sent resources that could not be read, as text for people.
    pub fn faults(&self) -> &[Arc<str>] {
        &self.faults
    }

    /// Returns whether it has a resource of this name, of any Kind.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.rows.by_name.contains_key(name)
    }

    /// Positions of the resources of this name, ascending.
    pub(crate) fn positions(&self, name: &str) -> &[usize] {
        self.rows.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Counts of all its resources, with places in `app`.
    pub(crate) fn tally<'a>(&'a self, app: &'a str) -> Tally<&'a str, Place<'a>> {
        let place = |position: &usize| Place::new(app, self, *position);
        let mut tally = self.rows.tally.map(AsRef::as_ref, place);
        tally.stale_since_ms = self.report.stale_since_ms();
        tally
    }
}

/// One resource of an app in a cluster.
#[derive(Debug, Clone)]
pub struct ResourceView {
    /// Group, version and Kind: of the manifest if there is one, else of the object.
    pub gvk: Gvk,
    /// Namespace: of the object if it has one, else of the manifest. Empty if neither names one.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The manifest that was sent; none if it could not be read or the resource was not sent.
    pub manifest: Option<Object>,
    /// Result of sending it; none if only the cluster has it.
    pub rsync: Option<RsyncStatus>,
    /// The object that the cluster reported, if any.
    pub object: Option<Object>,
    /// The verdict on the object, or the host's own verdict on its absence.
    pub verdict: Verdict,
    /// Time of its last change of state, in Unix milliseconds.
    pub since_ms: Option<i64>,
    /// True if it was sent; else only the cluster has it, such as a Deployment's Pods.
    pub expected: bool,
}

impl ResourceView {
    /// Its identity among the resources of its app and cluster.
    pub(crate) fn key(&self) -> ResourceKey<'_> {
        ResourceKey {
            kind: &self.gvk.kind,
            group: &self.gvk.group,
            namespace: &self.namespace,
            name: &self.name,
            version: &self.gvk.version,
        }
    }
}

/// Identity of a resource among those of its app and cluster; orders them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ResourceKey<'a> {
    kind: &'a str,
    group: &'a str,
    namespace: &'a str,
    name: &'a str,
    version: &'a str,
}
