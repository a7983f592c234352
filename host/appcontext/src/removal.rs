//! Removal of a thing together with its mention in instructions, as one batch.

use kindsight_store::{Batch, Entry, Error as StoreError, Store};

use crate::value::{Stored, unchanged};
use crate::{Error, Result};

/// A batch that removes a thing.
pub(crate) struct Removal {
    batch: Batch,
}

impl Removal {
    /// Begins with the batch that removes the thing itself on the condition that it exists.
    pub(crate) fn new(batch: Batch) -> Self {
        Self { batch }
    }

    /// Takes the thing out of an instruction, if it is there as it was read. `remove` answers whether
    /// it was in.
    pub(crate) fn take_out<I: Stored>(
        &mut self,
        key: &str,
        read: Option<&Entry>,
        remove: impl FnOnce(&mut I) -> Result<bool>,
    ) -> Result<()> {
        let Some(entry) = read else {
            self.condition(key, None);
            return Ok(());
        };
        let decoded = I::decode(&entry.value);
        let mut instruction = decoded.map_err(|why| Error::Unreadable {
            key: key.to_owned(),
            why,
        })?;
        let is_in = remove(&mut instruction)?;
        self.condition(key, read);
        if is_in {
            let batch = std::mem::take(&mut self.batch);
            self.batch = batch.put(key, instruction.encode()?);
        }
        Ok(())
    }

    fn condition(&mut self, key: &str, read: Option<&Entry>) {
        let batch = std::mem::take(&mut self.batch);
        self.batch = unchanged(batch, key, read);
    }

    /// Applies it; false when the thing with the key `thing` does not exist.
    pub(crate) fn apply(self, store: &dyn Store, thing: &str) -> Result<bool> {
        match store.apply(&self.batch) {
            Ok(_) => Ok(true),
            Err(StoreError::Conflict { key }) if key == thing => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
