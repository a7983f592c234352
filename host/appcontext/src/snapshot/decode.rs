//! Decoding of stored values. The error is a text for [`Unreadable::why`](crate::Unreadable::why).

use kindsight_model::ContextId;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::instruction::Instruction;

/// The result of one value.
pub(super) type Decoded<T = ()> = Result<T, String>;

pub(super) fn value<T: DeserializeOwned>(stored: &[u8]) -> Decoded<T> {
    serde_json::from_slice(stored).map_err(|error| error.to_string())
}

/// Decodes an object. Other than [`value`] it refuses an array, which serde takes for the fields in
/// order.
pub(super) fn object<T: DeserializeOwned>(stored: &[u8]) -> Decoded<T> {
    let object = Value::Object(value(stored)?);
    serde_json::from_value(object).map_err(|error| error.to_string())
}

/// Decodes an instruction, which is stored as a JSON string.
pub(super) fn instruction<I: Instruction>(stored: &[u8]) -> Decoded<I> {
    I::decode(&value::<String>(stored)?)
}

/// Decodes the id of a context, which is stored as a JSON string.
pub(super) fn id(stored: &[u8]) -> Decoded<ContextId> {
    let text: String = value(stored)?;
    text.parse()
        .map_err(|error: kindsight_model::NameError| error.to_string())
}

/// Checks the value of the root key of a context.
pub(super) fn root(id: &ContextId, stored: &[u8]) -> Decoded {
    if value::<String>(stored)? == id.as_str() {
        return Ok(());
    }
    Err("does not hold the id of its context".to_owned())
}
