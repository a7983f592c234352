//! From the output of a compiler to a component: embeds the contract's types in a core module, and puts an adapter in
//! place of WASI.

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

use crate::packed::TEMPLATES;

/// The adapter in place of WASI preview 1.
const WASI_STUBS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/wasi_stubs.wasm"));

/// The module of WASI preview 1, as core modules import it.
const WASI: &str = "wasi_snapshot_preview1";

/// The beginning of a component.
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// The beginning of the name of the custom section with the contract's types, which bindings write.
const TYPES_SECTION: &[u8] = b"component-type";

/// The reason why a module is no component of an interpreter.
#[derive(Debug, thiserror::Error)]
pub enum ComponentError {
    /// The contract in this program cannot be read.
    #[error("read the contract: {0}")]
    Contract(String),
    /// The module cannot be converted. Usually an export of the contract is missing or has another type.
    #[error("make a component of the module: {0}")]
    Convert(String),
}

/// Makes a component of a core module, for a world of the contract. A module that has the types of its world already
/// keeps them. Imports of WASI preview 1 are replaced: see `wasi_stubs.wat`. Returns a component unchanged.
///
/// # Errors
/// If the module does not fit the world.
pub fn component_of(module: Vec<u8>, world: &str) -> Result<Vec<u8>, ComponentError> {
    if module.starts_with(COMPONENT) {
        return Ok(module);
    }
    let module = if contains(&module, TYPES_SECTION) {
        module
    } else {
        with_types(module, world)?
    };
    let failed = |error| ComponentError::Convert(format!("{error:#}"));
    let mut encoder = ComponentEncoder::default().validate(true);
    encoder = encoder.module(&module).map_err(failed)?;
    if contains(&module, WASI.as_bytes()) {
        encoder = encoder.adapter(WASI, WASI_STUBS).map_err(failed)?;
    }
    encoder.encode().map_err(failed)
}

/// The module with the types of a world of the contract in a custom section.
fn with_types(mut module: Vec<u8>, world: &str) -> Result<Vec<u8>, ComponentError> {
    const FILE: &str = "wit/interpreter.wit";
    let read = |error| ComponentError::Contract(format!("{error:#}"));
    let templates = TEMPLATES.files();
    let wit = templates.get(FILE).map_or("", String::as_str);
    let mut resolve = Resolve::default();
    let package = resolve
        .push_str(FILE, wit)
        .map_err(|error| ComponentError::Contract(error.to_string()))?;
    let world = resolve
        .select_world(&[package], Some(world))
        .map_err(read)?;
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
        .map_err(|error| ComponentError::Convert(format!("{error:#}")))?;
    Ok(module)
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
