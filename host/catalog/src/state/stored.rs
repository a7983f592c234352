//! The stored form of the catalog's state, and the forms that earlier releases wrote.

use std::collections::BTreeMap;
use std::sync::Arc;

use kindsight_model::{Digest, InterpreterName};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{CatalogState, Entry};

/// The format of a stored catalog that this release writes: a value for each name, and a head that every change replaces. Later
/// formats are not supported. Earlier releases find the head where they expect the complete state,
/// and refuse its format.
pub const FORMAT: u32 = 3;
/// The previous format: one document with all entries.
const FORMAT_OF_ENTRIES: u32 = 2;
/// The format before that one: entries were `pages`, the versions of a source were `slots`, a
/// version that was rolled back was `bad`, and an event without a component had an empty digest.
const FORMAT_OF_PAGES: u32 = 1;

/// The reason why a stored state cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoredError {
    #[error("`{key}`")]
    Corrupt {
        key: String,
        source: serde_json::Error,
    },
    #[error("format {0}")]
    Format(u32),
    #[error(transparent)]
    Store(#[from] kindsight_store::Error),
}

/// The head of a stored catalog. Each change compares and replaces it: if two hosts make a change
/// at the same time, one of them must read again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) format: u32,
    /// Number of changes.
    #[serde(default)]
    pub(crate) generation: u64,
    /// Digest of the previous head and of everything that this change wrote. After a backup was
    /// restored, two histories can diverge, and their heads then differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<Digest>,
}

#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
}

impl Head {
    /// Parses a head, or the format of a complete state that an earlier release wrote.
    ///
    /// # Errors
    /// If it is damaged, or was written by a later release.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        // Parsed separately, because the structure of other formats is not known here.
        let FormatOnly { format } = serde_json::from_slice(bytes)?;
        if format != FORMAT {
            return Ok(Self {
                format,
                generation: 0,
                digest: None,
            });
        }
        let head: Self = serde_json::from_slice(bytes)?;
        if head.digest.is_none() {
            return Err(serde::de::Error::missing_field("digest"));
        }
        Ok(head)
    }

    /// Returns whether the value contains a complete state.
    pub(crate) fn is_legacy(&self) -> bool {
        self.format < FORMAT
    }
}

/// Writes an entry in its stored form.
pub(crate) fn write_entry(entry: &Entry) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(entry)
}

/// Parses a stored entry.
pub(crate) fn read_entry(bytes: &[u8]) -> Result<Arc<Entry>, serde_json::Error> {
    serde_json::from_slice(bytes).map(Arc::new)
}

#[derive(Deserialize)]
struct Entries {
    entries: BTreeMap<InterpreterName, Entry>,
}

/// Parses a complete state of an earlier format.
///
/// # Errors
/// `None` for a format that no earlier release wrote, or else the parse error.
pub(crate) fn read_legacy(
    format: u32,
    bytes: &[u8],
) -> Result<CatalogState, Option<serde_json::Error>> {
    let read: Entries = match format {
        FORMAT_OF_ENTRIES => serde_json::from_slice(bytes)?,
        FORMAT_OF_PAGES => serde_json::from_value(upgrade(serde_json::from_slice(bytes)?))?,
        _ => return Err(None),
    };
    let entries = read.entries.into_iter();
    Ok(CatalogState {
        entries: entries
            .map(|(name, entry)| (name, Arc::new(entry)))
            .collect(),
    })
}

/// Converts a document of [`FORMAT_OF_PAGES`] to one of [`FORMAT_OF_ENTRIES`].
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
            if let Some(outcome) = version
                .get_mut("outcome")
                .filter(|outcome| **outcome == "bad")
            {
                *outcome = "rolled-back".into();
            }
        }
    }
    let history = page.get_mut("history").and_then(Value::as_array_mut);
    for event in history.into_iter().flatten() {
        let event = event.as_object_mut();
        if let Some(event) =
            event.filter(|event| event.get("digest").is_some_and(|digest| *digest == ""))
        {
            event.remove("digest");
        }
    }
}

#[cfg(test)]
mod tests;
