//! The contract as Rust types: the only generated code of the crate.

mod generated {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "plugin",
        ownership: Borrowing { duplicate_if_necessary: true },
    });
}

pub(crate) use generated::exports::kindsight::interpreter::interpreter::{Failure, Input, Verdict};
pub(crate) use generated::kindsight::interpreter::log;
pub(crate) use generated::kindsight::interpreter::types::RelatedObject;
pub(crate) use generated::{Plugin, PluginPre};
