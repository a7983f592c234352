//! Contexts in memory, which follow the changed keys of a store.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kindsight_model::ContextId;
use kindsight_store::{Change, ChangeKind, Revision, Store};

use super::ContextSnapshot;
use super::assembled::Assembled;
use super::image::{Affected, AppInCluster, ContextImage};
use super::sources::Sources;
use crate::keys::{self, ContextKeys};
use crate::{AppContextChanges, AppContexts, Result};

/// Contexts in memory, updated by changed keys.
///
/// A caller marks contexts with [`read_again`](Self::read_again) or applies changed keys with
/// [`take`](Self::take). Then it calls [`update`](Self::update) for each context that is
/// [`pending`](Self::pending). A changed key decodes one value, and joins only the app in the
/// cluster that the key belongs to. Keys are read from the store only for contexts that are not in
/// memory yet, and for values that the store's watch no longer has.
#[derive(Default)]
pub struct ContextImages {
    images: HashMap<ContextId, ContextImage>,
    /// Contexts that others refer to and that do not exist.
    absent: BTreeSet<ContextId>,
    /// The contexts that the caller knows.
    assembled: HashMap<ContextId, Assembled>,
    /// By each context the contexts that were assembled from it.
    readers: HashMap<ContextId, BTreeSet<ContextId>>,
    /// Contexts that could not be read.
    unread: BTreeSet<ContextId>,
    pending: BTreeMap<ContextId, Pending>,
    /// Contexts whose reports are kept until their pending readers were updated.
    retained: BTreeSet<ContextId>,
}

/// The parts of a context that changed since it was last updated.
#[derive(Debug, Default)]
struct Pending {
    /// The context must be read from the store, at this revision or later.
    read_at: Option<Revision>,
    is_everything: bool,
    clusters: BTreeSet<AppInCluster>,
}

/// The result of updating a context in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextUpdate {
    /// The context is the same as at the last update.
    Unchanged,
    /// The context differs. Its reports are [`Unchanged`](super::StoredBundle::Unchanged) where they
    /// are the same as at the last update.
    Changed(Box<ContextSnapshot>),
    /// The context does not exist.
    Deleted,
}

impl ContextImages {
    /// Drops everything that was read, so that each context is read from the store again. The
    /// results of earlier updates are still known: an equal context is
    /// [`ContextUpdate::Unchanged`].
    ///
    /// `stored` are the contexts of the store, at the revision `at`.
    pub fn restart(&mut self, stored: &[ContextId], at: Revision) {
        self.images.clear();
        self.absent.clear();
        self.retained.clear();
        self.pending.clear();
        let known: Vec<ContextId> = self.assembled.keys().chain(&self.unread).cloned().collect();
        for id in known.iter().chain(stored) {
            self.read_again(id, at);
        }
    }

    /// Marks a context to be read from the store, as it was at the revision `at` or later.
    pub fn read_again(&mut self, id: &ContextId, at: Revision) {
        let pending = self.pending.entry(id.clone()).or_default();
        pending.read_at = pending.read_at.max(Some(at));
    }

    /// Returns whether a context is in memory, or is about to be read.
    pub fn knows(&self, id: &ContextId) -> bool {
        let is_marked = self.pending.contains_key(id) || self.unread.contains(id);
        is_marked || self.assembled.contains_key(id)
    }

