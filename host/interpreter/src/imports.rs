//! Reads a component's imports and exports without running it.

use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;

use crate::load::LoadError;

/// The interface an interpreter must export, without its version.
const CONTRACT: &str = "kindsight:interpreter/interpreter@";
/// The only interface with functions that it may import.
const LOG: &str = "kindsight:interpreter/log@1.";
/// Its one function.
const EMIT: &str = "emit";
/// The major version of the contract that this host speaks.
const MAJOR: &str = "1.";

/// Refuses what the host does not offer, by name, and another major version of the contract.
pub(crate) fn check(component: &Component) -> Result<(), LoadError> {
    let engine = component.engine();
    let shape = component.component_type();
    for (name, import) in shape.imports(engine) {
        if !name.starts_with(LOG) && offers_something(&import.ty, engine) {
            return Err(LoadError::ForeignImport(name.to_owned()));
        }
        if let Some(other) = beside_emit(&import.ty, engine) {
            return Err(LoadError::ForeignImport(format!("{name}#{other}")));
        }
    }
    let exports = shape.exports(engine);
    let versions: Vec<&str> = exports
        .filter_map(|(name, _)| name.strip_prefix(CONTRACT))
        .collect();
    // A component may speak several versions; one of this host's is enough.
    match versions.first() {
        None => Err(LoadError::NotAnInterpreter),
        Some(_) if versions.iter().any(|version| version.starts_with(MAJOR)) => Ok(()),
        Some(version) => Err(LoadError::OtherMajor((*version).to_owned())),
    }
}

/// What an import of the log wants beside the one function that the log has.
fn beside_emit(item: &ComponentItem, engine: &wasmtime::Engine) -> Option<String> {
    let ComponentItem::ComponentInstance(log) = item else {
        return None;
    };
    let mut exports = log.exports(engine);
    let (other, _) =
        exports.find(|(name, export)| *name != EMIT && offers_something(&export.ty, engine))?;
    Some(other.to_owned())
}

/// Whether an import is more than types: a function, a resource, or code.
fn offers_something(item: &ComponentItem, engine: &wasmtime::Engine) -> bool {
    match item {
        ComponentItem::Type(_) => false,
        ComponentItem::ComponentInstance(instance) => instance
            .exports(engine)
            .any(|(_, export)| offers_something(&export.ty, engine)),
        _ => true,
    }
}
