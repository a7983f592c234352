//! Views: one `AppContext` as it stands now, ready for queries.
//!
//! Made by the pipeline whenever something changed, never by a query. Everything large is behind an
//! [`Arc`]: a change in one cluster makes one new [`ClusterView`] and shares all others.

use std::sync::Arc;

use kindsight_model::{
    ClusterName, ContextId, ContextStatus, DigName, Gvk, Object, RsyncStatus, Verdict,
};

use crate::map::{Map, map_for};
use crate::rollup::Desired;
use crate::tally::{Place, Tally};

/// One `AppContext` as it stands now.
#[derive(Debug, Clone)]
pub struct ContextView {
    /// Its id.
    pub id: ContextId,
    /// The group that was instantiated, as the context itself says; none for the contexts of clusters.
    pub meta: Option<DigName>,
    /// Its status as it is stored; none if none is stored yet.
    pub status: Option<ContextStatus>,
    /// Its apps, in the order in which they are shown.
    pub apps: Vec<AppView>,
    /// Parts of it that could not be read, in words; shown with every answer about it.
    pub faults: Vec<Arc<str>>,
}

impl ContextView {
    /// The desired presence of its resources.
    pub(crate) fn desired(&self) -> Desired {
        Desired::from_status(self.status.as_ref())
    }

    /// Every app and cluster pair, in order.
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
    /// Its clusters, in the order in which they are shown.
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
        /// Since when the cluster cannot be reached, in Unix milliseconds. What it said last is
        /// kept and shown as stale.
        stale_since_ms: Option<i64>,
    },
}

impl Report {
    /// Since when what is shown may be out of date, in Unix milliseconds.
    pub fn stale_since_ms(self) -> Option<i64> {
        match self {
            Self::NotYet => None,
            Self::Received { stale_since_ms } => stale_since_ms,
        }
    }
}

/// One app in one cluster. Made by [`crate::project`].
#[derive(Debug, Clone)]
pub struct ClusterView {
    cluster: ClusterName,
    report: Report,
    faults: Vec<Arc<str>>,
    /// Shared with the views that only differ in staleness or faults.
    rows: Arc<Rows>,
}

/// The resources of an app in a cluster, with what queries need to know of all of them.
#[derive(Debug)]
struct Rows {
    resources: Vec<ResourceView>,
    /// Positions of resources, so that a query for a few does not look at all.
    by_name: Map<Arc<str>, Vec<usize>>,
    /// All resources together, so that a summary does not look at any.
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

    /// The same resources with another staleness and other faults. Costs as much for many as for few.
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

    /// Whether it has reported, and since when that may be out of date.
    pub fn report(&self) -> Report {
        self.report
    }

    /// Its resources: those that should be there in the context's order, then those that only the
    /// cluster has in the order of its report.
    pub fn resources(&self) -> &[ResourceView] {
        &self.rows.resources
    }

    /// Faults of its report and of what was sent to it, in words.
    pub fn faults(&self) -> &[Arc<str>] {
        &self.faults
    }

    /// Whether it has a resource of this name, of any Kind.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.rows.by_name.contains_key(name)
    }

    /// The positions of the resources of this name, ascending.
    pub(crate) fn positions(&self, name: &str) -> &[usize] {
        self.rows.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// All its resources together, as part of `app`.
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
    /// Group, version and Kind: as the manifest says where there is one.
    pub gvk: Gvk,
    /// Its namespace: the cluster's word first. Empty if it has none or nobody said.
    pub namespace: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// The manifest that was sent.
    pub manifest: Option<Object>,
    /// The result of sending it; none for what only the cluster has.
    pub rsync: Option<RsyncStatus>,
    /// The object that the cluster reported.
    pub object: Option<Object>,
    /// The verdict on it.
    pub verdict: Verdict,
    /// Since when it is in this state, in Unix milliseconds.
    pub since_ms: Option<i64>,
    /// Whether it was sent; otherwise only the cluster has it, as it has a Deployment's Pods.
    pub expected: bool,
}

impl ResourceView {
    /// Identity among the resources of its app and cluster.
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
