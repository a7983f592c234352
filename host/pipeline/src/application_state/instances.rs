//! Other instances of the same group, which are reported under the same status context.

use std::sync::Arc;

use super::ApplicationState;
use crate::placement::{Change, Placement};
use crate::remembered::RememberedStatus;
use crate::shared::Shared;

impl ApplicationState {
    /// Takes over the reports that clusters sent for another instance of the same group, where they have not
    /// reported for this one.
    pub(crate) fn join(&mut self, sibling: &Self, shared: &Shared, now_ms: i64) {
        for app in &mut self.apps {
            let name = Arc::clone(app.name());
            for placement in app.selected_mut(|placement| !placement.was_heard()) {
                let other = sibling.placement(&name, placement.cluster());
                if let Some(live) = other.and_then(Placement::live) {
                    let cluster = placement.cluster().clone();
                    let env = shared.environment(&cluster, &self.shown_by, now_ms);
                    placement.apply(Change::Sibling(live), env);
                }
            }
        }
        self.share_autoscalers(shared, now_ms);
    }

    /// Compares the manifests with the statuses that were known before the start.
    pub(crate) fn restore_statuses(
        &mut self,
        last: &[&RememberedStatus],
        shared: &Shared,
        now_ms: i64,
    ) {
        for app in &mut self.apps {
            let name = Arc::clone(app.name());
            for placement in app.placements_mut() {
                let cluster = placement.cluster().clone();
                let own = last.iter().copied();
                let own = own.filter(|status| status.app == name && status.cluster == cluster);
                let own: Vec<&RememberedStatus> = own.collect();
                if own.is_empty() {
                    continue;
                }
                let env = shared.environment(&cluster, &self.shown_by, now_ms);
                placement.apply(Change::LastStatuses(&own), env);
            }
        }
    }

    /// Handles that this instance replaces another instance of the same group.
    pub(crate) fn succeed(&mut self, previous: &Self, shared: &Shared, now_ms: i64) {
        for app in &mut self.apps {
            let name = Arc::clone(app.name());
            for placement in app.placements_mut() {
                let cluster = placement.cluster().clone();
                if let Some(previous) = previous.placement(&name, &cluster) {
                    let env = shared.environment(&cluster, &self.shown_by, now_ms);
                    placement.apply(Change::Succession(previous), env);
                }
            }
        }
    }
}
