//! The stored form of each type of value.

use kindsight_model::{Connectivity, ContextId, ContextStatus, RsyncStatus};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::instruction::{
    AppDependency, AppOrder, AppsDependency, ResourceDependency, ResourceOrder,
};
use crate::status::StatusValue;
use crate::{ContextMeta, Error, Result, go_json};

/// A value of any form, as JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json(Box<str>);

impl Json {
    /// Checks a JSON text.
    ///
    /// # Errors
    /// [`Error::NotJson`] for anything else.
    pub fn new(text: impl Into<String>) -> Result<Self> {
        let text = text.into();
        match serde_json::from_str::<&RawValue>(&text) {
            Ok(_) => Ok(Self(text.into())),
            Err(error) => Err(Error::NotJson(error)),
        }
    }

    /// Writes a value as JSON, as the original would.
    ///
    /// # Errors
    /// [`Error::Encode`] for a value that JSON cannot express.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self> {
        go_json::encode(value).map(|text| Self(text.into()))
    }

    /// The text, as it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A type that is the value of a key. Implemented by the values of this crate alone.
pub trait Stored: sealed::Sealed {}

pub(crate) mod sealed {
    use crate::Result;

    /// The stored form of a value.
    pub trait Sealed: Sized {
        /// Decodes the bytes of a value; the error is a fragment of a sentence.
        fn decode(stored: &[u8]) -> Result<Self, String>;

        /// Encodes a value, as Go writes it.
        fn encode(&self) -> Result<String>;
    }
}

fn json<T: DeserializeOwned>(stored: &[u8]) -> Result<T, String> {
    serde_json::from_slice(stored).map_err(|error| error.to_string())
}

macro_rules! stored {
    ($($type:ty: $decode:expr, $encode:expr;)+) => {$(
        impl Stored for $type {}

        impl sealed::Sealed for $type {
            fn decode(stored: &[u8]) -> Result<Self, String> {
                let decode: fn(&[u8]) -> Result<Self, String> = $decode;
                decode(stored)
            }

            fn encode(&self) -> Result<String> {
                let encode: fn(&Self) -> Result<String> = $encode;
                encode(self)
            }
        }
    )+};
}

stored! {
    bool: json, go_json::encode;
    String: json, go_json::encode;
    ContextMeta: json, go_json::encode;
    Connectivity: json, go_json::encode;
    ContextStatus: |value| Ok(json::<StatusValue<_>>(value)?.status),
        |status| go_json::encode(&StatusValue { status });
    RsyncStatus: |value| Ok(json::<StatusValue<_>>(value)?.status),
        |status| go_json::encode(&StatusValue { status });
    ContextId: |value| json::<String>(value)?.parse().map_err(|error| format!("{error}")),
        |id| go_json::encode(id.as_str());
    Json: |value| Ok(Self(json::<Box<RawValue>>(value)?.get().into())), |value| Ok(value.as_str().to_owned());
    AppOrder: instruction, encode_instruction;
    AppsDependency: instruction, encode_instruction;
    AppDependency: instruction, encode_instruction;
    ResourceOrder: instruction, encode_instruction;
    ResourceDependency: instruction, encode_instruction;
}

/// Decodes an instruction, which is stored as a JSON string.
fn instruction<I: crate::Instruction>(stored: &[u8]) -> Result<I, String> {
    I::decode(&json::<String>(stored)?)
}

fn encode_instruction<I: crate::Instruction>(instruction: &I) -> Result<String> {
    go_json::encode(&instruction.encode()?)
}
