//! The `AppContext` library: creates, reads, updates and deletes contexts.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use kindsight_model::{ClusterName, Connectivity, ContextId, ContextStatus, RsyncStatus};
use kindsight_store::{Batch, Error as StoreError, Revision, Store};
use serde::Serialize;

use crate::bundle;
use crate::changes::AppContextWatch;
use crate::composite_app::CompositeApp;
use crate::creation::{self, NewContext, NewInstance};
use crate::deployed::Place;
use crate::keys::{self, ClusterKeys, ContextKeys, ResourceName};
use crate::snapshot::{self, ContextSnapshot};
use crate::status::StatusValue;
use crate::sweep::{self, Creations};
use crate::{Error, Result, go_json};

/// The number of ids that are tried before a creation gives up. One is enough, because ids are
/// random; the others are for a collision.
const ID_ATTEMPTS_MAX: usize = 4;

/// The outcome of recording a state or a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "nothing is recorded when its context is not found"]
pub enum Recorded {
    /// It is stored. A watch reports the change with this revision.
    Written(Revision),
    /// The same was stored already; nothing was written.
    Unchanged,
    /// The context, app, cluster or resource does not exist or was deleted; nothing was written.
    NotFound,
}

/// The contexts of a store at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextList {
    /// The ids, in bytewise order of their keys.
    pub ids: Vec<ContextId>,
    /// The revision to watch after, see [`AppContexts::watch`].
    pub revision: Revision,
}

/// The new rsync status of one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusChange<'a> {
    /// The name of the app.
    pub app: &'a str,
    /// The cluster that it runs in.
    pub cluster: &'a ClusterName,
    /// The resource of the app in that cluster.
    pub resource: &'a ResourceName,
    /// The new status.
    pub status: RsyncStatus,
}

/// The contexts of a store. Cheap to clone; clones share the store.
#[derive(Clone)]
pub struct AppContexts {
    store: Arc<dyn Store>,
}

impl AppContexts {
    /// Opens the contexts of a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store }
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Draws an id for a context that is created later, under [`AppContexts::create_as`].
    ///
    /// # Errors
    /// None in practice: each drawn number is an id.
    pub fn new_id(&self) -> Result<ContextId> {
        draw_id()
    }

    /// Creates a context under a new id, all of it at once.
    ///
    /// # Errors
    /// As [`AppContexts::create_as`].
    pub fn create(&self, new: &NewContext) -> Result<ContextId> {
        let mut attempts_left = ID_ATTEMPTS_MAX;
        loop {
            attempts_left -= 1;
            let id = draw_id()?;
            match self.create_as(&id, new) {
                Err(Error::Store(StoreError::Conflict { .. })) if attempts_left > 0 => {}
                done => return done.map(|()| id),
            }
        }
    }

    /// Creates a context under a given id. Readers see either the complete context or no context.
    ///
    /// A context that is larger than one batch of the store is written in several batches, the root key
    /// last. A mark of kindsight names the creation until then. If the creator ends early,
    /// [`AppContexts::sweep`] removes the remains.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the id is taken, [`Error::Name`] for an impossible name or a
    /// negative id, [`Error::Swept`] when it was swept meanwhile,
    /// [`StoreError::DuplicateKey`] when an app, a cluster of an app or a resource in a cluster is
    /// named twice.
    pub fn create_as(&self, id: &ContextId, new: &NewContext) -> Result<()> {
        creation::create(&*self.store, id, new)
    }

    /// Creates the context of an instance under a given id. As [`AppContexts::create_as`].
    ///
    /// # Errors
    /// As [`AppContexts::create_as`].
    pub fn create_instance(&self, id: &ContextId, new: &NewInstance) -> Result<()> {
        creation::create_instance(&*self.store, id, new)
    }

    /// Creates an empty context under a new id, to be filled step by step.
    ///
    /// Readers see it grow. Readers see a context of [`AppContexts::create`] only when it is complete.
    ///
    /// # Errors
    /// Those of the store.
    pub fn create_composite_app(&self) -> Result<CompositeApp> {
        let mut attempts_left = ID_ATTEMPTS_MAX;
        loop {
            attempts_left -= 1;
            match self.create_composite_app_as(&draw_id()?) {
                Err(Error::Store(StoreError::Conflict { .. })) if attempts_left > 0 => {}
                done => return done,
            }
        }
    }

