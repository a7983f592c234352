//! Parts that the handles of all levels share: a key, values below it, and their names.

use std::sync::Arc;

use kindsight_store::{Batch, Error as StoreError, Store};

use crate::keys;
use crate::value::{Json, Stored, Value, not_found};
use crate::{Error, Result};

/// A key that exists while the thing does, and below which everything of the thing is.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) key: String,
}

impl Place {
    /// A thing below this one.
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

    /// Checks that it exists.
    pub(crate) fn existing(self) -> Result<Self> {
        match self.store.entry(&self.key)? {
            Some(_) => Ok(self),
            None => Err(Error::NotFound { key: self.key }),
        }
    }

    /// Adds a thing below with its value; no error where it is there already with that value.
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

    /// The names of the things below `<key><level>/` that have a key of their own.
    pub(crate) fn names(&self, level: &str) -> Result<Vec<String>> {
        let prefix = format!("{}{level}/", self.key);
        let keys = self.store.keys(&prefix)?.keys;
        let names = keys.iter().filter_map(|key| {
            let name = key.strip_prefix(&prefix)?.strip_suffix('/')?;
            (!name.is_empty() && !name.contains('/')).then(|| name.to_owned())
        });
        Ok(names.collect())
    }

    /// All keys of the thing, its own first.
    pub(crate) fn keys(&self) -> Result<Vec<String>> {
        Ok(self.store.keys(&self.key)?.keys)
    }

    /// The value of any level below, such as one that this crate does not know.
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

    /// The batch that removes it with everything below, and the parts of reports on it.
    pub(crate) fn deletion(&self) -> Batch {
        let batch = Batch::new().present(&self.key).delete_prefix(&self.key);
        batch.delete_prefix(keys::bundles(&self.key))
    }

    /// Removes it with everything below; false when it did not exist.
    pub(crate) fn delete(&self) -> Result<bool> {
        match self.store.apply(&self.deletion()) {
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
            &self.place.key
        }

        /// All keys of it, its own first.
        pub fn all_keys(&self) -> Result<Vec<String>> {
            self.place.keys()
        }

        /// The value of any level below, such as one that this crate does not know.
        ///
        /// # Errors
        /// [`Error::Name`](crate::Error::Name) for a level that cannot be part of a key.
        pub fn level_value(&self, level: &str) -> Result<$crate::Value<$crate::Json>> {
            self.place.level_value(level)
        }
    };
}
pub(crate) use handle_methods;
