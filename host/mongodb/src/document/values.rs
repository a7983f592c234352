//! BSON values, parsed leniently.

use mongodb::bson::{RawBsonRef, RawDocument};

/// The value of a field, or `None` for null, which orchestrators write for empty values.
pub(super) fn field<'a>(
    document: &'a RawDocument,
    name: &str,
) -> Result<Option<RawBsonRef<'a>>, String> {
    let value = document.get(name);
    let value = value.map_err(|_| format!("its BSON is broken before `{name}`"))?;
    Ok(value.filter(|value| !matches!(value, RawBsonRef::Null | RawBsonRef::Undefined)))
}

/// The type of a value, as text for users.
pub(super) fn shown(value: &RawBsonRef<'_>) -> &'static str {
    match value {
        RawBsonRef::Double(_)
        | RawBsonRef::Int32(_)
        | RawBsonRef::Int64(_)
        | RawBsonRef::Decimal128(_) => "a number",
        RawBsonRef::String(_) | RawBsonRef::Symbol(_) => "a text",
        RawBsonRef::Array(_) => "a list",
        RawBsonRef::Document(_) => "a document",
        RawBsonRef::Boolean(_) => "a boolean",
        RawBsonRef::Binary(_) => "bytes",
        RawBsonRef::DateTime(_) | RawBsonRef::Timestamp(_) => "a time",
        _ => "of an unexpected type",
    }
}
