//! The coverage of the cluster in a session.

use kindsight_model::{Coverage, KindCoverage, KindState};
use tokio::time::Instant;

use super::Session;
use crate::kubernetes::known::Known;
use crate::kubernetes::watches::NOT_LISTED;

impl Session {
    /// Updates the coverage of the cluster. A Kind that is being listed again keeps its coverage for up to a minute.
    pub(super) fn follow_coverage(&mut self, known: &mut Known) {
        let is_due = std::mem::take(&mut self.is_coverage_due);
        let may_differ = self.watches.are_disconnected()
            || self.watches.are_late()
            || known.index.left_out().is_some();
        if !(is_due || may_differ) {
            return;
        }
        let is_listing = Instant::now() < self.list_until;
        let mut coverage = Coverage::nothing();
        for watch in self.watches.iter() {
            let found = match known.index.coverage_of(watch.scope) {
                Some(before) if watch.is_listing() && before.state != KindState::Listing => {
                    if is_listing {
                        before.clone()
                    } else {
                        KindCoverage::caused(KindState::Unavailable, NOT_LISTED)
                    }
                }
                _ => watch.coverage(),
            };
            if !(watch.is_listing() && is_listing) {
                let is_complete = watch.is_complete();
                let (scope, found) = (watch.scope, found.clone());
                known.index.set_coverage(scope, found, is_complete);
            }
            let gvk = &watch.kind.gvk;
            coverage.set(&gvk.group, &gvk.kind, watch.extent_of(), found);
        }
        for (version, why) in &self.discovered.silent {
            let group = version.split_once('/').map_or("", |(group, _)| group);
            let cause = format!("{version}: {why}");
            let silent = KindCoverage::caused(KindState::Unavailable, cause);
            coverage.set_group(group, silent);
        }
        if let Some(reason) = known.index.left_out() {
            coverage.leave_out(reason);
        }
        if coverage != self.coverage {
            self.coverage = coverage;
            known.index.note_all_direct();
        }
    }
}
