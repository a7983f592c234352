//! A context as it was last joined with the contexts that it refers to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kindsight_model::ContextId;
use kindsight_store::Store;

use super::image::{AppImage, AppInCluster, ContextImage};
use super::piece::Piece;
use super::sources::{Sources, sort_by_order};
use super::{AppSnapshot, ClusterSnapshot, ContextSnapshot};
use crate::keys::ContextKeys;
use crate::{Result, Unreadable};

/// The maximum number of contexts that one context refers to, apart from its status context. A group
/// refers to at most one context for each of its updates, and only to contexts that acted last on a
/// cluster.
pub const REFERENCES_MAX: usize = 64;

/// A joined context, by app and cluster.
#[derive(Default)]
pub(super) struct Assembled {
    pieces: BTreeMap<AppInCluster, Piece>,
    /// The contexts that it was joined from, whether they exist or not.
    pub(super) reads: BTreeSet<ContextId>,
    /// The number of contexts that it refers to, apart from its status context.
    references: usize,
    /// The last result. Its reports are all `Unchanged`.
    snapshot: Option<ContextSnapshot>,
}

impl Assembled {
    /// Updates the references of the changed apps in clusters, or of all if `dirty` is `None`.
    /// Returns the contexts to join.
    pub(super) fn refer(
        &mut self,
        sources: &Sources<'_>,
        dirty: Option<&BTreeSet<AppInCluster>>,
    ) -> BTreeSet<ContextId> {
        let places = sources.own.clusters();
        let places = places.map(|(app, cluster)| (app.name.clone(), cluster.name.clone()));
        let places: BTreeSet<AppInCluster> = places.collect();
        self.pieces.retain(|place, _| places.contains(place));
        for place in places {
            let is_dirty = dirty.is_none_or(|dirty| dirty.contains(&place));
            if is_dirty || !self.pieces.contains_key(&place) {
                let references = sources.references(&place);
                let piece = self.pieces.entry(place).or_default();
                piece.references = references;
                piece.must_join = true;
            }
        }
        let references = self.pieces.values().flat_map(|piece| &piece.references);
        let mut references: BTreeSet<&ContextId> = references.collect();
        references.retain(|id| **id != sources.own.id && Some(*id) != sources.status_id.as_ref());
        self.references = references.len();
        let reads = references.into_iter().take(REFERENCES_MAX);
        reads.chain(&sources.status_id).cloned().collect()
    }

    /// Joins the changed apps in clusters, or all. Returns the context if it differs.
    pub(super) fn join(
        &mut self,
        store: &dyn Store,
        sources: &Sources<'_>,
        is_all: bool,
    ) -> Result<Option<Box<ContextSnapshot>>> {
        let mut reports = BTreeMap::new();
        for (place, piece) in &mut self.pieces {
            if (is_all || piece.must_join)
                && let Some(report) = piece.join(store, sources, place)?
            {
                reports.insert(place.clone(), report);
            }
        }
        let mut next = snapshot(sources, &self.pieces, &self.reads);
        if self.references > REFERENCES_MAX {
            let why = format!(
                "it refers to {} other contexts, of which {REFERENCES_MAX} are read",
                self.references
            );
            let key = ContextKeys::new(&next.id).root().to_owned();
            next.unreadable.push(Unreadable { key, why });
        }
        let before = self.snapshot.as_ref();
        if reports.is_empty() && before.is_some_and(|before| is_same(before, &next)) {
            return Ok(None);
        }
        self.snapshot = Some(next.clone());
        for app in &mut next.apps {
            for cluster in &mut app.clusters {
                let place = (app.name.clone(), cluster.cluster.to_string());
                if let Some(report) = reports.remove(&place) {
                    cluster.bundle = report;
                }
            }
        }
        Ok(Some(Box::new(next)))
    }

    /// Notes a report that the caller wrote.
    pub(super) fn note_own(&mut self, sources: &Sources<'_>, place: &AppInCluster) {
        if let Some(piece) = self.pieces.get_mut(place) {
            piece.note_own(&sources.report(place));
        }
    }
}

/// The context without its reports.
fn snapshot(
    sources: &Sources<'_>,
    pieces: &BTreeMap<AppInCluster, Piece>,
    reads: &BTreeSet<ContextId>,
) -> ContextSnapshot {
    let (own, status) = (sources.own, sources.status);
    let mut apps: Vec<&AppImage> = own.apps().collect();
    if let Some(order) = own.app_order.get() {
        sort_by_order(&mut apps, order, |app| &app.name);
    }
    let apps = apps.into_iter().filter_map(|app| {
        let clusters = app.clusters().filter_map(|cluster| {
            let piece = pieces.get(&(app.name.clone(), cluster.name.clone()))?;
            piece.snapshot.clone()
        });
        let clusters: Vec<ClusterSnapshot> = clusters.collect();
        // rsync added an app for a later instance if it did so for each of its clusters.
        let is_of_this = app.clusters().next().is_none() || !clusters.is_empty();
        is_of_this.then(|| AppSnapshot {
            name: app.name.clone(),
            depends_on: app.depends_on.get().cloned().unwrap_or_default(),
            clusters,
        })
    });
    let meta = own.meta.get().or_else(|| status?.meta.get());
    let in_status = status
        .into_iter()
        .flat_map(ContextImage::unreadable_in_clusters);
    let incomplete = pieces.values().filter_map(|piece| piece.incomplete.clone());
    let unreadable = own.unreadable().into_iter().chain(in_status);
    ContextSnapshot {
        id: own.id.clone(),
        created: own.created,
        meta: meta.cloned(),
        status: own.status.get().cloned(),
        status_changed: own.status_changed,
        status_context: sources.status_id.as_ref().unwrap_or(&own.id).clone(),
        reads: reads.clone(),
        stop_flag: own.stop_flag.get().copied().unwrap_or_default(),
        apps: apps.collect(),
        unreadable: unreadable.chain(incomplete).collect(),
    }
}

/// Returns whether two results are equal. Equal resources are shared, so they are not compared one
/// by one.
fn is_same(before: &ContextSnapshot, next: &ContextSnapshot) -> bool {
    let is_same_head = (&before.meta, &before.status, before.status_changed)
        == (&next.meta, &next.status, next.status_changed)
        && (before.created, &before.status_context, &before.reads)
            == (next.created, &next.status_context, &next.reads)
        && (before.stop_flag, &before.unreadable) == (next.stop_flag, &next.unreadable);
    let apps = before.apps.iter().zip(&next.apps);
    is_same_head
        && before.apps.len() == next.apps.len()
        && apps
            .into_iter()
            .all(|(before, next)| is_same_app(before, next))
}

fn is_same_app(before: &AppSnapshot, next: &AppSnapshot) -> bool {
    let mut clusters = before.clusters.iter().zip(&next.clusters);
    (&before.name, &before.depends_on) == (&next.name, &next.depends_on)
        && before.clusters.len() == next.clusters.len()
        && clusters.all(|(before, next)| {
            (&before.cluster, &before.group, before.connectivity)
                == (&next.cluster, &next.group, next.connectivity)
                && Arc::ptr_eq(&before.resources, &next.resources)
        })
}
