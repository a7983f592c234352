//! Parts that the handles of all levels share: a key, values below it, and their names.

use std::sync::Arc;

use kindsight_store::{Batch, Error as StoreError, Store};

use crate::keys;
use crate::value::{Json, Stored, Value, not_found};
use crate::{Error, Result};

/// The root key of a level (a context, app, cluster or resource). The level exists while this key does, and all of
/// its other keys begin with it.
#[derive(Clone)]
pub(crate) struct Handle {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) key: String,
}

impl Handle {
    /// The handle of a level below.
    pub(crate) fn below(&self, key: &str) -> Self {
        Self {
            store: Arc::clone(&self.store),
            key: key.to_owned(),
        }
    }

    /// The value of a key below.
    pub(crate) fn value<T: Stored>(&self, key: String) -> Value<T> {
        Value::new(&self.store, &self.key, key)
    }

    /// Returns itself, or an error if the level does not exist.
    pub(crate) fn existing(self) -> Result<Self> {
        match self.store.entry(&self.key)? {
            Some(_) => Ok(self),
            None => Err(Error::NotFound { key: self.key }),
        }
    }

    /// Adds a level below, with the value of its root key. A level that exists with this value is no error.
    pub(crate) fn add(&self, key: &str, value: &str) -> Result<()> {
        let batch = Batch::new().present(&self.key).absent(key);
        match self.store.apply(&batch.put(key, value)) {
            Ok(_) => Ok(()),
            Err(StoreError::Conflict { key: conflict }) if conflict == key => {
                match self.store.get(key)? {
                    Some(stored) if stored == value.as_bytes() => Ok(()),
                    _ => Err(Error::Exists { key: conflict }),
                }
            }
            Err(error) => Err(not_found(error.into(), &self.key)),
        }
    }

    /// The names of the levels below `<key><level>/` that have a root key.
    pub(crate) fn names(&self, level: &str) -> Result<Vec<String>> {
        let prefix = format!("{}{level}/", self.key);
        let keys = self.store.keys(&prefix)?.keys;
        let names = keys.iter().filter_map(|key| {
            let name = key.strip_prefix(&prefix)?.strip_suffix('/')?;
            (!name.is_empty() && !name.contains('/')).then(|| name.to_owned())
        });
        Ok(names.collect())
    }

    /// All keys of the level, the root key first.
    pub(crate) fn keys(&self) -> Result<Vec<String>> {
        Ok(self.store.keys(&self.key)?.keys)
    }

    /// The value of any key below, also of one that this crate does not know.
    pub(crate) fn level_value(&self, level: &str) -> Result<Value<Json>> {
        let is_part = |part: &str| !part.is_empty() && !part.contains(char::is_control);
        if !level.split('/').all(is_part) {
            return Err(Error::Name {
                name: level.to_owned(),
                expected: "a level: names separated by `/`, without control characters",
            });
        }
        Ok(self.value(format!("{}{level}/", self.key)))
    }

    /// The batch that removes the level, all levels below, and the parts of their reports.
    pub(crate) fn deletion(&self) -> Batch {
        let batch = Batch::new().present(&self.key).delete_prefix(&self.key);
        batch.delete_prefix(keys::bundles(&self.key))
    }

    /// Removes the level and all levels below. Returns false if the level did not exist.
    pub(crate) fn delete(&self) -> Result<bool> {
        self.delete_by(&self.deletion())
    }

    /// Removes the level by a batch that begins with [`Handle::deletion`]. Returns false if the level did not exist.
    pub(crate) fn delete_by(&self, batch: &Batch) -> Result<bool> {
        match self.store.apply(batch) {
            Ok(_) => Ok(true),
            Err(StoreError::Conflict { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Methods that the handles of all levels have.
macro_rules! handle_methods {
    () => {
        /// The key, which is the handle of the original.
        pub fn key(&self) -> &str {
            &self.handle.key
        }

        /// All keys of the level, the root key first.
        pub fn all_keys(&self) -> Result<Vec<String>> {
            self.handle.keys()
        }

        /// The value of any key below, also of one that this crate does not know.
        ///
        /// # Errors
        /// [`Error::Name`](crate::Error::Name) for a level that cannot be part of a key.
        pub fn level_value(&self, level: &str) -> Result<$crate::Value<$crate::Json>> {
            self.handle.level_value(level)
        }
    };
}
pub(crate) use handle_methods;
