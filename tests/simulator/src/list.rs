//! Lists in pages, at one version.

use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::history::{History, ObjectId};
use crate::kinds::Kind;
use crate::objects;
use crate::query::Query;
use crate::seed::Seed;
use crate::selection::Selection;
use crate::token::{INCONSISTENT, Token};

/// The form of objects in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Whole,
    /// Only the metadata.
    Metadata,
}

/// The group and the version of objects that are sent as metadata.
const METADATA_VERSION: &str = "meta.k8s.io/v1";

/// A page of a list that begins at a number.
struct Begin {
    version: u64,
    number: u32,
    limit: usize,
}

/// An object in the requested form, with its Kind.
pub(crate) fn formed(form: Form, kind: &Kind, mut item: Map<String, Value>) -> Map<String, Value> {
    match form {
        Form::Whole => objects::whole(kind, item),
        Form::Metadata => {
            let mut object = Map::new();
            object.insert("kind".to_owned(), "PartialObjectMetadata".into());
            object.insert("apiVersion".to_owned(), METADATA_VERSION.into());
            let metadata = item.remove("metadata").unwrap_or_default();
            object.insert("metadata".to_owned(), metadata);
            object
        }
    }
}

/// One page of a list.
pub(crate) fn page(
    (seed, history): (&Seed, &History),
    selection: &Selection,
    query: &Query,
    form: Form,
) -> Result<Value, Failure> {
    let Begin {
        version,
        number,
        limit,
    } = begin((seed, history), selection, query)?;
    let kind = selection.kind.kind();
    let (mut items, mut last, mut rest) = (Vec::new(), None, 0_u64);
    for number in number..selection.numbers.end {
        let id = ObjectId {
            kind: selection.kind,
            number,
        };
        let state = history.at(id, version);
        let Some(state) = state.filter(|_| selection.has(seed, number)) else {
            continue;
        };
        if limit > 0 && items.len() >= limit {
            rest += 1;
            // Only a list without a selector tells the number of the remaining objects.
            if selection.is_filtered() {
                break;
            }
            continue;
        }
        last = Some(number);
        let item = objects::item(seed, id, state);
        items.push(Value::Object(match form {
            Form::Whole if !kind.is_custom() => item,
            form => formed(form, kind, item),
        }));
    }
    let mut metadata = json!({"resourceVersion": version.to_string()});
    if let Some(last) = last.filter(|_| rest > 0) {
        let version = i64::try_from(version).unwrap_or(i64::MAX);
        let token = Token::after(version, &selection.key(seed, last));
        metadata["continue"] = token.encode().into();
        if !selection.is_filtered() {
            metadata["remainingItemCount"] = rest.into();
        }
    }
    // Custom Kinds have the member on the last page too.
    if kind.is_custom() && form == Form::Whole && metadata["continue"].is_null() {
        metadata["continue"] = "".into();
    }
    let (list, api_version) = match form {
        Form::Whole => (format!("{}List", kind.kind), kind.api_version()),
        Form::Metadata => (
            "PartialObjectMetadataList".to_owned(),
            METADATA_VERSION.to_owned(),
        ),
    };
    Ok(json!({"kind": list, "apiVersion": api_version, "metadata": metadata, "items": items}))
}

/// The version and the first number of a page.
fn begin(
    (seed, history): (&Seed, &History),
    selection: &Selection,
    query: &Query,
) -> Result<Begin, Failure> {
    let (now, first) = (history.now(), selection.numbers.start);
    let mut limit = query.limit;
    if !query.next.is_empty() {
        let invalid = || Failure::bad_request("continue key is not valid".to_owned());
        let token = Token::decode(&query.next).ok_or_else(invalid)?;
        let number = selection.after(seed, token.key());
        let version = match u64::try_from(token.version) {
            Ok(version) if version < history.compacted() => {
                let next = Token::after(INCONSISTENT, token.key()).encode();
                let message = format!("the version {version} of the list is compacted");
                return Err(Failure::expired(message, Some(next)));
            }
            Ok(version) => version.min(now),
            Err(_) => now,
        };
        return Ok(Begin {
            version,
            number,
            limit,
        });
    }
    let version = match query.version()? {
        // Any version is allowed, and API servers then ignore the limit.
        Some(0) => {
            limit = 0;
            now
        }
        Some(version) if version > now => return Err(Failure::too_large(version, now)),
        Some(version) if query.version_match == "Exact" || limit > 0 => {
            if version < history.compacted() {
                let message = format!("the version {version} is compacted");
                return Err(Failure::expired(message, None));
            }
            version
        }
        None | Some(_) => now,
    };
    Ok(Begin {
        version,
        number: first,
        limit,
    })
}
