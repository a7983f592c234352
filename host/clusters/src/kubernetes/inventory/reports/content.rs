//! Contents of a report: the objects of a group, and what goes with them.

use std::collections::BTreeSet;
use std::sync::Arc;

use kindsight_model::{Coverage, CoveredKinds, Gvk, Object, Rejected, RejectedIdentity};

use crate::kubernetes::decode::Body;
use crate::kubernetes::inventory::entry::Entry;
use crate::kubernetes::inventory::{GroupId, Report};
use crate::{ApplicationReport, DeploymentReport};

/// The parts of a report beside the objects of its group.
pub(super) struct Beside<'c> {
    /// Objects of others that its own name by a relation.
    pub(super) related: Vec<Object>,
    /// The Kinds of which everything was searched.
    pub(super) covered: CoveredKinds,
    /// The coverage of what is seen of the cluster.
    pub(super) coverage: &'c Coverage,
    /// Objects that a recorded deployment has now.
    pub(super) taken: Vec<Object>,
}

/// The report of a group with these objects.
pub(super) fn report(id: &GroupId, entries: &[&Entry], beside: Beside<'_>) -> Report {
    let mut objects: Vec<(&Object, bool)> = Vec::new();
    let mut rejected = Vec::new();
    for entry in entries {
        match entry.body() {
            Body::Whole(object) => objects.push((object, entry.membership().is_hook)),
            Body::Unreadable(it) => {
                let (gvk, error) = &**it;
                rejected.push(Rejected {
                    pointer: format!("{}/{}/{}", gvk.kind, entry.namespace(), entry.name),
                    error: error.clone(),
                    identity: Some(identity(gvk, entry)),
                });
            }
            Body::NotAsked | Body::BundleState(_) => {}
        }
    }
    objects.sort_by(|(left, _), (right, _)| rank(left).cmp(&rank(right)));
    let hooks = objects
        .iter()
        .enumerate()
        .filter(|(_, (_, is_hook))| *is_hook);
    let hooks: BTreeSet<usize> = hooks.map(|(at, _)| at).collect();
    let objects = objects.into_iter().map(|(object, _)| object.clone());
    let objects: Vec<Object> = objects.collect();
    let Beside {
        related,
        covered,
        coverage,
        taken,
    } = beside;
    match id {
        GroupId::Application { application, app } => Report::Application(ApplicationReport {
            application: application.clone(),
            app: Arc::clone(app),
            objects,
            hooks,
            rejected,
            related,
            covered,
            taken,
            is_sorted_anew: false,
        }),
        GroupId::Deployment(deployment) => Report::Deployment(DeploymentReport {
            deployment: deployment.clone(),
            objects,
            rejected,
            related,
            covered,
            coverage: coverage.clone(),
            faults: Vec::new(),
        }),
    }
}

fn identity(gvk: &Gvk, entry: &Entry) -> RejectedIdentity {
    RejectedIdentity {
        gvk: gvk.clone(),
        namespace: Arc::clone(entry.namespace()),
        name: Arc::from(&*entry.name),
    }
}

/// The order of objects in reports.
pub(in crate::kubernetes::inventory) fn rank(object: &Object) -> (&str, &str, &str, &str) {
    let gvk = &object.gvk;
    (&gvk.kind, &gvk.group, &object.namespace, &object.name)
}
