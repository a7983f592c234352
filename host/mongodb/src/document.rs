//! A document with a state, parsed leniently: an unexpected value affects only that value.

mod actions;
mod profile;
#[cfg(test)]
mod tests;
mod values;

use std::collections::BTreeSet;

use kindsight_model::{RecordSubject, StateInfo, clean};
use mongodb::bson::{RawBsonRef, RawDocument};

use self::actions::{actions, context};
use self::profile::profile;
use self::values::{field, shown};
use crate::layout::{Kind, Layout, STATE};
use crate::limits::{DOCUMENT_BYTES_MAX, REASON_BYTES_MAX, SHOWN_BYTES_MAX};

/// The result of parsing a document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// The document is not of a kind with a state that kindsight shows.
    Other,
    /// The document has a state. Parts of it may have been skipped.
    State {
        subject: RecordSubject,
        state: StateInfo,
        fault: Option<String>,
    },
    /// The document cannot be read, so the state of its subject is unknown.
    Unreadable {
        subject: Option<RecordSubject>,
        /// The name for the log: the name of the subject, or else the id of the document.
        name: String,
        reason: String,
    },
}

/// Reads one document.
pub(crate) fn read(layout: Layout, document: &RawDocument) -> Read {
    let (kind, subject) = match subject(layout, document) {
        Ok(Some(found)) => found,
        Ok(None) => return Read::Other,
        Err(reason) => {
            return Read::Unreadable {
                subject: None,
                name: format!("document {}", id(document)),
                reason: clipped(&reason),
            };
        }
    };
    match state(kind, document) {
        Ok((state, faults)) => Read::State {
            subject,
            state,
            fault: summary(&faults),
        },
        Err(reason) => Read::Unreadable {
            name: subject.to_string(),
            subject: Some(subject),
            reason: clipped(&reason),
        },
    }
}

fn clipped(text: &str) -> String {
    clean(text, REASON_BYTES_MAX).into_owned()
}

fn summary(faults: &[String]) -> Option<String> {
    let first = faults.first()?;
    let text = match faults.len() {
        1 => first.clone(),
        count => format!("{first} (and {} more)", count.saturating_sub(1)),
    };
    Some(clipped(&text))
}

/// The kind of a document and its subject; `None` for a kind that is not shown.
fn subject(
    layout: Layout,
    document: &RawDocument,
) -> Result<Option<(&'static Kind, RecordSubject)>, String> {
    let Some(kind) = kind(layout, document)? else {
        return Ok(None);
    };
    let mut parts = Vec::new();
    for key in kind.keys {
        match field(document, key)? {
            Some(RawBsonRef::String(text)) => parts.push(text),
            Some(other) => return Err(format!("its key `{key}` is {}", shown(&other))),
            None => return Err(format!("its key `{key}` is missing")),
        }
    }
    let subject = kind.subject(&parts);
    let subject = subject.map_err(|error| error.to_string())?;
    Ok(Some((kind, subject)))
}

/// The kind of a document. The document's field with the names of its keys determines the kind,
/// because other kinds may have additional keys that were not requested. Without that field, the
/// present keys determine the kind.
fn kind(layout: Layout, document: &RawDocument) -> Result<Option<&'static Kind>, String> {
    let said = match field(document, layout.names_field())? {
        Some(RawBsonRef::String(text)) => Some(names(text)),
        _ => None,
    };
    let mut there: BTreeSet<&str> = BTreeSet::new();
    for key in layout.kinds().iter().flat_map(|it| it.keys) {
        if field(document, key)?.is_some() {
            there.insert(key);
        }
    }
    let keys = said.unwrap_or(there);
    let mut kinds = layout.kinds().iter();
    Ok(kinds.find(|kind| kind.keys.iter().copied().collect::<BTreeSet<_>>() == keys))
}

/// Splits names in the form `{a,b}` or `{a,b,}`.
fn names(text: &str) -> BTreeSet<&str> {
    let text = text.trim_start_matches('{').trim_end_matches('}');
    text.split(',').filter(|name| !name.is_empty()).collect()
}

fn id(document: &RawDocument) -> String {
    match document.get("_id") {
        Ok(Some(RawBsonRef::ObjectId(id))) => id.to_hex(),
        Ok(Some(RawBsonRef::String(id))) => clean(id, SHOWN_BYTES_MAX).into_owned(),
        _ => "without an id".to_owned(),
    }
}

fn state(kind: &Kind, document: &RawDocument) -> Result<(StateInfo, Vec<String>), String> {
    let bytes = document.as_bytes().len();
    if bytes > DOCUMENT_BYTES_MAX {
        return Err(format!(
            "its {bytes} bytes are over the limit of {DOCUMENT_BYTES_MAX}"
        ));
    }
    let Some(RawBsonRef::Document(state)) = field(document, STATE)? else {
        return Err(match field(document, STATE)? {
            Some(RawBsonRef::String(_) | RawBsonRef::Binary(_)) => {
                format!("its `{STATE}` is a text or bytes: it may be encrypted")
            }
            Some(other) => format!("its `{STATE}` is {}", shown(&other)),
            None => format!("its `{STATE}` is empty"),
        });
    };
    let mut faults = Vec::new();
    let status_context = context(state, "statuscontextid", &mut faults)?;
    let actions = match field(state, "actions")? {
        Some(RawBsonRef::Array(items)) => actions(items, &mut faults)?,
        Some(other) => return Err(format!("its `actions` are {}", shown(&other))),
        None => Vec::new(),
    };
    let state = StateInfo {
        profile: profile(kind, document, &mut faults)?,
        status_context,
        actions,
    };
    Ok((state, faults))
}
