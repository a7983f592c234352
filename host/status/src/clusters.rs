//! The list of clusters and the connections to them.

use std::borrow::Cow;
use std::sync::Arc;

use kindsight_api::clusters::{ClusterConnection, ClusterCoverage, ClusterList, ReportMode};
use kindsight_model::ClusterName;

use crate::FAULTS_SHOWN_MAX;
use crate::connection::{ConnectionView, FactsView};
use crate::moment::moment;
use crate::read_model::ReadModel;
use crate::store::StoreAway;

/// Every cluster that is configured, as it was at one moment.
#[derive(Debug)]
pub struct Clusters {
    connections: Vec<(ClusterName, Arc<ConnectionView>)>,
    store: Option<StoreAway>,
}

impl ReadModel {
    /// Every cluster that is configured.
    pub fn clusters(&self) -> Clusters {
        self.inspect(|snapshot| {
            let all = snapshot.connections();
            let all = all.map(|(name, it)| (name.clone(), Arc::clone(it)));
            Clusters {
                connections: all.collect(),
                store: snapshot.store_away().cloned(),
            }
        })
    }
}

impl Clusters {
    /// The answer, in order of the names.
    pub fn answer(&self) -> ClusterList<'_> {
        let clusters = self
            .connections
            .iter()
            .map(|(name, it)| connection(name, it));
        ClusterList {
            clusters: clusters.collect(),
            store: self.store.as_ref().map(StoreAway::shown),
        }
    }
}

fn connection<'a>(name: &'a ClusterName, view: &'a ConnectionView) -> ClusterConnection<'a> {
    let facts = view.facts.as_deref();
    ClusterConnection {
        cluster_provider: (&*name.provider).into(),
        cluster: (&*name.name).into(),
        origin: facts.map_or("", |it| &it.origin).into(),
        connection: view.state,
        coverage: facts.and_then(coverage),
        mode: (facts.map(|it| it.mode)).filter(|it| *it != ReportMode::Auto),
        selector: facts.and_then(|it| it.selector.as_deref().map(Cow::Borrowed)),
        since: moment(view.since_ms),
        error: view.reason.as_deref().map(Cow::Borrowed),
        server_version: facts.and_then(|it| it.server_version.as_deref().map(Cow::Borrowed)),
        not_covered: facts.map_or(&[][..], |it| &it.not_covered).into(),
        objects: facts.map(|it| it.objects),
        watches: facts.map(|it| it.watches),
        last_event: view.heard_ms.and_then(moment),
        faults: view
            .faults
            .get(..FAULTS_SHOWN_MAX)
            .unwrap_or(&view.faults)
            .into(),
    }
}

/// None of a cluster that was not reached yet.
fn coverage(facts: &FactsView) -> Option<ClusterCoverage> {
    facts.server_version.as_ref()?;
    Some(if facts.not_covered.is_empty() {
        ClusterCoverage::Complete
    } else {
        ClusterCoverage::Partial
    })
}
