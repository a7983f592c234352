//! Joins a context with what other contexts hold of it.
//!
//! The status context has the statuses, the reports, and references to the context that acted last.
//! It also has entries that rsync added for what later instances brought: they have no manifest and
//! refer to another context, so they are no part of the first instance.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kindsight_model::{Connectivity, ContextId};

use super::stored::{Manifest, StoredApp, StoredCluster, StoredContext, StoredResource};
use super::{AppSnapshot, ClusterSnapshot, ContextSnapshot, ResourceSnapshot};
use crate::Unreadable;

/// A context and the contexts that it refers to.
pub(super) struct Merge {
    pub(super) own: StoredContext,
    /// The id of its status context, unless that is itself.
    pub(super) status_id: Option<ContextId>,
    /// That status context; none where it does not exist.
    pub(super) status: Option<StoredContext>,
    /// The other contexts that it refers to.
    pub(super) others: BTreeMap<ContextId, StoredContext>,
    /// The contexts that it refers to and that do not exist.
    pub(super) missing: BTreeSet<ContextId>,
}

impl Merge {
    /// The contexts that it refers to, other than itself and its status context.
    pub(super) fn references(&self) -> BTreeSet<ContextId> {
        let status = ClusterIndex::of(self.status.as_ref());
        let mut references = BTreeSet::new();
        for (app, cluster) in clusters(&self.own) {
            let status = status.find(app, cluster);
            references.extend(status.unwrap_or(cluster).reference.clone());
            if self.status_id.is_some() {
                let resources = ResourceIndex::of(status);
                let missing = cluster.resources.iter().filter(|it| it.is_elsewhere());
                references.extend(missing.filter_map(|it| resources.reference(it).cloned()));
            }
        }
        references.retain(|id| *id != self.own.id && Some(id) != self.status_id.as_ref());
        references
    }

    /// Makes the snapshot.
    pub(super) fn finish(mut self) -> ContextSnapshot {
        let mut own_apps = std::mem::take(&mut self.own.apps);
        sort_by_order(&mut own_apps, &self.own.app_order, |app| &app.name);
        let status = ClusterIndex::of(self.status.as_ref());
        let others = self.others.iter();
        let others = others.map(|(id, context)| (id, ClusterIndex::of(Some(context))));
        let from = Sources {
            own: &self.own.id,
            status_id: self.status_id.as_ref(),
            status,
            others: others.collect(),
        };
        let apps = own_apps.into_iter().filter_map(|app| from.app(app));
        let apps = apps.collect();
        let mut reads: BTreeSet<ContextId> = self.others.keys().cloned().collect();
        reads.extend(self.missing);
        reads.extend(self.status_id.clone());
        ContextSnapshot {
            created: self.own.created.unwrap_or_default(),
            meta: self.own.meta.or_else(|| self.status.as_ref()?.meta.clone()),
            status: self.own.status,
            status_changed: self.own.status_changed,
            status_context: self.status_id.unwrap_or_else(|| self.own.id.clone()),
            reads,
            stop_flag: self.own.stop_flag,
            apps,
            unreadable: unreadable(self.own.unreadable, self.status.as_ref()),
            id: self.own.id,
        }
    }
}

/// The contexts that the parts of one are joined with.
struct Sources<'m> {
    own: &'m ContextId,
    status_id: Option<&'m ContextId>,
    status: ClusterIndex<'m>,
    others: BTreeMap<&'m ContextId, ClusterIndex<'m>>,
}

