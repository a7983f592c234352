//! Contexts and records, as the store reader passes them on.

use std::sync::Arc;

use kindsight_appcontext::ContextSnapshot;
use kindsight_model::ContextId;
use kindsight_status::ApplicationKey;
use kindsight_store::Connection;

use super::Pipeline;
use crate::Error;
use crate::application_state::{ApplicationState, Changes};
use crate::groups::derived::Instance;
use crate::placement::Change;
use crate::remembered::RememberedStatuses;
use crate::store_reader::{ContextChange, RecordsChange, StoreChanges, StoreReader};

impl Pipeline {
    /// Publishes everything that is stored, so that queries are answered with the last known state. The result
    /// follows the changes after that, see [`follow`](crate::follow).
    ///
    /// # Errors
    /// A store cannot be read.
    pub fn load(&mut self, now_ms: i64) -> Result<StoreReader, Error> {
        let (contexts, records) = (self.contexts.clone(), self.records.clone());
        let mut reader = StoreReader::new(contexts, records, self.bundles.clone());
        let read = reader.load_records()?;
        self.groups.set_all(read, &mut self.publisher);
        reader.begin_load()?;
        let mut changed = Vec::new();
        while reader.update_next(&mut changed, now_ms)? {
            // One by one: the reports of a context are kept in memory no longer than needed.
            for (id, change) in changed.drain(..) {
                // A stored report may be newer or older than a changed manifest. Only the last-known statuses show
                // that a resource must wait.
                self.change_context(&id, change, None, now_ms);
            }
        }
        self.last_statuses = RememberedStatuses::default();
        let applications = &self.applications;
        self.publisher
            .retain_histories(|key| applications.contains(key));
        self.recorded.publish();
        Ok(reader)
    }

    /// Handles the changes of one step of the store reader.
    pub(super) fn take_stores(&mut self, changes: StoreChanges, now_ms: i64) {
        let StoreChanges {
            contexts,
            records,
            connection,
            permit,
        } = changes;
        if let Some(Connection::Away { since_ms, reason }) = &connection {
            let since_ms = i64::try_from(*since_ms).unwrap_or(now_ms);
            self.store_is_away(since_ms, reason, now_ms);
        }
        // Contexts first: records name them.
        for (id, change) in contexts {
            let previous = self.previous_instance(&id, &change);
            self.change_context(&id, change, previous.as_ref(), now_ms);
        }
        for change in records {
            match change {
                RecordsChange::One(subject, record) => {
                    self.groups.set(&subject, record, &mut self.publisher);
                }
                RecordsChange::All(read) => self.groups.set_all(read, &mut self.publisher),
            }
        }
        // Last: everything that changed during an outage was read.
        if connection == Some(Connection::Connected) {
            self.store_is_back(now_ms);
        }
        // The reader may send the next changes.
        drop(permit);
    }

    /// The instance that a changed context replaces.
    fn previous_instance(&self, id: &ContextId, change: &ContextChange) -> Option<ContextId> {
        let ContextChange::Read(snapshot) = change else {
            return None;
        };
        let others = self.references.shown_by(&snapshot.status_context);
        self.groups.previous(id, &Instance::of(snapshot), others)
    }

    fn change_context(
        &mut self,
        id: &ContextId,
        change: ContextChange,
        previous: Option<&ContextId>,
        now_ms: i64,
    ) {
        match change {
            ContextChange::Read(snapshot) => self.reconcile(id, *snapshot, previous, now_ms),
            ContextChange::Deleted => self.forget_context(id, now_ms),
            ContextChange::Unreadable(error) => self.context_unreadable(id, &error, now_ms),
            ContextChange::Readable => self.context_readable(id, now_ms),
        }
    }

    /// Handles that a context alone cannot be read. Its last known state stays, with a fault.
    fn context_unreadable(&mut self, id: &ContextId, error: &str, now_ms: i64) {
        let fault: Arc<str> = format!("the AppContext cannot be read: {error}").into();
        let key = ApplicationKey::Context(id.clone());
        let known = self.applications.update(&key, &self.shared, |state| {
            state.set_unread(Some(Arc::clone(&fault)))
        });
        let is_new = known.unwrap_or_else(|| {
            let state = ApplicationState::unread(fault, self.swap.goal());
            self.applications.insert(&key, state, &self.shared);
            true
        });
        // The log has one line for each reason: a context is read again each minute.
        if !is_new {
            return;
        }
        tracing::error!(context = %id, error, "AppContext not readable; its last known state stays");
        self.publish_changes(&key, &Changes::default(), now_ms);
    }

    fn context_readable(&mut self, id: &ContextId, now_ms: i64) {
        let key = ApplicationKey::Context(id.clone());
        let change = |state: &mut ApplicationState| state.set_unread(None);
        if self.applications.update(&key, &self.shared, change) == Some(true) {
            self.publish_changes(&key, &Changes::default(), now_ms);
        }
    }

    /// Handles that a context was deleted.
    fn forget_context(&mut self, id: &ContextId, now_ms: i64) {
        let key = ApplicationKey::Context(id.clone());
        let before = self.applications.remove(&key);
        self.references.set(id, None);
        // The group names the context, so it changes first.
        self.groups.set_context(id, None, &mut self.publisher);
        if before.is_some() {
            self.publisher.remove(&key, now_ms);
        }
        self.recorded.set(id, None);
    }

    /// Reconciles the state of a context with the store, and publishes it. `previous` is the instance that it replaces.
    fn reconcile(
        &mut self,
        id: &ContextId,
        mut snapshot: ContextSnapshot,
        previous: Option<&ContextId>,
        now_ms: i64,
    ) {
        let key = ApplicationKey::Context(id.clone());
        let before = self.applications.remove(&key);
        if snapshot.meta.is_none() && snapshot.is_meta_unreadable() {
            let last = before.as_ref().and_then(ApplicationState::context_meta);
            snapshot.meta = last.cloned();
        }
        let status_context = snapshot.status_context.clone();
        self.references.set(id, Some(&status_context));
        let instance = Instance::of(&snapshot);
        // A set that is published meanwhile is followed slice by slice.
        let (goal, shared) = (self.swap.goal(), &self.shared);
        let mut state = ApplicationState::reconciled(snapshot, before, goal, shared, now_ms);
        for other in self.references.shown_by(&status_context) {
            if let Some(sibling) = self.applications.get(&ApplicationKey::Context(other)) {
                state.join(sibling, shared, now_ms);
            }
        }
        let last = self.last_statuses.of(id, &status_context);
        state.restore_statuses(&last, shared, now_ms);
        let previous = previous.map(|id| ApplicationKey::Context(id.clone()));
        if let Some(previous) = previous.and_then(|key| self.applications.get(&key)) {
            state.succeed(previous, shared, now_ms);
        }
        if let Some(away) = &self.store_away {
            state.apply_all(|_| true, || Change::Store(Some(away)), shared, now_ms);
        }
        self.publisher.publish(&key, state.view(&key), &[], now_ms);
        self.recorded.set(id, Some(state.deployments()));
        self.applications.insert(&key, state, &self.shared);
        // Last: a reader that finds the context by its group finds its state too.
        self.groups
            .set_context(id, Some(instance), &mut self.publisher);
        self.claim_reports(&status_context, now_ms);
    }
}
