//! The content of a report: the objects of a group, its hooks, and its rejected objects.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use kindsight_model::{Gvk, Object, Origin, Rejected, RejectedIdentity, Report};

use crate::decoded::Body;
use crate::index::entry::Entry;
use crate::index::objects::Id;

/// A report with these objects, and their positions in it.
pub(super) fn report(origin: Origin, entries: &[(Id, &Entry)]) -> (Report, HashMap<Id, usize>) {
    let mut objects: Vec<(&Object, bool, Id)> = Vec::new();
    let mut rejected = Vec::new();
    for (id, entry) in entries {
        match entry.body() {
            Body::Whole(object) => objects.push((object, entry.membership().is_hook, *id)),
            Body::Unreadable(it) => {
                let (gvk, error) = &**it;
                rejected.push(Rejected {
                    pointer: format!("{}/{}/{}", gvk.kind, entry.namespace(), entry.name),
                    error: error.clone(),
                    identity: Some(identity(gvk, entry)),
                });
            }
            Body::NotAsked => {}
        }
    }
    objects.sort_by(|(left, ..), (right, ..)| rank(left).cmp(&rank(right)));
    let hooks = objects
        .iter()
        .enumerate()
        .filter(|(_, (_, is_hook, _))| *is_hook);
    let hooks: BTreeSet<usize> = hooks.map(|(at, _)| at).collect();
    let positions = objects.iter().enumerate();
    let positions = positions.map(|(at, (_, _, id))| (*id, at)).collect();
    let objects = objects.into_iter().map(|(object, ..)| object.clone());
    let report = Report {
        objects: objects.collect(),
        hooks,
        rejected,
        ..Report::empty(origin)
    };
    (report, positions)
}

fn identity(gvk: &Gvk, entry: &Entry) -> RejectedIdentity {
    RejectedIdentity {
        gvk: gvk.clone(),
        namespace: Arc::clone(entry.namespace()),
        name: Arc::from(&*entry.name),
    }
}

/// The order of objects in reports.
pub(in crate::index) fn rank(object: &Object) -> (&str, &str, &str, &str) {
    let gvk = &object.gvk;
    (&gvk.kind, &gvk.group, &object.namespace, &object.name)
}
