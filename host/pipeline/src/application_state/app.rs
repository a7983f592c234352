//! One app of an application.

use std::cell::OnceCell;
use std::sync::Arc;

use kindsight_model::ClusterName;
use kindsight_status::AppView;

use crate::placement::Placement;
use crate::shared::Timeouts;

/// The placements of one app, with values that are derived from all of them.
///
/// Each access that may change a placement discards the derived values. The next reader derives them again, so a report
/// about one app costs nothing for the other apps of the application.
pub(super) struct App {
    name: Arc<str>,
    placements: Vec<Placement>,
    view: OnceCell<Arc<AppView>>,
    due: OnceCell<DueTimes>,
}

/// The times at which placements change by themselves, in Unix milliseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DueTimes {
    /// When the first verdict is due for a recheck.
    pub(crate) recheck_at_ms: Option<i64>,
    /// When the first object is forgotten or counts as gone.
    pub(crate) expires_at_ms: Option<i64>,
}

impl DueTimes {
    /// The earlier time of both, for each reason.
    pub(super) fn earlier(self, other: Self) -> Self {
        let earlier = |a: Option<i64>, b: Option<i64>| a.into_iter().chain(b).min();
        Self {
            recheck_at_ms: earlier(self.recheck_at_ms, other.recheck_at_ms),
            expires_at_ms: earlier(self.expires_at_ms, other.expires_at_ms),
        }
    }
}

impl App {
    pub(super) fn new(name: Arc<str>, placements: Vec<Placement>) -> Self {
        Self {
            name,
            placements,
            view: OnceCell::new(),
            due: OnceCell::new(),
        }
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(super) fn placements(&self) -> &[Placement] {
        &self.placements
    }

    /// The placements, to be changed.
    pub(super) fn placements_mut(&mut self) -> &mut Vec<Placement> {
        self.view.take();
        self.due.take();
        &mut self.placements
    }

    /// The placement in a cluster.
    pub(super) fn placement(&self, cluster: &ClusterName) -> Option<&Placement> {
        let mut placements = self.placements.iter();
        placements.find(|placement| placement.cluster() == cluster)
    }

    /// The placement in a cluster, to be changed.
    pub(super) fn placement_mut(&mut self, cluster: &ClusterName) -> Option<&mut Placement> {
        let mut placements = self.placements.iter();
        let at = placements.position(|placement| placement.cluster() == cluster)?;
        self.placements_mut().get_mut(at)
    }

    /// Removes the placement in a cluster, and returns it. The order of the others may change.
    pub(super) fn take(&mut self, cluster: &ClusterName) -> Option<Placement> {
        let mut placements = self.placements.iter();
        let at = placements.position(|placement| placement.cluster() == cluster)?;
        Some(self.placements_mut().swap_remove(at))
    }

    /// The placements that are selected, to be changed. The derived values remain if none is.
    pub(super) fn selected_mut(
        &mut self,
        selects: impl Fn(&Placement) -> bool,
    ) -> impl Iterator<Item = &mut Placement> {
        let is_any = self.placements.iter().any(&selects);
        let all = is_any.then(|| self.placements_mut());
        let all = all.into_iter().flatten();
        all.filter(move |placement| selects(placement))
    }

    /// The view that queries are answered from.
    pub(super) fn view(&self) -> &Arc<AppView> {
        self.view.get_or_init(|| {
            let placements = self.placements.iter();
            let clusters = placements.filter_map(Placement::view).collect();
            AppView::new(Arc::clone(&self.name), clusters)
        })
    }

    /// The times at which it changes by itself. `timeouts` are the same in each call.
    pub(super) fn due(&self, timeouts: Timeouts) -> DueTimes {
        *self.due.get_or_init(|| {
            let placements = || self.placements.iter();
            let expiries = placements().filter_map(|placement| placement.expires_at_ms(timeouts));
            DueTimes {
                recheck_at_ms: placements().filter_map(Placement::recheck_at_ms).min(),
                expires_at_ms: expiries.min(),
            }
        })
    }
}
