//! Values of single keys: read, set, updated and deleted by typed handles.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use kindsight_store::{Batch, Entry, Error as StoreError, Store};

use crate::{Error, Result};

mod stored;

pub(crate) use stored::sealed;
pub use stored::{Json, Stored};

/// The number of times that a change is tried while other writers change the same keys. Each of them
/// that fails means that another writer succeeded, so it takes as many writers in a hurry.
pub const UPDATE_ATTEMPTS_MAX: usize = 64;

/// The value of one key, which may be absent. Made by the handles that own it.
///
/// A method writes only while the owner exists, so no key remains below a deleted owner.
pub struct Value<T> {
    store: Arc<dyn Store>,
    owner: String,
    key: String,
    of: PhantomData<fn() -> T>,
}

impl<T: Stored> Value<T> {
    pub(crate) fn new(store: &Arc<dyn Store>, owner: &str, key: String) -> Self {
        Self {
            store: Arc::clone(store),
            owner: owner.to_owned(),
            key,
            of: PhantomData,
        }
    }

    /// The key, which is the handle of the original.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Reads the value; none when the key is absent.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for a value that cannot be understood.
    pub fn get(&self) -> Result<Option<T>> {
        let stored = self.store.get(&self.key)?;
        stored.map(|stored| self.decode(&stored)).transpose()
    }

    /// Sets the value, whatever it was.
    ///
    /// # Errors
    /// [`Error::NotFound`] when its owner does not exist.
    pub fn set(&self, value: &T) -> Result<()> {
        let batch = Batch::new().present(&self.owner);
        let batch = batch.put(&self.key, value.encode()?);
        self.apply(&batch)
    }

    /// Replaces the value by the result of `change`, and returns it. `None` is an absent key. If another
    /// writer was faster, `change` is called again with the newer value, so no change is lost. An equal
    /// value is not written.
    ///
    /// # Errors
    /// [`Error::NotFound`] when its owner does not exist, [`Error::Contended`] after
    /// [`UPDATE_ATTEMPTS_MAX`] attempts, [`Error::Unreadable`] for a value that cannot be understood.
    pub fn update(&self, mut change: impl FnMut(Option<T>) -> Option<T>) -> Result<Option<T>> {
        retried(&self.key, || {
            let entry = self.store.entry(&self.key)?;
            if entry.is_none() && self.key == self.owner {
                let key = self.key.clone();
                return Err(Error::NotFound { key });
            }
            let before = entry.as_ref().map(|entry| entry.value.clone());
            let value = before
                .as_ref()
                .map(|value| self.decode(value))
                .transpose()?;
            let next = change(value);
            let encoded = next.as_ref().map(T::encode).transpose()?;
            if encoded.as_ref().map(String::as_bytes) != before.as_deref() {
                let batch = unchanged(Batch::new().present(&self.owner), &self.key, entry.as_ref());
                self.store.apply(&match encoded {
                    Some(encoded) => batch.put(&self.key, encoded),
                    None => batch.delete(&self.key),
                })?;
            }
            Ok(next)
        })
        .map_err(|error| self.owner_missing(error))
    }

    /// Removes the value; no error when it was absent.
    ///
    /// # Errors
    /// [`Error::NotFound`] when its owner does not exist.
    pub fn delete(&self) -> Result<()> {
        self.apply(&Batch::new().present(&self.owner).delete(&self.key))
    }

    fn apply(&self, batch: &Batch) -> Result<()> {
        let applied = self.store.apply(batch).map(drop).map_err(Error::from);
        applied.map_err(|error| self.owner_missing(error))
    }

    fn decode(&self, stored: &[u8]) -> Result<T> {
        T::decode(stored).map_err(|why| Error::Unreadable {
            key: self.key.clone(),
            why: why.chars().take(WHY_CHARS_MAX).collect(),
        })
    }

    fn owner_missing(&self, error: Error) -> Error {
        not_found(error, &self.owner)
    }
}

impl<T> Clone for Value<T> {
    fn clone(&self) -> Self {
        Self {
            store: Arc::clone(&self.store),
            owner: self.owner.clone(),
            key: self.key.clone(),
            of: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Value<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Value").field(&self.key).finish()
    }
}

/// The longest reason of an unreadable value, in characters: it may quote a value of any size.
pub(crate) const WHY_CHARS_MAX: usize = 200;

/// Turns the conflict of an owner that does not exist into [`Error::NotFound`].
pub(crate) fn not_found(error: Error, owner: &str) -> Error {
    match error {
        Error::Store(StoreError::Conflict { key }) if key == owner => Error::NotFound { key },
        other => other,
    }
}

/// Tries a change until no other writer was faster. The key of a conflict shows whether it concerns the
/// owner, which is the first condition of each batch.
pub(crate) fn retried<R>(key: &str, mut attempt: impl FnMut() -> Result<R>) -> Result<R> {
    for _ in 0..UPDATE_ATTEMPTS_MAX {
        match attempt() {
            // An owner is a prefix of its keys.
            Err(Error::Store(StoreError::Conflict { key: conflict }))
                if conflict == key || !key.starts_with(&conflict) => {}
            done => return done,
        }
    }
    Err(Error::Contended {
        key: key.to_owned(),
        attempts: UPDATE_ATTEMPTS_MAX,
    })
}

/// Adds the condition that a key is as it was read.
pub(crate) fn unchanged(batch: Batch, key: &str, read: Option<&Entry>) -> Batch {
    match read {
        None => batch.absent(key),
        // Nothing tells when an earlier release put it.
        Some(entry) if entry.changed == kindsight_store::Revision::default() => {
            batch.equals(key, entry.value.clone())
        }
        Some(entry) => batch.unchanged(key, entry.changed),
    }
}
