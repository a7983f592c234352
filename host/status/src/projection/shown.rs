//! The report that a view shows.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_model::{Coverage, KindState};

use super::Reported;
use crate::resource_view::{Role, Staleness};
use crate::view::ClusterView;

impl Reported {
    /// The report that a view shows, for a placement whose report another host has. A resource without an object keeps
    /// its last verdict: no Kind counts as listed.
    pub fn shown_by(view: &ClusterView, stale: Option<Staleness>) -> Self {
        let mut coverage = Coverage::of_others(KindState::Listing);
        // A coverage that names no Kind counts as complete unless objects are left out.
        coverage.leave_out(KindState::Listing.summary());
        let mut reported = Self {
            coverage,
            stale,
            ..Self::default()
        };
        let (mut objects, mut claims) = (Vec::new(), BTreeMap::new());
        for resource in view.resources().iter() {
            let exists = !matches!(resource.role, Role::Gone | Role::Missing);
            let Some(object) = resource.object.as_ref().filter(|_| exists) else {
                continue;
            };
            let position = objects.len();
            if resource.role == Role::Hook {
                reported.hooks.insert(position);
            }
            if let Some(of_object) = &resource.claims {
                claims.insert(position, Arc::clone(of_object));
            }
            objects.push(object.clone());
            reported.verdicts.push(resource.verdict.clone());
        }
        reported.objects = objects.into();
        reported.claims = claims.into();
        reported
    }
}
