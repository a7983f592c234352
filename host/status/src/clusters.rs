//! The list of clusters and the connections to them.

use std::borrow::Cow;
use std::sync::Arc;

use kindsight_api::clusters::{ClusterConnection, ClusterCoverage, ClusterList, Connection, Owner};
use kindsight_model::{ClusterName, Coverage, ReportMode};

use crate::FAULTS_SHOWN_MAX;
use crate::connection::ConnectionView;
use crate::moment::moment;
use crate::snapshot::VisibleSnapshot;
use crate::store::StoreAway;

/// Maximum number of Kinds that an answer lists as not covered.
const NOT_COVERED_SHOWN_MAX: usize = 100;

/// All configured clusters at one moment.
#[derive(Debug)]
pub struct Clusters {
    connections: Vec<(ClusterName, Arc<ConnectionView>)>,
    store: Option<StoreAway>,
    /// True if the reader may see all applications. The others get no counts and faults, which include hidden
    /// applications.
    sees_everything: bool,
}

impl VisibleSnapshot<'_> {
    /// All configured clusters.
    pub fn clusters(&self) -> Clusters {
        let all = self.connections();
        Clusters {
            connections: all
                .map(|(name, view)| (name.clone(), Arc::clone(view)))
                .collect(),
            store: self.snapshot.store_away().cloned(),
            sees_everything: self.visible.is_everything(),
        }
    }
}

impl Clusters {
    /// The answer, in order of the names.
    pub fn answer(&self) -> ClusterList<'_> {
        let clusters = self
            .connections
            .iter()
            .map(|(name, view)| self.connection(name, view));
        ClusterList {
            clusters: clusters.collect(),
            store: self.store.as_ref().map(StoreAway::shown),
        }
    }

    fn connection<'a>(
        &self,
        name: &'a ClusterName,
        view: &'a ConnectionView,
    ) -> ClusterConnection<'a> {
        let facts = view.facts.as_deref();
        let faults = view.faults.get(..FAULTS_SHOWN_MAX).unwrap_or(&view.faults);
        ClusterConnection {
            cluster_provider: (&*name.provider).into(),
            cluster: (&*name.name).into(),
            origin: facts.map_or("", |it| &it.origin).into(),
            connection: view.state,
            coverage: coverage(view),
            mode: (facts.map(|facts| facts.mode)).filter(|mode| *mode != ReportMode::Auto),
            selector: facts.and_then(|facts| facts.selector.as_deref().map(Cow::Borrowed)),
            since: moment(view.since_ms),
            error: view.reason.as_deref().map(Cow::Borrowed),
            server_version: facts
                .and_then(|facts| facts.server_version.as_deref().map(Cow::Borrowed)),
            not_covered: view
                .coverage
                .as_ref()
                .map_or_else(Vec::new, not_covered)
                .into(),
            objects: facts
                .map(|facts| facts.objects)
                .filter(|_| self.sees_everything),
            watches: facts.map(|it| it.watches),
            last_event: view.heard_ms.and_then(moment),
            owner: view.owner.host.as_deref().map(|host| Owner {
                host: host.into(),
                lease: Some(view.owner.fence)
                    .filter(|fence| *fence > 0 && view.state == Connection::Connected),
            }),
            faults: if self.sees_everything {
                faults.into()
            } else {
                Cow::default()
            },
        }
    }
}

/// The coverage of a cluster; `None` before it was sent. Also `None` if no gap is known, but the cluster is
/// being listed or cannot be reached: only complete lists prove that there is no gap.
fn coverage(view: &ConnectionView) -> Option<ClusterCoverage> {
    let coverage = view.coverage.as_ref()?;
    if !coverage.is_complete() {
        return Some(ClusterCoverage::Partial);
    }
    (view.state == Connection::Connected).then_some(ClusterCoverage::Complete)
}

/// The Kinds that are not covered, with the cause of each; the first [`NOT_COVERED_SHOWN_MAX`].
fn not_covered(coverage: &Coverage) -> Vec<Arc<str>> {
    let rows = coverage.not_covered();
    rows.take(NOT_COVERED_SHOWN_MAX)
        .map(|row| row.to_string().into())
        .collect()
}
