//! Joins a context with the contents of other contexts.
//!
//! The status context has the statuses, the reports, and references to the context that acted last.
//! rsync also adds entries to the status context for the resources of later instances. These
//! entries have no manifest and refer to another context, so they are not part of the first
//! instance.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use kindsight_model::{Connectivity, ContextId};

use super::cluster_image::{ClusterImage, StoredReport};
use super::image::{AppInCluster, ContextImage};
use super::resource_image::ResourceImage;
use super::{ClusterSnapshot, ResourceSnapshot, StoredBundle};

/// A context, and the contexts that it is joined with.
pub(super) struct Sources<'s> {
    pub(super) own: &'s ContextImage,
    /// The id of its status context, unless it is its own.
    pub(super) status_id: Option<ContextId>,
    /// That status context, if it exists.
    pub(super) status: Option<&'s ContextImage>,
    /// The other contexts that it refers to and that exist.
    pub(super) others: BTreeMap<&'s ContextId, &'s ContextImage>,
}

/// The report that is stored for an app in a cluster.
pub(super) enum FoundReport<'s> {
    Absent,
    Damaged,
    /// The report, and the context that contains it.
    Found(&'s ContextId, &'s StoredReport),
}

impl<'s> Sources<'s> {
    /// The contexts that an app in a cluster refers to.
    pub(super) fn references(&self, place: &AppInCluster) -> BTreeSet<ContextId> {
        let Some(own) = self.own.cluster(place) else {
            return BTreeSet::new();
        };
        let status = self.status_cluster(place);
        let reference = status.unwrap_or(own).reference.get().cloned();
        let mut references: BTreeSet<ContextId> = reference.into_iter().collect();
        if self.status_id.is_some() {
            let elsewhere = own.resources().filter(|resource| resource.is_elsewhere());
            references
                .extend(elsewhere.filter_map(|resource| acting_context(resource, status).cloned()));
        }
        references
    }

    /// Joins an app in a cluster. Returns `None` if rsync added it for a later instance. The report
    /// is left out.
    pub(super) fn cluster(&self, place: &AppInCluster) -> Option<ClusterSnapshot> {
        let own = self.own.cluster(place)?;
        let status = self.status_cluster(place);
        let is_first = self.status_id.is_none();
        let is_of_this =
            |resource: &&ResourceImage| !(is_first && resource.is_of_a_later(&self.own.id));
        let mut resources: Vec<&ResourceImage> = own.resources().filter(is_of_this).collect();
        if resources.is_empty() && own.resources().next().is_some() {
            return None;
        }
        if let Some(order) = own.resource_order.get() {
            sort_by_order(&mut resources, order, |resource| &resource.key_name);
        }
        let resources = resources.into_iter().filter_map(|resource| {
            let (name, kind) = resource.name_and_kind()?;
            let sent = status.and_then(|cluster| cluster.resource(&resource.key_name));
            let sent = sent.and_then(|resource| resource.status.get());
            let hooks = own.hooks.get();
            Some(ResourceSnapshot {
                name: name.to_owned(),
                kind: kind.to_owned(),
                manifest: self.manifest(place, resource, status),
                status: sent.or(resource.status.get()).copied(),
                hook: hooks.and_then(|hooks| hooks.get(&resource.key_name).copied()),
            })
        });
        Some(ClusterSnapshot {
            cluster: own.cluster()?.clone(),
            group: own.group.get().cloned(),
            bundle: StoredBundle::Unchanged,
            connectivity: self.connectivity(place, own, status),
            resources: resources.collect(),
        })
    }

    /// The stored report on an app in a cluster: in the status context, else in its own.
    pub(super) fn report(&self, place: &AppInCluster) -> FoundReport<'s> {
        let own = self
            .own
            .cluster(place)
            .map(|cluster| (&self.own.id, cluster));
        let status = self
            .status
            .and_then(|context| Some((&context.id, context.cluster(place)?)));
        let is_stored = |(_, cluster): &(_, &ClusterImage)| {
            cluster.is_bundle_damaged() || cluster.bundle().is_some()
        };
        match status.filter(is_stored).or(own) {
            Some((_, cluster)) if cluster.is_bundle_damaged() => FoundReport::Damaged,
            Some((id, cluster)) => match cluster.bundle() {
                Some(report) => FoundReport::Found(id, report),
                None => FoundReport::Absent,
            },
            None => FoundReport::Absent,
        }
    }

    fn status_cluster(&self, place: &AppInCluster) -> Option<&'s ClusterImage> {
        self.status?.cluster(place)
    }

    /// The connectivity in the context that acted last on the cluster, else its own, else the one in
    /// the status context.
    fn connectivity(
        &self,
        place: &AppInCluster,
        own: &ClusterImage,
        status: Option<&ClusterImage>,
    ) -> Option<Connectivity> {
        let reference = status.unwrap_or(own).reference.get();
        let acting = reference.and_then(|id| self.others.get(id)?.cluster(place));
        let acting = acting.and_then(|context| context.connectivity.get());
        let of_own = own.connectivity.get();
        let of_status = status.and_then(|status| status.connectivity.get());
        let found = if reference.is_some() && reference == self.status_id.as_ref() {
            of_status.or(of_own)
        } else {
            acting.or(of_own).or(of_status)
        };
        found.copied()
    }

    /// The manifest: its own, else the one in the context that it refers to.
    fn manifest(
        &self,
        place: &AppInCluster,
        own: &ResourceImage,
        status: Option<&ClusterImage>,
    ) -> Option<Arc<str>> {
        if !own.is_elsewhere() {
            return own.yaml().cloned();
        }
        let acting = acting_context(own, status).and_then(|id| self.others.get(id));
        let acting = acting.and_then(|context| context.cluster(place)?.resource(&own.key_name));
        let found = acting.or_else(|| status?.resource(&own.key_name))?;
        found.yaml().cloned()
    }
}

/// The context that a resource refers to, in the status context or else in its own.
fn acting_context<'r>(
    own: &'r ResourceImage,
    status: Option<&'r ClusterImage>,
) -> Option<&'r ContextId> {
    let found = status.and_then(|cluster| cluster.resource(&own.key_name)?.reference.get());
    found.or(own.reference.get())
}

/// Moves the items that `order` names to the front, in that order. The other items keep their
/// order.
pub(super) fn sort_by_order<T>(items: &mut [T], order: &[String], name: impl Fn(&T) -> &String) {
    let mut ranks = HashMap::new();
    for (rank, name) in order.iter().enumerate() {
        ranks.entry(name).or_insert(rank);
    }
    items.sort_by_key(|item| ranks.get(name(item)).copied().unwrap_or(usize::MAX));
}
