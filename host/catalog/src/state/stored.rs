//! The stored form of the catalog's state, and the forms that earlier releases wrote.

use std::collections::BTreeMap;

use kindsight_model::InterpreterName;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{CatalogState, Entry};

/// The format that is written. A later one is not read.
pub(crate) const FORMAT: u32 = 2;
/// The format before: entries were `pages` and the versions of a source `slots`, a version that was
/// rolled back from was `bad`, and an event about no component had an empty digest.
const FORMAT_OF_PAGES: u32 = 1;

/// The reason why a stored state cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoredError {
    #[error(transparent)]
    Corrupt(#[from] serde_json::Error),
    #[error("format {0}")]
    Format(u32),
}

#[derive(Serialize)]
struct Stored<'s> {
    format: u32,
    entries: &'s BTreeMap<InterpreterName, Entry>,
}

#[derive(Deserialize)]
struct Head {
    format: u32,
}

/// Writes a state as it is stored.
pub(crate) fn write(state: &CatalogState) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&Stored {
        format: FORMAT,
        entries: &state.entries,
    })
}

/// Reads a stored state of any format that this release knows.
pub(crate) fn read(bytes: &[u8]) -> Result<CatalogState, StoredError> {
    // By itself: what a later format looks like is not known here.
    let head: Head = serde_json::from_slice(bytes)?;
    match head.format {
        FORMAT => Ok(serde_json::from_slice(bytes)?),
        FORMAT_OF_PAGES => {
            let document = upgrade(serde_json::from_slice(bytes)?);
            Ok(serde_json::from_value(document)?)
        }
        other => Err(StoredError::Format(other)),
    }
}

/// Turns a document of [`FORMAT_OF_PAGES`] into one of [`FORMAT`].
fn upgrade(mut document: Map<String, Value>) -> Value {
    let Some(pages) = document.remove("pages") else {
        return Value::Object(document);
    };
    let pages = match pages {
        Value::Object(pages) => pages,
        other => {
            document.insert("entries".to_owned(), other);
            return Value::Object(document);
        }
    };
    let entries = pages.into_iter().map(|(name, mut page)| {
        upgrade_entry(&mut page);
        (InterpreterName::from_lossy(&name).to_string(), page)
    });
    document.insert("entries".to_owned(), Value::Object(entries.collect()));
    Value::Object(document)
}

fn upgrade_entry(page: &mut Value) {
    let Some(page) = page.as_object_mut() else {
        return;
    };
    if let Some(slots) = page.remove("slots") {
        page.insert("sources".to_owned(), slots);
    }
    let sources = page.get_mut("sources").and_then(Value::as_object_mut);
    for source in sources.into_iter().flat_map(Map::values_mut) {
        let versions = source.get_mut("versions").and_then(Value::as_array_mut);
        for version in versions.into_iter().flatten() {
            if let Some(outcome) = version.get_mut("outcome").filter(|it| **it == "bad") {
                *outcome = "rolled-back".into();
            }
        }
    }
    let history = page.get_mut("history").and_then(Value::as_array_mut);
    for event in history.into_iter().flatten() {
        let event = event.as_object_mut();
        if let Some(event) = event.filter(|it| it.get("digest").is_some_and(|it| *it == "")) {
            event.remove("digest");
        }
    }
}

#[cfg(test)]
mod tests;
