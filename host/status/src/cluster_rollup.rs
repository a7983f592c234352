//! The roll-ups of an application and of its part in one cluster, without an answer.

use kindsight_model::{ClusterName, Phase};

use crate::resource_view::Staleness;
use crate::rollup::RollupResult;
use crate::tally::Tally;
use crate::view::ContextView;

/// The combined state of the resources of an application in one cluster, over all its apps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterRollup {
    /// The phase; `Unknown` if there are no resources.
    pub phase: Phase,
    /// The earliest staleness of its reports; `None` if all are current.
    pub stale: Option<Staleness>,
}

impl ContextView {
    /// The roll-up in a cluster; `None` if no app is in the cluster. The counts of each app are precomputed.
    ///
    /// Health scopes call it after each change of the application: an object that selects an application is in one cluster.
    pub fn rollup_in(&self, cluster: &ClusterName) -> Option<ClusterRollup> {
        let mut views = self
            .clusters()
            .filter(|view| view.cluster() == cluster)
            .peekable();
        views.peek()?;
        let (mut all, mut stale) = (Tally::<(), ()>::default(), None);
        for view in views {
            all.merge(&view.phases());
            let stales = [stale, view.report().stale().cloned()].into_iter();
            stale = stales.flatten().min();
        }
        Some(ClusterRollup {
            phase: all.rollup().result(self.desired()).phase,
            stale,
        })
    }

    /// The phases of all resources of the application. Each published change needs them, so they have neither states nor
    /// places, and the phases of each app are known.
    pub(crate) fn phases(&self) -> Tally<(), ()> {
        let mut all = Tally::default();
        for app in &self.apps {
            all.merge(app.phases());
        }
        all
    }

    /// The state of the application, as in an answer without filters.
    pub(crate) fn rollup(&self) -> RollupResult<()> {
        self.phases().rollup().result(self.desired())
    }
}
