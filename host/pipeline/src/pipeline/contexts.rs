//! Contexts and records as they are stored.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use kindsight_appcontext::{ContextList, ContextSnapshot};
use kindsight_model::{ContextId, RecordSubject};
use kindsight_status::ApplicationKey;
use kindsight_store::{Error as StoreError, Revision, chain};

use super::store::NOT_READ_AGAIN;
use super::{Loaded, Pipeline};
use crate::Error;
use crate::application_state::ApplicationState;
use crate::groups::derived::Instance;
use crate::groups::own;
use crate::judge::Judge;

impl Pipeline {
    /// Publishes everything that is stored, so that queries are answered with the last known state.
    ///
    /// # Errors
    /// A store cannot be read.
    pub fn load(&mut self, now_ms: i64) -> Result<Loaded, Error> {
        let records = self.read_records()?;
        let contexts = self.read_contexts(now_ms)?.revision;
        let states = &self.states;
        self.publisher
            .retain_histories(|key| states.contains_key(key));
        self.recorded.publish();
        Ok(Loaded { contexts, records })
    }

    /// Reads every context, and returns the list of them.
    fn read_contexts(&mut self, now_ms: i64) -> Result<ContextList, Error> {
        let failed = |what: &str| {
            let what = what.to_owned();
            move |source| Error::Store { what, source }
        };
        let list = self.contexts.list();
        let list = list.map_err(failed("the list of AppContexts"))?;
        for id in &list.ids {
            match self.contexts.read(id) {
                Ok(snapshot) => self.reconcile(id, snapshot, now_ms),
                Err(error) if is_of_the_store(&error) => {
                    return Err(failed(&format!("AppContext {id}"))(error));
                }
                Err(error) => self.context_unreadable(id, &error, now_ms),
            }
        }
        Ok(list)
    }

    fn read_records(&mut self) -> Result<Revision, Error> {
        let read_model = self.publisher.read_model();
        let read = self.groups.read_all(&self.records, read_model);
        read.map_err(records_failed)
    }

    /// Handles a change of a context by any writer: everything that was read from it is read again.
    pub(super) fn context_changed(&mut self, id: &ContextId, revision: Revision, now_ms: i64) {
        if self.bundles.is_own(id, revision) {
            return;
        }
        self.refresh(id, now_ms);
        for reader in self.references.readers(id) {
            self.refresh(&reader, now_ms);
        }
    }

    /// Handles a change of a record. The contexts that it names are read where they are not known yet: the two
    /// may be in two stores, whose changes come in no order.
    pub(super) fn record_changed(&mut self, subject: &RecordSubject, now_ms: i64) {
        let record = match own::read(&self.records, subject) {
            Ok(record) => record,
            Err(error) => {
                own::unreadable(subject, &error);
                if is_of_the_store(&error) {
                    self.records_unread(now_ms);
                }
                return;
            }
        };
        let known: HashSet<ContextId> = self.groups.instances(subject).into_iter().collect();
        let named = record.iter().flat_map(|it| &it.actions);
        let named: BTreeSet<ContextId> = named.filter_map(|it| it.instance.clone()).collect();
        for id in named.iter().filter(|id| !known.contains(*id)) {
            let key = ApplicationKey::Context(id.clone());
            if !self.states.contains_key(&key) && self.store_away.is_none() {
                self.refresh(id, now_ms);
            }
        }
        self.groups
            .set(subject, record, self.publisher.read_model());
    }

    /// Reads a context again. Where the store does not answer it stays as it is, and is stale until it does.
    pub(super) fn refresh(&mut self, id: &ContextId, now_ms: i64) {
        match self.contexts.read(id) {
            Ok(snapshot) => self.reconcile(id, snapshot, now_ms),
            Err(error) if is_of_the_store(&error) => self.store_unread(&chain(&error), now_ms),
            Err(error) => self.context_unreadable(id, &error, now_ms),
        }
    }

    /// Handles that a context alone cannot be read: its last known state stays, and says so.
    fn context_unreadable(
        &mut self,
        id: &ContextId,
        error: &kindsight_appcontext::Error,
        now_ms: i64,
    ) {
        let error = chain(error);
        self.context_unread(id, now_ms);
        let fault: Arc<str> = format!("the AppContext cannot be read: {error}").into();
        let key = ApplicationKey::Context(id.clone());
        let is_new = if let Some(state) = self.states.get_mut(&key) {
            state.set_unread(fault)
        } else {
            let state = ApplicationState::unread(fault, self.swap.goal());
            self.states.insert(key.clone(), state);
            true
        };
        // Once for each reason: its writer may go on, and it is read again each minute.
        if !is_new {
            return;
        }
        tracing::error!(context = %id, error, "AppContext not readable; its last known state stays");
        if let Some(state) = self.states.get(&key) {
            self.publisher.publish(&key, state.view(&key), now_ms);
        }
    }

