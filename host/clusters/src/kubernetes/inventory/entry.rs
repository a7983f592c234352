//! One object of a cluster.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use kindsight_model::{Coverage, CoveredKinds, Gvk, Object, Rejected, RejectedIdentity};

use super::place::Place;
use super::{GroupId, Report};
use crate::kubernetes::decode::{Body, Decoded};
use crate::kubernetes::membership::Membership;
use crate::kubernetes::news::WatchId;
use crate::kubernetes::selector::Label;
use crate::kubernetes::uid::Uid;
use crate::{ApplicationReport, DeploymentReport};

/// An object by its Kind, namespace and name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::kubernetes) struct Key {
    /// Watches are of one Kind each, and no two of them see the same object.
    pub(in crate::kubernetes) watch: WatchId,
    pub(super) namespace: Arc<str>,
    pub(super) name: Arc<str>,
}

impl Key {
    /// A bound before all keys of a namespace of a watch; of the empty one, before all keys of the watch.
    pub(super) fn before_all_of(watch: WatchId, namespace: &str) -> Self {
        Self {
            watch,
            namespace: namespace.into(),
            name: "".into(),
        }
    }

    pub(super) fn new(watch: WatchId, decoded: &Decoded) -> Self {
        Self {
            watch,
            namespace: Arc::clone(&decoded.namespace),
            name: Arc::clone(&decoded.name),
        }
    }
}

/// An object as it is held.
#[derive(Debug)]
pub(super) struct Entry {
    /// The last pass over its Kind that saw it.
    pub(super) pass: u64,
    /// Number of the change of the cluster that it came with.
    pub(super) change: u64,
    /// Its version; 0 where versions have no order.
    pub(super) version: u64,
    pub(super) uid: Uid,
    /// Uids of its owners.
    pub(super) owners: Box<[Uid]>,
    /// Its labels, where they are asked for.
    pub(super) labels: Arc<[Label]>,
    /// None where nobody marked it.
    membership: Option<Box<Membership>>,
    pub(super) body: Body,
    pub(super) place: Place,
}

impl Default for Entry {
    fn default() -> Self {
        Self {
            pass: 0,
            change: 0,
            version: 0,
            uid: Uid::NONE,
            owners: Box::default(),
            labels: Arc::default(),
            membership: None,
            body: Body::NotAsked,
            place: Place::default(),
        }
    }
}

/// Links of an object to others.
pub(super) struct Links {
    pub(super) uid: Uid,
    pub(super) owners: Box<[Uid]>,
}

/// The membership of an object that nobody marked.
static NO_MEMBERSHIP: LazyLock<Membership> = LazyLock::new(Membership::default);

impl Entry {
    /// Returns whether this tells nothing new: the same version, and no body where that is missing.
    pub(super) fn has_all_of(&self, decoded: &Decoded, is_missing: bool) -> bool {
        self.version == decoded.version
            && self.version > 0
            && self.uid == decoded.uid
            && self.labels == decoded.labels
            && (!is_missing || matches!(decoded.body, Body::NotAsked))
    }

    /// Returns whether this is an older version of the same object.
    pub(super) fn is_newer_than(&self, decoded: &Decoded) -> bool {
        self.uid == decoded.uid && decoded.version > 0 && self.version > decoded.version
    }

    /// Returns whether what it owns belongs where it did before.
    pub(super) fn is_same_owner(&self, decoded: &Decoded) -> bool {
        self.uid == decoded.uid
            && self.owners == decoded.owners
            && *self.membership() == decoded.membership
    }

    /// Replaces all but its place and the pass.
    pub(super) fn replace(&mut self, decoded: Decoded) {
        self.version = decoded.version;
        self.uid = decoded.uid;
        self.owners = decoded.owners;
        self.labels = decoded.labels;
        let is_marked = decoded.membership != Membership::default();
        self.membership = is_marked.then(|| Box::new(decoded.membership));
        self.body = decoded.body;
    }

    pub(super) fn links(&self) -> Links {
        Links {
            uid: self.uid,
            owners: self.owners.clone(),
        }
    }

    /// The application it belongs to, as its metadata says.
    pub(super) fn membership(&self) -> &Membership {
        self.membership.as_deref().unwrap_or(&NO_MEMBERSHIP)
    }

    /// The name of the application that it joins if there is only one of that name.
    pub(super) fn floats_to(&self) -> Option<Arc<str>> {
        let claim = self.membership().claim.as_ref();
        let claim = claim.filter(|claim| claim.is_of_any_namespace)?;
        Some(Arc::clone(&claim.application.composite_app))
    }
}

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
pub(super) fn report<'e>(
    id: &GroupId,
    entries: impl Iterator<Item = (&'e Key, &'e Entry)>,
    beside: Beside<'_>,
) -> Report {
    let mut objects: Vec<(&Object, bool)> = Vec::new();
    let mut rejected = Vec::new();
    for (key, entry) in entries {
        match &entry.body {
            Body::Whole(object) => objects.push((object, entry.membership().is_hook)),
            Body::Unreadable(it) => {
                let (gvk, error) = &**it;
                rejected.push(Rejected {
                    pointer: format!("{}/{}/{}", gvk.kind, key.namespace, key.name),
                    error: error.clone(),
                    identity: Some(identity(gvk, key)),
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

fn identity(gvk: &Gvk, key: &Key) -> RejectedIdentity {
    RejectedIdentity {
        gvk: gvk.clone(),
        namespace: Arc::clone(&key.namespace),
        name: Arc::clone(&key.name),
    }
}

/// The order of objects in reports.
pub(super) fn rank(object: &Object) -> (&str, &str, &str, &str) {
    let gvk = &object.gvk;
    (&gvk.kind, &gvk.group, &object.namespace, &object.name)
}
