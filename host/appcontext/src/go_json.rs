//! JSON, byte for byte as the reference's `encoding/json` of Go writes it.
//!
//! Stored values are compared by their bytes, so a value that both sides write must not look
//! changed.

use kindsight_model::{RawJson, write_go_json};
use serde::Serialize;
use serde::ser::Error as _;

use crate::{Error, Result};

/// Encodes a value with [`write_go_json`]. Members that this crate does not know keep their text.
///
/// # Errors
/// [`Error::Encode`] for a value that JSON cannot express, such as a map whose keys are not
/// strings; no type of this crate is one.
pub(crate) fn encode<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    let mut bytes = Vec::new();
    write_go_json(&mut bytes, value, RawJson::Kept).map_err(Error::Encode)?;
    String::from_utf8(bytes).map_err(|error| Error::Encode(serde_json::Error::custom(error)))
}
