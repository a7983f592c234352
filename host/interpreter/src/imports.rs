//! Checks a component's imports and exports before it is compiled.

use wasmparser::component_types::{ComponentAnyTypeId, ComponentEntityType, ComponentItem};
use wasmparser::types::TypesRef;
use wasmparser::{Parser, Payload, Validator};

use crate::load_error::LoadError;

/// The interface that an interpreter must export, without its version.
const CONTRACT: &str = "kindsight:interpreter/description@";
/// The only interface with functions that an interpreter may import.
const LOG: &str = "kindsight:interpreter/log@1.";
/// The only function of that interface.
const EMIT: &str = "emit";
/// Maximum number of WASI interfaces that a refusal names.
const WASI_NAMED_MAX: usize = 8;
/// The major version of the contract that this host supports.
const MAJOR: &str = "1.";

/// Refuses a damaged component, imports that the host does not offer (by name), and another major
/// version of the contract. Takes a small part of the time of the compilation.
pub(crate) fn check(component: &[u8]) -> Result<(), LoadError> {
    let damaged = |error: wasmparser::Error| LoadError::NotAComponent(error.to_string());
    let types = Validator::new().validate_all(component).map_err(damaged)?;
    let names = Names::of(component).map_err(damaged)?;
    let types = types.as_ref();
    if let Some(wasi) = wasi(&names.imports) {
        return Err(wasi);
    }
    for name in names.imports {
        let Some(import) = types.component_item_for_import(name) else {
            continue;
        };
        if !name.starts_with(LOG) && is_more_than_types(import, types) {
            return Err(LoadError::ForeignImport(name.to_owned()));
        }
        if let Some(other) = other_than_emit(import, types) {
            return Err(LoadError::ForeignImport(format!("{name}#{other}")));
        }
    }
    let exports = names.exports.into_iter();
    let versions: Vec<&str> = exports
        .filter_map(|name| name.strip_prefix(CONTRACT))
        .collect();
    // A component may export several versions. One supported version is sufficient.
    match versions.first() {
        None => Err(LoadError::NotAnInterpreter),
        Some(_) if versions.iter().any(|version| version.starts_with(MAJOR)) => Ok(()),
        Some(version) => Err(LoadError::OtherMajor((*version).to_owned())),
    }
}

/// The refusal of a component that imports WASI, with the imported interfaces.
fn wasi(imports: &[&str]) -> Option<LoadError> {
    let wasi = imports.iter().filter(|name| name.starts_with("wasi:"));
    let mut wasi: Vec<&str> = wasi
        .map(|name| name.split_once('@').map_or(*name, |(name, _)| name))
        .collect();
    wasi.dedup();
    let first = wasi.first()?;
    let mut text = format!("`{first}`");
    for name in wasi.iter().take(WASI_NAMED_MAX).skip(1) {
        text.extend([", `", name, "`"]);
    }
    let others = wasi.len().saturating_sub(WASI_NAMED_MAX);
    if others > 0 {
        let more = others.to_string();
        text.extend([" and ", &more, " more"]);
    }
    let target = "WASI (`wasm32-wasip2`, where Rust's std imports these by itself)";
    Some(LoadError::Wasi(text, target.to_owned()))
}

/// Imports and exports of the outermost component, in order.
#[derive(Default)]
struct Names<'c> {
    imports: Vec<&'c str>,
    exports: Vec<&'c str>,
}

impl<'c> Names<'c> {
    fn of(component: &'c [u8]) -> wasmparser::Result<Self> {
        let mut names = Self::default();
        // Components and modules are nested. The container resolves the imports of inner ones.
        let mut depth = 0_u32;
        for payload in Parser::new(0).parse_all(component) {
            match payload? {
                Payload::Version { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::ComponentImportSection(section) if depth == 1 => {
                    for import in section {
                        names.imports.push(import?.name.name);
                    }
                }
                Payload::ComponentExportSection(section) if depth == 1 => {
                    for export in section {
                        names.exports.push(export?.name.name);
                    }
                }
                _ => {}
            }
        }
        Ok(names)
    }
}

/// Finds an item in an import of the log other than its only function.
fn other_than_emit<'t>(item: &ComponentItem, types: TypesRef<'t>) -> Option<&'t str> {
    let ComponentEntityType::Instance(log) = item.ty else {
        return None;
    };
    let log: &'t _ = types.get(log)?;
    let mut exports = log.exports.iter();
    let (other, _) =
        exports.find(|(name, export)| *name != EMIT && is_more_than_types(export, types))?;
    Some(other)
}

/// Returns whether an import is more than types: a function, a resource, or code.
fn is_more_than_types(item: &ComponentItem, types: TypesRef<'_>) -> bool {
    match item.ty {
        ComponentEntityType::Type { created, .. } => {
            matches!(created, ComponentAnyTypeId::Resource(_))
        }
        ComponentEntityType::Instance(instance) => types.get(instance).is_none_or(|instance| {
            let mut exports = instance.exports.values();
            exports.any(|export| is_more_than_types(export, types))
        }),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wasi_imports_of_std_are_named_once_and_shortened() {
        let std = [
            "wasi:cli/environment@0.2.6",
            "wasi:clocks/wall-clock@0.2.6",
            "wasi:clocks/wall-clock@0.2.6",
        ];
        let text = wasi(&std).expect("refused").to_string();
        let expected = "imports `wasi:cli/environment`, `wasi:clocks/wall-clock`: it is built for WASI (`wasm32-wasip2`, where Rust's std imports these by itself), and the host offers no WASI.";
        assert!(text.starts_with(expected), "{text}");
        let many: Vec<String> = (0..10)
            .map(|index| format!("wasi:io/i{index}@0.2.0"))
            .collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let text = wasi(&many).expect("refused").to_string();
        assert!(text.contains("`wasi:io/i7` and 2 more: it is"), "{text}");
        assert!(wasi(&["kindsight:interpreter/log@1.0.0"]).is_none());
    }
}