impl Sources<'_> {
    /// Joins an app; none for one that rsync added for a later instance.
    fn app(&self, app: StoredApp) -> Option<AppSnapshot> {
        let had_clusters = !app.clusters.is_empty();
        let clusters = app.clusters.into_iter();
        let clusters = clusters.filter_map(|cluster| self.cluster(&app.name, cluster));
        let clusters: Vec<_> = clusters.collect();
        (!had_clusters || !clusters.is_empty()).then_some(AppSnapshot {
            name: app.name,
            depends_on: app.depends_on,
            clusters,
        })
    }

    fn cluster(&self, app: &str, mut own: StoredCluster) -> Option<ClusterSnapshot> {
        let status = self.status.find(app, &own);
        let connectivity = self.connectivity(app, &own, status);
        let had_resources = !own.resources.is_empty();
        if self.status_id.is_none() {
            own.resources.retain(|it| !it.is_of_a_later(self.own));
        }
        if had_resources && own.resources.is_empty() {
            return None;
        }
        sort_by_order(&mut own.resources, &own.resource_order, |it| &it.key_name);
        let index = ResourceIndex::of(status);
        let resources = own.resources.into_iter().map(|resource| {
            let yaml = self.manifest(app, &own.name, &resource, &index);
            let sent = index.find(&resource.key_name);
            ResourceSnapshot {
                status: sent.and_then(|it| it.status).or(resource.status),
                hook: own.hooks.get(&resource.key_name).copied(),
                manifest: yaml,
                name: resource.name,
                kind: resource.kind,
            }
        });
        let (bundle_status_json, is_bundle_damaged) = match status {
            Some(it) if it.is_bundle_damaged || it.bundle.is_some() => {
                (it.bundle.clone(), it.is_bundle_damaged)
            }
            _ => (own.bundle, own.is_bundle_damaged),
        };
        Some(ClusterSnapshot {
            resources: resources.collect(),
            bundle_status_json,
            is_bundle_damaged,
            cluster: own.cluster,
            group: own.group,
            connectivity,
        })
    }

    /// The connectivity that the context which acted last on the cluster has, else its own, else that
    /// in the status context.
    fn connectivity(
        &self,
        app: &str,
        own: &StoredCluster,
        status: Option<&StoredCluster>,
    ) -> Option<Connectivity> {
        let reference = status.unwrap_or(own).reference.as_ref();
        let acting = reference.and_then(|id| self.others.get(id));
        let acting = acting.and_then(|it| it.find(app, own)?.connectivity);
        let of_status = status.and_then(|it| it.connectivity);
        if reference.is_some() && reference == self.status_id {
            return of_status.or(own.connectivity);
        }
        acting.or(own.connectivity).or(of_status)
    }

    /// The manifest: its own, else that of the context that it refers to.
    fn manifest(
        &self,
        app: &str,
        cluster: &str,
        own: &StoredResource,
        status: &ResourceIndex<'_>,
    ) -> Option<String> {
        match &own.manifest {
            Manifest::Yaml(yaml) => return Some(yaml.clone()),
            Manifest::Damaged => return None,
            Manifest::Elsewhere => {}
        }
        let other = status.reference(own).and_then(|id| self.others.get(id));
        let other = other.and_then(|it| it.by_name(app, cluster));
        let other = other.and_then(|it| it.resources.iter().find(|it| it.key_name == own.key_name));
        let found = other.or_else(|| status.find(&own.key_name))?;
        found.yaml().map(str::to_owned)
    }
}

impl StoredResource {
    fn yaml(&self) -> Option<&str> {
        match &self.manifest {
            Manifest::Yaml(yaml) => Some(yaml),
            Manifest::Elsewhere | Manifest::Damaged => None,
        }
    }

    fn is_elsewhere(&self) -> bool {
        matches!(self.manifest, Manifest::Elsewhere)
    }

    /// Returns whether rsync added it to the status context `own` for a later instance.
    fn is_of_a_later(&self, own: &ContextId) -> bool {
        self.is_elsewhere() && self.reference.as_ref().is_some_and(|id| id != own)
    }
}

/// The clusters of a context by app and name.
#[derive(Default)]
struct ClusterIndex<'c>(HashMap<(&'c str, &'c str), &'c StoredCluster>);

impl<'c> ClusterIndex<'c> {
    fn of(context: Option<&'c StoredContext>) -> Self {
        let clusters = context.into_iter().flat_map(clusters);
        Self(
            clusters
                .map(|(app, it)| ((app, it.name.as_str()), it))
                .collect(),
        )
    }

    fn by_name(&self, app: &str, cluster: &str) -> Option<&'c StoredCluster> {
        self.0.get(&(app, cluster)).copied()
    }

    fn find(&self, app: &str, like: &StoredCluster) -> Option<&'c StoredCluster> {
        self.by_name(app, &like.name)
    }
}

/// The resources of a cluster by the name in their key.
#[derive(Default)]
struct ResourceIndex<'c>(HashMap<&'c str, &'c StoredResource>);

impl<'c> ResourceIndex<'c> {
    fn of(cluster: Option<&'c StoredCluster>) -> Self {
        let resources = cluster.into_iter().flat_map(|it| &it.resources);
        Self(resources.map(|it| (it.key_name.as_str(), it)).collect())
    }

    fn find(&self, key_name: &str) -> Option<&'c StoredResource> {
        self.0.get(key_name).copied()
    }

    /// The context that a resource refers to, in the status context or else in its own.
    fn reference<'r>(&self, own: &'r StoredResource) -> Option<&'r ContextId>
    where
        'c: 'r,
    {
        let found = self.find(&own.key_name);
        found
            .and_then(|it| it.reference.as_ref())
            .or(own.reference.as_ref())
    }
}

fn clusters(context: &StoredContext) -> impl Iterator<Item = (&str, &StoredCluster)> {
    let apps = context.apps.iter();
    apps.flat_map(|app| app.clusters.iter().map(|it| (app.name.as_str(), it)))
}

/// Values that could not be read, of the context and of the clusters in its status context.
fn unreadable(mut own: Vec<Unreadable>, status: Option<&StoredContext>) -> Vec<Unreadable> {
    if let Some(status) = status {
        own.extend(status.unreadable_in_clusters().cloned());
    }
    own
}

/// Moves what `order` names to the front, in that order; the rest stays in the order it has.
fn sort_by_order<T>(things: &mut [T], order: &[String], name: impl Fn(&T) -> &String) {
    let mut ranks = HashMap::new();
    for (rank, name) in order.iter().enumerate() {
        ranks.entry(name).or_insert(rank);
    }
    things.sort_by_key(|thing| ranks.get(name(thing)).copied().unwrap_or(usize::MAX));
}
