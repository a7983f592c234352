//! Resources that inventories list and that the cluster does not have.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_model::{Absence, Identity, MissingResource};

use super::{Absent, Observed};
use crate::placement::held_report::HeldReport;

impl Observed {
    /// Takes the missing resources of inventories, which replace the previous ones. A resource that inventories no
    /// longer list is no longer wanted: if it existed, it is an object that is gone. Returns whether the view changes.
    pub(in crate::placement) fn miss(&mut self, resources: Vec<MissingResource>) -> bool {
        let listed = resources
            .into_iter()
            .map(|resource| (Identity::from(&resource), resource));
        let listed: BTreeMap<Identity, MissingResource> = listed.collect();
        if self.listed == listed {
            return false;
        }
        self.listed = listed;
        for (identity, absent) in &mut self.absent {
            let resource = self.listed.get(identity);
            absent.inventory = resource.map(|listed| Arc::clone(&listed.inventory));
        }
        self.absent.retain(|_, absent| {
            let may_exist = absent.is_known && absent.gone_ms.is_none();
            may_exist || absent.is_news()
        });
        true
    }

    /// Returns whether inventories list missing resources.
    pub(in crate::placement) fn is_any_listed(&self) -> bool {
        !self.listed.is_empty()
    }

    /// Adds the listed resources that were never seen. The source cannot report some Kinds, for example because the
    /// credentials do not allow them; their resources are not added. Returns whether the view changes.
    pub(super) fn add_listed(&mut self, report: &HeldReport) -> bool {
        let before = self.absent.len();
        let present = LazyCell::new(|| report.identities());
        for (identity, resource) in &self.listed {
            if self.absent.contains_key(identity) {
                continue;
            }
            let absent = Absent::never_seen(resource);
            let is_reported = match absent.found_in(&report.coverage).state.absence() {
                Absence::Conclusive | Absence::Inconclusive | Absence::Awaited => true,
                Absence::Unselected | Absence::Unreported => false,
            };
            // The next report lacks an object that was deleted since the last report.
            if is_reported && !present.contains(identity) {
                self.absent.insert(identity.clone(), absent);
            }
        }
        self.absent.len() > before
    }
}