    /// Creates an empty context under a given id, to be filled step by step.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the id is taken, [`Error::Name`] for a negative one.
    pub fn create_composite_app_as(&self, id: &ContextId) -> Result<CompositeApp> {
        creation::check_id(id)?;
        let (root, mark) = (ContextKeys::new(id), keys::creation(id));
        let batch = Batch::new().absent(root.root()).absent(mark);
        let batch = batch.put(root.root(), go_json::encode(id.as_str())?);
        self.store.apply(&batch)?;
        Ok(CompositeApp::new(&self.store, id))
    }

    /// Loads a context: a handle on one that exists.
    ///
    /// # Errors
    /// [`Error::NotFound`] when it does not exist.
    pub fn load(&self, id: &ContextId) -> Result<CompositeApp> {
        CompositeApp::new(&self.store, id).existing()
    }

    /// Removes a context and everything in it; false when it did not exist.
    pub fn delete(&self, id: &ContextId) -> Result<bool> {
        CompositeApp::new(&self.store, id).delete()
    }

    /// Removes the remains of creations whose creator ended early, and the unused parts of large reports.
    /// Returns the number of these creations.
    ///
    /// A creation renews its mark with each batch. A creation counts as ended if its mark is the same as
    /// at the last sweep, so call this at intervals of a minute or more, with the same `seen`. If the
    /// creator was only slow, its next batch is refused with [`Error::Swept`].
    ///
    /// # Errors
    /// Those of the store.
    pub fn sweep(&self, seen: &mut Creations) -> Result<usize> {
        let swept = sweep::sweep(&*self.store, seen)?;
        bundle::sweep(&*self.store)?;
        Ok(swept)
    }

    /// Lists all contexts. Ids that are not a decimal number below 2^63 are left out: no label can
    /// name them.
    ///
    /// Walks every key of every context: for the start and for operators, not for queries.
    pub fn list(&self) -> Result<ContextList> {
        let range = self.store.keys(keys::CONTEXTS)?;
        let ids = range
            .keys
            .iter()
            .filter_map(|key| keys::context_of_root(key));
        Ok(ContextList {
            ids: ids.collect(),
            revision: range.revision,
        })
    }

    /// Watches the contexts of the store from the revision `after` on, and nothing else: keys under
    /// `/context/` alone.
    ///
    /// A caller that wants to know everything lists the contexts first, then reads them, and watches
    /// after the revision of that list: nothing is missed, and a change that was read already may be
    /// reported.
    ///
    /// # Errors
    /// [`StoreError::Compacted`] when the store does not keep changes that far back: read
    /// everything again.
    pub fn watch(&self, after: Revision) -> Result<AppContextWatch> {
        Ok(AppContextWatch::new(
            self.store.watch(keys::CONTEXTS, after)?,
        ))
    }

    /// Reads one context with its references. Returns `None` if it does not exist.
    ///
    /// Reads one range for the context, one for its status context, and one for each other context in
    /// [`ContextSnapshot::reads`], at most [`REFERENCES_MAX`](crate::REFERENCES_MAX). A report in parts is
    /// one more range.
    ///
    /// A damaged value is listed in [`ContextSnapshot::unreadable`] and affects no other value.
    pub fn read(&self, id: &ContextId) -> Result<Option<ContextSnapshot>> {
        snapshot::read(&*self.store, id)
    }

    /// Records the state of a context.
    pub fn record_status(&self, id: &ContextId, status: ContextStatus) -> Result<Recorded> {
        let keys = ContextKeys::new(id);
        self.record(keys.root(), keys.status(), &StatusValue { status })
    }

    /// Sets the flag that asks the orchestrator to stop working on a context, or clears it.
    pub fn record_stop_flag(&self, id: &ContextId, stop: bool) -> Result<Recorded> {
        let keys = ContextKeys::new(id);
        self.record(keys.root(), keys.stop_flag(), &stop)
    }

