//! Checks a core module for the most common mistakes of authors, before it is converted to a
//! component.

use wasmparser::{Parser, Payload};

use crate::load_error::LoadError;

/// The beginning of the names of the custom sections in which the SDK's bindings store the
/// contract's types.
const TYPES_SECTION: &str = "component-type";
/// The beginning of the names of modules that wasm-bindgen imports from until its tool replaces
/// them.
const BINDGEN: &str = "__wbindgen_";
/// The module of functions that the linker did not find: functions in C, or in an `extern` block.
const NATIVE: &str = "env";

/// Refuses a core module that imports something that no host of interpreters offers, or that lacks
/// the contract's types. Other mistakes are detected during the conversion to a component.
pub(crate) fn check(module: &[u8]) -> Result<(), LoadError> {
    let damaged = |error: wasmparser::Error| LoadError::NotAComponent(error.to_string());
    let mut has_types = false;
    for payload in Parser::new(0).parse_all(module) {
        match payload.map_err(damaged)? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    let import = import.map_err(damaged)?;
                    check_import(import.module, import.name)?;
                }
            }
            Payload::CustomSection(section) => {
                has_types |= section.name().starts_with(TYPES_SECTION);
            }
            _ => {}
        }
    }
    if has_types {
        Ok(())
    } else {
        Err(LoadError::NoContractTypes)
    }
}

fn check_import(module: &str, name: &str) -> Result<(), LoadError> {
    let import = format!("{module}::{name}");
    if module.starts_with("wasi_") {
        let target = "WASI (`wasm32-wasip1`)";
        return Err(LoadError::Wasi(format!("`{import}`"), target.to_owned()));
    }
    if module.starts_with(BINDGEN) || module == "wbg" || module.ends_with("_bg.js") {
        return Err(LoadError::WasmBindgen(import));
    }
    if module == NATIVE {
        return Err(LoadError::ForeignImport(import));
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests;
