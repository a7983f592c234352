//! The task that writes what is known.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use kindsight_clusters::RemoteInventories;
use kindsight_read_model::{Lagged, ReadModel, Subscription};
use kindsight_status::{ApplicationKey, ChangedSubject};
use kindsight_store::{Error, chain};
use tokio_util::sync::CancellationToken;

use super::contents::Entry;
use super::inventories::WrittenInventories;
use super::pace::{Pace, WaitingValues, WrittenView};
use super::pending::Pending;
use super::values::{application, clusters};
use super::{RememberedFile, keys};
use crate::run::RunError;

/// Time for which changes are gathered before they are written.
pub(super) const WRITE_EVERY: Duration = Duration::from_secs(2);

/// Time after which it is noted again until when a cluster is current, although nothing else is written.
const NOTE_EVERY_MS: i64 = 60_000;

/// Number of applications per batch. The complete batch is in memory.
const APPLICATIONS_PER_BATCH: usize = 64;

impl RememberedFile {
    /// Writes the changes of the read model and of the inventories every [`WRITE_EVERY`] until `shutdown`, and once more
    /// at the end. A large value is written less often. A change that cannot be written is tried again.
    ///
    /// # Errors
    /// [`RunError::Panicked`] if a write panicked.
    pub async fn follow(
        self,
        read_model: ReadModel,
        inventories: RemoteInventories,
        clock: fn() -> i64,
        shutdown: CancellationToken,
    ) -> Result<(), RunError> {
        let ((), mut changes) = read_model.subscribe(|_| ());
        let mut writer = Writer::new(self, read_model, inventories);
        loop {
            let waited = tokio::time::sleep(WRITE_EVERY);
            let is_last = shutdown.run_until_cancelled(waited).await.is_none();
            writer.note(&mut changes);
            let written = tokio::task::spawn_blocking(move || {
                writer.write(clock(), is_last);
                writer
            });
            writer = written.await.map_err(|_| RunError::Panicked)?;
            if is_last {
                return Ok(());
            }
        }
    }
}

/// The file, and what has to be looked at.
pub(crate) struct Writer {
    file: RememberedFile,
    read_model: ReadModel,
    inventories: RemoteInventories,
    changed: BTreeSet<ApplicationKey>,
    /// True if any application may have changed.
    is_all_changed: bool,
    /// The views whose values are in the file, by the keys of the values.
    views: HashMap<String, WrittenView>,
    waiting: WaitingValues,
    written_inventories: WrittenInventories,
    /// When it was last noted until when clusters are current.
    noted_ms: i64,
    /// True if the log says that the file is full.
    is_told_full: bool,
}

impl Writer {
    pub(crate) fn new(
        file: RememberedFile,
        read_model: ReadModel,
        inventories: RemoteInventories,
    ) -> Self {
        Self {
            file,
            read_model,
            inventories,
            changed: BTreeSet::new(),
            is_all_changed: true,
            views: HashMap::new(),
            waiting: WaitingValues::default(),
            written_inventories: WrittenInventories::default(),
            noted_ms: i64::MIN,
            is_told_full: false,
        }
    }

    /// Notes which applications changed.
    pub(crate) fn note(&mut self, changes: &mut Subscription) {
        loop {
            match changes.next_now() {
                Ok(Some(changed)) => {
                    if let ChangedSubject::Application(key) = changed.subject {
                        self.changed.insert(key);
                    }
                }
                Err(Lagged::Missed(_)) => self.is_all_changed = true,
                Ok(None) | Err(Lagged::Closed) => return,
            }
        }
    }

    /// Writes the changes. A change that fails is written with the next ones.
    pub(crate) fn write(&mut self, now_ms: i64, is_last: bool) {
        if let Err(error) = self.try_write(now_ms, is_last) {
            self.is_all_changed = true;
            tracing::warn!(
                error = chain(&error),
                "what is known could not be kept for the next start; trying again"
            );
        }
    }