    /// Records the report of the monitor in a cluster on one app: the `status` of its
    /// ResourceBundleState, as JSON text that the caller has decoded already.
    ///
    /// Called once per report. An unchanged bundle is not written again. One that takes more than
    /// [`BUNDLE_STORED_BYTES_MAX`](crate::BUNDLE_STORED_BYTES_MAX) is kept in parts of our own, which
    /// [`AppContexts::read`] puts together; other readers see one without its largest items.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] for a bundle that does not fit in parts either, or that is no JSON
    /// object and does not fit; the old one stays.
    pub fn record_bundle(
        &self,
        id: &ContextId,
        app: &str,
        cluster: &ClusterName,
        status_json: &str,
    ) -> Result<Recorded> {
        let keys = cluster_keys(id, app, cluster)?;
        bundle::record(&*self.store, &keys, status_json)
    }

    /// Records the outcome of the last attempt to reach a cluster for one app.
    pub fn record_connectivity(
        &self,
        id: &ContextId,
        app: &str,
        cluster: &ClusterName,
        connectivity: Connectivity,
    ) -> Result<Recorded> {
        let keys = cluster_keys(id, app, cluster)?;
        self.record(keys.root(), keys.connectivity(), &connectivity)
    }

    /// Records the rsync statuses of some resources of a context: all of them or none.
    ///
    /// [`Recorded::NotFound`] when any of the resources does not exist.
    ///
    /// # Errors
    /// [`StoreError::DuplicateKey`] when a resource is named twice.
    pub fn record_resource_statuses(
        &self,
        id: &ContextId,
        changes: &[StatusChange<'_>],
    ) -> Result<Recorded> {
        let mut batch = Batch::new();
        for change in changes {
            let keys = cluster_keys(id, change.app, change.cluster)?.resource(change.resource);
            let status = StatusValue {
                status: change.status,
            };
            batch = self.add_change(batch, keys.root(), keys.status(), &status)?;
        }
        self.apply_record(&batch)
    }

    /// Records the live object of a resource, as JSON, for an orchestrator that reads it from the store.
    /// [`Recorded::NotFound`] if the context does not have the resource.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`]; the old object stays.
    pub fn record_live_object(
        &self,
        id: &ContextId,
        place: &Place,
        json: &str,
    ) -> Result<Recorded> {
        let keys = cluster_keys(id, &place.app, &place.cluster)?.resource(&place.resource);
        self.record(keys.root(), keys.definition(), json)
    }

    fn record<T>(&self, owner: &str, key: String, value: &T) -> Result<Recorded>
    where
        T: Serialize + ?Sized,
    {
        let batch = self.add_change(Batch::new(), owner, key, value)?;
        self.apply_record(&batch)
    }

    /// Adds a write of `key`, on the condition that its `owner` exists, unless it has that value.
    fn add_change<T: Serialize + ?Sized>(
        &self,
        batch: Batch,
        owner: &str,
        key: String,
        value: &T,
    ) -> Result<Batch> {
        let value = go_json::encode(value)?.into_bytes();
        if self.store.get(&key)?.as_ref() == Some(&value) {
            return Ok(batch);
        }
        Ok(batch.present(owner).put(key, value))
    }

    fn apply_record(&self, batch: &Batch) -> Result<Recorded> {
        if batch.writes().is_empty() {
            return Ok(Recorded::Unchanged);
        }
        match self.store.apply(batch) {
            Ok(revision) => Ok(Recorded::Written(revision)),
            Err(StoreError::Conflict { .. }) => Ok(Recorded::NotFound),
            Err(error) => Err(error.into()),
        }
    }
}

fn cluster_keys(id: &ContextId, app: &str, cluster: &ClusterName) -> Result<ClusterKeys> {
    Ok(ContextKeys::new(id).app(app)?.cluster(cluster))
}

/// Draws a random id below 2^63.
///
/// The operating system draws the seeds of the standard library's hash maps, which are used here. An id
/// must be unlikely to repeat, and is no secret.
fn draw_id() -> Result<ContextId> {
    let below_2_63 = RandomState::new().build_hasher().finish() >> 1;
    let id = below_2_63.to_string();
    id.parse().map_err(|_| Error::Name {
        name: id,
        expected: "an AppContext id",
    })
}

#[cfg(test)]
pub(crate) mod counting;
#[cfg(test)]
mod tests;