    /// Reconciles the state of a context with the store (none if it was deleted), and publishes it.
    fn reconcile(&mut self, id: &ContextId, mut snapshot: Option<ContextSnapshot>, now_ms: i64) {
        let key = ApplicationKey::Context(id.clone());
        let before = self.states.remove(&key);
        self.unread.remove(id);
        if let Some(snapshot) = &mut snapshot
            && snapshot.meta.is_none()
            && snapshot.is_meta_unreadable()
        {
            let last = before.as_ref().and_then(ApplicationState::context_meta);
            snapshot.meta = last.cloned();
        }
        self.references.set(id, snapshot.as_ref());
        let instance = snapshot.as_ref().map(Instance::of);
        let Some(snapshot) = snapshot else {
            // First the group, which names it.
            let read_model = self.publisher.read_model();
            self.groups.set_context(id, None, read_model);
            if before.is_some() {
                self.publisher.remove(&key);
            }
            self.recorded.set(id, None);
            return;
        };
        let status_context = snapshot.status_context.clone();
        let judge = Judge {
            interpreters: &self.interpreters,
            // A set that is published meanwhile is followed slice by slice.
            set: self.swap.goal(),
        };
        let mut state = ApplicationState::reconciled(snapshot, before, judge, now_ms);
        for other in self.references.shown_by(&status_context) {
            if let Some(sibling) = self.states.get(&ApplicationKey::Context(other)) {
                state.join(sibling, &self.interpreters, now_ms);
            }
        }
        for (cluster, cause) in &self.unreachable {
            state.change_all(cluster, |placement| placement.unreachable(cause));
        }
        for (cluster, faults) in &self.cluster_faults {
            state.change_all(cluster, |it| it.set_cluster_faults(faults));
        }
        if let Some(away) = &self.store_away {
            state.change_every(|it| it.store_away(away));
        }
        self.publisher.publish(&key, state.view(&key), now_ms);
        self.recorded.set(id, Some(state.deployments()));
        self.states.insert(key, state);
        // Last: who reads of it by its group finds it.
        let read_model = self.publisher.read_model();
        self.groups.set_context(id, instance, read_model);
        for (cluster, bundle) in self.unclaimed.claim(&status_context) {
            self.report(&cluster, bundle, now_ms);
        }
    }

    /// Reads every context again, and forgets those that are gone.
    ///
    /// # Errors
    /// The store cannot be read; the last known state stays.
    pub(super) fn read_again(&mut self, now_ms: i64) -> Result<(), Error> {
        self.bundles.forget_own();
        let list = self.read_contexts(now_ms)?;
        let stored: BTreeSet<ContextId> = list.ids.into_iter().collect();
        let known = self.states.keys().filter_map(ApplicationKey::context);
        let known: BTreeSet<ContextId> = known.cloned().collect();
        for id in known.difference(&stored) {
            self.reconcile(id, None, now_ms);
        }
        Ok(())
    }

    /// Handles changes of contexts that were missed.
    pub(super) fn resync(&mut self, now_ms: i64) {
        if let Err(error) = self.read_again(now_ms) {
            let error = chain(&error);
            tracing::error!(error, "{NOT_READ_AGAIN}");
            self.store_unread(&error, now_ms);
        }
    }

    /// Handles changes of records that were missed.
    pub(super) fn resync_records(&mut self, now_ms: i64) {
        self.records_again_at_ms = None;
        if let Err(error) = self.read_records() {
            tracing::error!(
                error = chain(&error),
                "the records cannot be read again; their last known state stays"
            );
            self.records_unread(now_ms);
        }
    }
}

/// Returns whether the store did not answer, so that what changed in it was missed. Other errors are of what was
/// read alone.
fn is_of_the_store(error: &kindsight_appcontext::Error) -> bool {
    use kindsight_appcontext::Error;
    let Error::Store(error) = error else {
        return false;
    };
    matches!(
        error,
        StoreError::Unavailable { .. } | StoreError::Denied { .. } | StoreError::Closed
    )
}

fn records_failed(source: kindsight_appcontext::Error) -> Error {
    let what = "the records of groups and clusters".to_owned();
    Error::Store { what, source }
}