    fn try_write(&mut self, now_ms: i64, is_last: bool) -> Result<(), Error> {
        let mut changed = std::mem::take(&mut self.changed);
        let is_all = std::mem::take(&mut self.is_all_changed);
        if is_all {
            changed = self.published();
            self.delete_others(&changed)?;
        }
        changed.extend(self.waiting.applications());
        let mut is_written = self.write_inventories(is_all)?;
        let is_due = now_ms.saturating_sub(self.noted_ms) >= NOTE_EVERY_MS;
        let changed: Vec<ApplicationKey> = changed.into_iter().collect();
        let mut is_full = false;
        let mut waiting = WaitingValues::default();
        let mut rest = &*changed;
        loop {
            let (some, others) = rest.split_at(rest.len().min(APPLICATIONS_PER_BATCH));
            let mut pending = Pending::new(&self.file.contents);
            let mut views = Vec::new();
            let mut pace = Pace {
                written: &self.views,
                waited: &self.waiting,
                waiting,
                is_last,
                now_ms,
            };
            for key in some {
                views.extend(application(&self.read_model, &mut pace, key, &mut pending));
            }
            waiting = pace.waiting;
            is_written |= !pending.is_empty();
            // In the batch of the last applications: a batch of its own would cost another write to the disk.
            if others.is_empty() && (is_written || is_due || is_last) {
                self.noted_ms = now_ms;
                clusters(&self.read_model, &waiting, &mut pending, now_ms);
            }
            is_full |= pending.is_full;
            self.apply(pending_changes(pending))?;
            let at_ms = now_ms;
            let views = views.into_iter();
            self.views
                .extend(views.map(|(key, view)| (key, WrittenView { view, at_ms })));
            rest = others;
            if rest.is_empty() {
                break;
            }
        }
        self.waiting = waiting;
        if changed.len() > APPLICATIONS_PER_BATCH || is_all {
            let contents = &self.file.contents;
            self.views.retain(|key, _| contents.bytes_of(key).is_some());
        }
        self.tell_full(is_full);
        Ok(())
    }

    /// Writes the changes of inventories, or all inventories. Returns whether anything was written.
    fn write_inventories(&mut self, is_all: bool) -> Result<bool, Error> {
        let before = std::mem::take(&mut self.written_inventories);
        let before = if is_all {
            WrittenInventories::default()
        } else {
            before
        };
        let mut pending = Pending::new(&self.file.contents);
        self.written_inventories = before.changes(&self.inventories, &mut pending);
        self.apply(pending_changes(pending))
    }

    /// Every application that is published.
    fn published(&self) -> BTreeSet<ApplicationKey> {
        self.read_model.inspect(|snapshot| {
            let contexts = snapshot.contexts().filter_map(|view| view.id.clone());
            let found = snapshot.found().map(|(name, _)| name.clone());
            let contexts = contexts.map(ApplicationKey::Context);
            contexts.chain(found.map(ApplicationKey::Found)).collect()
        })
    }

    /// Deletes what the file has of applications that are not published.
    fn delete_others(&mut self, published: &BTreeSet<ApplicationKey>) -> Result<(), Error> {
        let prefixes: BTreeSet<String> = published.iter().map(keys::application).collect();
        let contents = &self.file.contents;
        let mut pending = Pending::new(contents);
        let others = [keys::CLUSTERS, keys::INVENTORIES];
        let is_other = |key: &String| others.iter().any(|prefix| key.starts_with(prefix));
        for key in contents.keys(keys::PREFIX).filter(|key| !is_other(key)) {
            // The prefix of an application, if it is one, comes last before its keys.
            let before = prefixes.range::<String, _>(..key).next_back();
            if !before.is_some_and(|prefix| key.starts_with(prefix)) {
                pending.delete(key.clone());
            }
        }
        for prefix in contents.applications().filter(|it| !prefixes.contains(*it)) {
            pending.retain_transitions(prefix, &BTreeSet::new());
        }
        self.apply(pending_changes(pending))?;
        Ok(())
    }

    /// Makes changes of the file. Returns whether there were any.
    fn apply(&mut self, changes: Option<Changes>) -> Result<bool, Error> {
        let Some((batch, entries)) = changes else {
            return Ok(false);
        };
        self.file.store.apply(&batch)?;
        for (key, entry) in entries {
            self.file.contents.set(key, entry);
        }
        Ok(true)
    }

    fn tell_full(&mut self, is_full: bool) {
        if is_full && !self.is_told_full {
            tracing::warn!(
                bytes_max = super::REMEMBERED_BYTES_MAX,
                "what is known is more than is kept for the next start; a part of it is left out"
            );
        }
        self.is_told_full |= is_full;
    }
}

type Changes = (kindsight_store::Batch, Vec<(String, Option<Entry>)>);

fn pending_changes(pending: Pending<'_>) -> Option<Changes> {
    (!pending.is_empty()).then(|| pending.into_batch())
}
