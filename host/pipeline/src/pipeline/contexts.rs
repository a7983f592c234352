//! Contexts and records as they are stored, and the references between contexts.

use std::collections::{BTreeSet, HashMap, HashSet};

use kindsight_appcontext::{ContextList, ContextSnapshot};
use kindsight_model::{ContextId, RecordSubject};
use kindsight_status::ApplicationKey;
use kindsight_store::{Error as StoreError, Revision, chain};

use super::store::NOT_READ_AGAIN;
use super::{Loaded, Pipeline};
use crate::application_state::ApplicationState;
use crate::groups::derived::Instance;
use crate::judge::Judge;
use crate::{Error, groups};

/// The contexts that others were read from, and those whose statuses are kept beside another one.
#[derive(Default)]
pub(super) struct References {
    /// By each context its own references.
    of: HashMap<ContextId, Reference>,
    /// By each context those that were read from it.
    readers: HashMap<ContextId, BTreeSet<ContextId>>,
    /// By each context those whose status context it is.
    shown_by: HashMap<ContextId, BTreeSet<ContextId>>,
}

#[derive(Default)]
struct Reference {
    status_context: Option<ContextId>,
    reads: BTreeSet<ContextId>,
}

impl References {
    fn set(&mut self, id: &ContextId, snapshot: Option<&ContextSnapshot>) {
        let before = self.of.remove(id).unwrap_or_default();
        for other in &before.reads {
            remove(&mut self.readers, other, id);
        }
        if let Some(other) = &before.status_context {
            remove(&mut self.shown_by, other, id);
        }
        let Some(snapshot) = snapshot else {
            return;
        };
        for other in &snapshot.reads {
            let readers = self.readers.entry(other.clone()).or_default();
            readers.insert(id.clone());
        }
        let shown = self.shown_by.entry(snapshot.status_context.clone());
        shown.or_default().insert(id.clone());
        let reference = Reference {
            status_context: Some(snapshot.status_context.clone()),
            reads: snapshot.reads.clone(),
        };
        self.of.insert(id.clone(), reference);
    }

    /// The contexts whose apps are reported under the id of a context.
    pub(super) fn shown_by(&self, id: &ContextId) -> Vec<ContextId> {
        let shown = self.shown_by.get(id).into_iter().flatten();
        shown.cloned().collect()
    }

    fn readers(&self, id: &ContextId) -> Vec<ContextId> {
        let readers = self.readers.get(id).into_iter().flatten();
        readers.filter(|it| *it != id).cloned().collect()
    }
}

fn remove(sets: &mut HashMap<ContextId, BTreeSet<ContextId>>, key: &ContextId, id: &ContextId) {
    if let Some(ids) = sets.get_mut(key) {
        ids.remove(id);
        if ids.is_empty() {
            sets.remove(key);
        }
    }
}

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
            let snapshot = self.contexts.read(id);
            let snapshot = snapshot.map_err(failed(&format!("AppContext {id}")))?;
            self.reconcile(id, snapshot, now_ms);
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
        let record = match groups::read(&self.records, subject) {
            Ok(record) => record,
            Err(error) => {
                groups::unreadable(subject, &error);
                if is_unavailable(&error) {
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

    /// Reads a context again. One that cannot be read stays as it is, and is stale until the store answers.
    pub(super) fn refresh(&mut self, id: &ContextId, now_ms: i64) {
        match self.contexts.read(id) {
            Ok(snapshot) => self.reconcile(id, snapshot, now_ms),
            Err(error) => {
                tracing::error!(context = %id, error = chain(&error), "AppContext not readable; its last known state stays");
                if is_unavailable(&error) {
                    self.store_unread(&chain(&error), now_ms);
                }
            }
        }
    }

    /// Reconciles the state of a context with the store (none if it was deleted), and publishes it.
    fn reconcile(&mut self, id: &ContextId, snapshot: Option<ContextSnapshot>, now_ms: i64) {
        let key = ApplicationKey::Context(id.clone());
        let before = self.states.remove(&key);
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

/// Returns whether the store did not answer, so that what changed in it was missed.
fn is_unavailable(error: &kindsight_appcontext::Error) -> bool {
    use kindsight_appcontext::Error;
    matches!(error, Error::Store(StoreError::Unavailable { .. }))
}

fn records_failed(source: kindsight_appcontext::Error) -> Error {
    let what = "the records of groups and clusters".to_owned();
    Error::Store { what, source }
}
