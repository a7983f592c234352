//! Removal of the remains of creations that ended early.

use std::collections::BTreeMap;

use kindsight_store::{Batch, Error as StoreError, Store};

use crate::Result;
use crate::keys::{self, ContextKeys};

/// The marks of creations that the last sweep saw; empty before the first.
#[derive(Debug, Clone, Default)]
pub struct Creations(BTreeMap<String, Vec<u8>>);

/// Removes the creations whose mark is as it was at the last sweep, and keeps the others for the next.
pub(crate) fn sweep(store: &dyn Store, seen: &mut Creations) -> Result<usize> {
    let mut swept = 0;
    let mut next = BTreeMap::new();
    for entry in store.range(keys::CREATIONS)?.entries {
        let Some(id) = keys::creation_of(&entry.key) else {
            continue;
        };
        if seen.0.get(&entry.key) != Some(&entry.value) {
            next.insert(entry.key, entry.value);
            continue;
        }
        let root = ContextKeys::new(&id);
        let batch = Batch::new()
            .equals(&entry.key, entry.value)
            .absent(root.root())
            .delete_prefix(root.root())
            .delete(&entry.key);
        match store.apply(&batch) {
            Ok(_) => swept += 1,
            // The creation continues, or another host swept it.
            Err(StoreError::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    seen.0 = next;
    Ok(swept)
}
