//! Creation of a context that is more than one batch.
//!
//! The first batch puts a mark, each later batch renews it, and the last batch removes it and puts the
//! root key. A batch is applied only if the mark is unchanged since the previous batch, so a creation
//! that was swept writes no further keys.

use std::hash::{BuildHasher, Hasher, RandomState};

use kindsight_model::ContextId;
use kindsight_store::{Batch, Error as StoreError, OPERATION_BYTES, Store, Write};
use serde::Serialize;

use crate::keys::{self, ContextKeys};
use crate::{Error, Result, go_json};

/// The writes of the last batch beside the content: root key and mark.
const OWN_WRITES: usize = 2;
/// The bytes that mark, root key and conditions take of a batch, at most.
const OWN_BYTES: usize = 2 * 1024;

/// The mark of a creation. Marks are compared with all their members.
#[derive(Serialize)]
struct Mark {
    version: u64,
    /// Tells two creations under one id apart.
    token: u64,
    /// The number of the batch that wrote it.
    batch: usize,
}

/// A creation in progress.
pub(super) struct Steps<'s> {
    store: &'s dyn Store,
    id: ContextId,
    root: String,
    root_value: String,
    mark: String,
    token: u64,
    batches: usize,
    /// The mark as the last batch left it; none before the first.
    written: Option<String>,
}

impl<'s> Steps<'s> {
    pub(super) fn new(store: &'s dyn Store, id: &ContextId, root_value: String) -> Self {
        Self {
            store,
            id: id.clone(),
            root: ContextKeys::new(id).root().to_owned(),
            root_value,
            mark: keys::creation(id),
            token: RandomState::new().build_hasher().finish(),
            batches: 0,
            written: None,
        }
    }

    /// Writes everything, the root key last. After an error it removes what it wrote, as far as the
    /// store lets it; the rest is swept.
    pub(super) fn create(mut self, content: &Batch) -> Result<()> {
        let done = self.write_all(content);
        if done.is_err() {
            let _ = self.undo();
        }
        done
    }

    fn write_all(&mut self, content: &Batch) -> Result<()> {
        let limits = self.store.limits();
        let writes_max = limits.batch_writes.saturating_sub(OWN_WRITES).max(1);
        let bytes_max = limits.batch_bytes.saturating_sub(OWN_BYTES);
        let (mut batch, mut writes, mut bytes) = (Batch::new(), 0, 0);
        for write in content.writes() {
            let Write::Put { key, value } = write else {
                continue;
            };
            let size = key.len() + value.len() + OPERATION_BYTES;
            if writes == writes_max || (writes > 0 && bytes + size > bytes_max) {
                self.write(std::mem::take(&mut batch))?;
                (writes, bytes) = (0, 0);
            }
            batch = batch.put(key, value.clone());
            writes += 1;
            bytes += size;
        }
        let last = self.conditions(batch);
        let last = match &self.written {
            Some(_) => last.delete(&self.mark),
            None => last,
        };
        self.apply(&last.put(&self.root, self.root_value.clone()))
    }

    /// Writes a part of the content, and renews the mark.
    fn write(&mut self, part: Batch) -> Result<()> {
        let mark = go_json::encode(&Mark {
            version: 1,
            token: self.token,
            batch: self.batches,
        })?;
        let batch = self.conditions(part).put(&self.mark, mark.clone());
        self.apply(&batch)?;
        self.batches += 1;
        self.written = Some(mark);
        Ok(())
    }

    fn conditions(&self, part: Batch) -> Batch {
        let part = part.absent(&self.root);
        match &self.written {
            Some(written) => part.equals(&self.mark, written.clone()),
            None => part.absent(&self.mark),
        }
    }

    fn apply(&self, batch: &Batch) -> Result<()> {
        match self.store.apply(batch) {
            Ok(_) => Ok(()),
            Err(StoreError::Conflict { key }) if key == self.mark && self.written.is_some() => {
                let id = self.id.clone();
                Err(Error::Swept { id })
            }
            Err(error) => Err(error.into()),
        }
    }

    fn undo(&self) -> Result<()> {
        let Some(written) = &self.written else {
            return Ok(());
        };
        let batch = Batch::new()
            .equals(&self.mark, written.clone())
            .absent(&self.root)
            .delete_prefix(&self.root)
            .delete(&self.mark);
        self.store.apply(&batch)?;
        Ok(())
    }
}
