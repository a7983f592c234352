//! The composite profile of a group.

use std::sync::Arc;

use kindsight_model::{clean, is_name};
use mongodb::bson::{RawBsonRef, RawDocument};

use super::values::{field, shown};
use crate::layout::Kind;
use crate::limits::SHOWN_BYTES_MAX;

/// The name of the composite profile. `None` if the document has none, or if its value cannot be a
/// name, which is a fault.
pub(super) fn profile(
    kind: &Kind,
    document: &RawDocument,
    faults: &mut Vec<String>,
) -> Result<Option<Arc<str>>, String> {
    for path in kind.profiles {
        let fault = match value(document, path)? {
            None | Some(RawBsonRef::String("")) => continue,
            Some(RawBsonRef::String(name)) if is_name(name) => return Ok(Some(name.into())),
            Some(RawBsonRef::String(text)) => {
                let text = clean(text, SHOWN_BYTES_MAX);
                format!("`{text}`, which is not a valid name,")
            }
            Some(other) => shown(&other).to_owned(),
        };
        faults.push(format!("`{}` is {fault} and was ignored", path.join(".")));
    }
    Ok(None)
}

/// The value at a path. `None` if a part of the path is missing or is not a document, such as
/// encrypted data.
fn value<'a>(document: &'a RawDocument, path: &[&str]) -> Result<Option<RawBsonRef<'a>>, String> {
    let mut value = RawBsonRef::Document(document);
    for name in path {
        let RawBsonRef::Document(parent) = value else {
            return Ok(None);
        };
        match field(parent, name)? {
            Some(next) => value = next,
            None => return Ok(None),
        }
    }
    Ok(Some(value))
}
