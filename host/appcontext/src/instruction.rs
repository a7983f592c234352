//! Instructions: the order of apps and resources, and what they depend on.
//!
//! An instruction is JSON text, stored as a JSON string. Members that are not known here are kept
//! as they were stored, in their place.

use serde::de::DeserializeOwned;

use crate::members::Members;
use crate::{Result, go_json};

mod depends_on;
mod order;
mod resource_dependency;

pub use depends_on::{AppDependency, AppsDependency, DependsOn};
pub use order::{AppOrder, ResourceOrder};
pub use resource_dependency::{ResourceDependency, ResourceWait};

/// The dependency of a thing that starts at once, in its place of the order.
pub const GO: &str = "go";

/// A typed instruction. Implemented by the instructions of this crate alone.
pub trait Instruction: sealed::Sealed {}

/// The stored form of an instruction.
pub(crate) mod sealed {
    use crate::Result;

    /// Reads and writes an instruction.
    pub trait Sealed: Sized {
        /// Decodes the text of an instruction; the error is a fragment of a sentence.
        fn decode(text: &str) -> Result<Self, String>;

        /// Encodes the text of an instruction, as Go writes it.
        fn encode(&self) -> Result<String>;
    }
}

/// Decodes the JSON text of an instruction.
fn decode<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Implements an instruction that is an object with known members.
macro_rules! instruction_of_members {
    ($name:ident) => {
        impl $crate::instruction::Instruction for $name {}

        impl $crate::instruction::sealed::Sealed for $name {
            fn decode(text: &str) -> $crate::Result<Self, String> {
                Self::of($crate::instruction::decode(text)?)
            }

            fn encode(&self) -> $crate::Result<String> {
                self.members()
                    .and_then(|members| $crate::go_json::encode(&members))
            }
        }
    };
}
use instruction_of_members;

/// The names in a member that holds a list; Go writes an empty one as `null`.
fn names(members: &Members, name: &str) -> Result<Vec<String>, String> {
    Ok(members.get(name)?.unwrap_or_default())
}

/// The members with a list of names. The stored list is replaced if it differs.
fn with_names(stored: &Members, name: &str, list: &[String]) -> Result<Members> {
    let mut members = stored.clone();
    let is_stored = names(stored, name).is_ok_and(|stored| stored == list);
    if !is_stored || members.is_empty() {
        members.set(name, list)?;
    }
    Ok(members)
}

/// Removes all of one name. Returns whether there was one.
fn remove_name(list: &mut Vec<String>, name: &str) -> bool {
    let before = list.len();
    list.retain(|known| known != name);
    list.len() != before
}

/// Encodes as the text of an instruction.
fn encode<T: serde::Serialize>(value: &T) -> Result<String> {
    go_json::encode(value)
}

#[cfg(test)]
mod tests;