    /// Returns whether nothing is in memory.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.images.is_empty()
            && self.assembled.is_empty()
            && (self.absent.is_empty() && self.retained.is_empty())
            && (self.readers.is_empty() && self.unread.is_empty())
            && self.pending.is_empty()
    }

    /// The next context to update.
    pub fn pending(&self) -> Option<ContextId> {
        self.pending.keys().next().cloned()
    }

    /// Applies the changed keys of one batch. Reports in contexts that `is_own` returns true for
    /// were written by the caller, so they are noted without a result.
    pub fn take(&mut self, changes: &AppContextChanges, is_own: impl Fn(&ContextId) -> bool) {
        let own = changes.contexts.iter().filter(|id| is_own(id));
        let own: BTreeSet<&ContextId> = own.collect();
        for (id, change) in &changes.keys {
            self.take_key(id, change, changes.revision, own.contains(id));
        }
    }

    fn take_key(&mut self, id: &ContextId, change: &Change, at: Revision, is_own: bool) {
        let is_unread = self.unread.contains(id);
        let Some(image) = self.images.get_mut(id).filter(|_| !is_unread) else {
            // Other keys without a root key belong to a context that is being created.
            let is_root = keys::context_of_root(&change.key).is_some();
            if is_unread || (is_root && change.kind == ChangeKind::Put) {
                self.read_again(id, at);
            }
            return;
        };
        if image.contains(at) {
            if !self.assembled.contains_key(id) {
                self.pending.entry(id.clone()).or_default().is_everything = true;
            }
            return;
        }
        let value = match (change.kind, &change.value) {
            (ChangeKind::Delete, _) => None,
            (ChangeKind::Put, Some(value)) => Some(&**value),
            (ChangeKind::Put, None) => return self.read_again(id, at),
        };
        match image.take(&change.key, value, at) {
            Affected::Nothing => {}
            Affected::Head => self.mark(id, |_| {}),
            Affected::Cluster(place) if is_own => self.note_own(id, &place),
            Affected::Cluster(place) => self.mark(id, |pending| {
                pending.clusters.insert(place.clone());
            }),
            Affected::Everything => self.mark(id, |pending| pending.is_everything = true),
            Affected::Deleted => {
                self.images.remove(id);
                if self.readers.contains_key(id) {
                    self.absent.insert(id.clone());
                }
                self.mark(id, |pending| pending.is_everything = true);
            }
        }
    }

    /// Marks a context and its readers.
    fn mark(&mut self, id: &ContextId, mut mark: impl FnMut(&mut Pending)) {
        let readers = self.readers.get(id).into_iter().flatten();
        let readers: Vec<ContextId> = readers.cloned().collect();
        for id in readers.iter().chain([id]) {
            mark(self.pending.entry(id.clone()).or_default());
        }
    }

    /// Notes a report that the caller wrote.
    fn note_own(&mut self, id: &ContextId, place: &AppInCluster) {
        let readers = self.readers.get(id).into_iter().flatten();
        let readers: Vec<ContextId> = readers.cloned().collect();
        for reader in readers.iter().chain([id]) {
            let Some(mut assembled) = self.assembled.remove(reader) else {
                continue;
            };
            if let Some(sources) = self.sources(reader, &BTreeSet::new()) {
                assembled.note_own(&sources, place);
            }
            self.assembled.insert(reader.clone(), assembled);
        }
        let image = self.images.get_mut(id);
        if let Some(cluster) = image.and_then(|image| image.cluster_mut(place)) {
            cluster.forget_report();
        }
    }

    /// Updates a pending context.
    ///
    /// # Errors
    /// Those of the store. The next change of the context reads it again.
    pub fn update(&mut self, contexts: &AppContexts, id: &ContextId) -> Result<ContextUpdate> {
        self.update_from(contexts.store(), id)
    }

    pub(super) fn update_from(
        &mut self,
        store: &dyn Store,
        id: &ContextId,
    ) -> Result<ContextUpdate> {
        let pending = self.pending.remove(id).unwrap_or_default();
        let updated = self.try_update(store, id, pending);
        if updated.is_ok() {
            self.unread.remove(id);
            self.forget_reports(id);
        } else {
            self.images.remove(id);
            self.unread.insert(id.clone());
        }
        updated
    }

    fn try_update(
        &mut self,
        store: &dyn Store,
        id: &ContextId,
        pending: Pending,
    ) -> Result<ContextUpdate> {
        let Pending {
            read_at,
            mut is_everything,
            clusters,
        } = pending;
        if let Some(at) = read_at {
            is_everything = true;
            if !self.images.get(id).is_some_and(|image| image.contains(at)) {
                self.read(store, id)?;
            }
        }
        let dirty = (!is_everything).then_some(&clusters);
        let mut assembled = self.assembled.remove(id).unwrap_or_default();
        let status_id = self.images.get(id).and_then(ContextImage::status_id);
        if let Some(status_id) = &status_id {
            self.ensure(store, status_id)?;
        }
        let none = BTreeSet::new();
        let Some(sources) = self.sources(id, &none) else {
            self.set_reads(id, &assembled.reads, &none);
            if !self.readers.contains_key(id) {
                self.absent.remove(id);
            }
            return Ok(ContextUpdate::Deleted);
        };
        let reads = assembled.refer(&sources, dirty);
        for other in &reads {
            self.ensure(store, other)?;
        }
        let Some(sources) = self.sources(id, &reads) else {
            return Ok(ContextUpdate::Deleted);
        };
        let before = std::mem::replace(&mut assembled.reads, reads.clone());
        let changed = assembled.join(store, &sources, before != reads)?;
        self.set_reads(id, &before, &reads);
        self.assembled.insert(id.clone(), assembled);
        Ok(changed.map_or(ContextUpdate::Unchanged, ContextUpdate::Changed))
    }

    /// A context, and the contexts in memory that it is joined with.
    fn sources<'s>(
        &'s self,
        id: &ContextId,
        reads: &'s BTreeSet<ContextId>,
    ) -> Option<Sources<'s>> {
        let own = self.images.get(id)?;
        let status_id = own.status_id();
        let others = reads
            .iter()
            .filter(|other| Some(*other) != status_id.as_ref());
        let others = others.filter_map(|other| Some((other, self.images.get(other)?)));
        Some(Sources {
            own,
            status: status_id.as_ref().and_then(|id| self.images.get(id)),
            others: others.collect(),
            status_id,
        })
    }

    /// Reads a context if it is not in memory.
    fn ensure(&mut self, store: &dyn Store, id: &ContextId) -> Result<()> {
        if self.images.contains_key(id) || self.absent.contains(id) {
            return Ok(());
        }
        self.read(store, id)
    }

    fn read(&mut self, store: &dyn Store, id: &ContextId) -> Result<()> {
        let range = store.range(ContextKeys::new(id).root())?;
        if let Some(image) = ContextImage::read(id, range) {
            self.absent.remove(id);
            self.images.insert(id.clone(), image);
        } else {
            self.absent.insert(id.clone());
            self.images.remove(id);
        }
        for reader in self.readers.get(id).into_iter().flatten() {
            let pending = self.pending.entry(reader.clone()).or_default();
            pending.is_everything = true;
        }
        Ok(())
    }

    /// Replaces the contexts that a context was assembled from.
    fn set_reads(
        &mut self,
        id: &ContextId,
        before: &BTreeSet<ContextId>,
        reads: &BTreeSet<ContextId>,
    ) {
        for other in before.difference(reads) {
            if let Some(readers) = self.readers.get_mut(other) {
                readers.remove(id);
                if readers.is_empty() {
                    self.readers.remove(other);
                    self.absent.remove(other);
                }
            }
        }
        for other in reads.difference(before) {
            let readers = self.readers.entry(other.clone()).or_default();
            readers.insert(id.clone());
        }
    }

    /// Drops the reports of an updated context, once no pending context may need them.
    fn forget_reports(&mut self, id: &ContextId) {
        self.retained.insert(id.clone());
        let (readers, pending, images) = (&self.readers, &self.pending, &mut self.images);
        self.retained.retain(|id| {
            let mut readers = readers.get(id).into_iter().flatten();
            let is_needed = readers.any(|reader| pending.contains_key(reader));
            if let Some(image) = images.get_mut(id).filter(|_| !is_needed) {
                image.forget_reports();
            }
            is_needed
        });
    }
}
