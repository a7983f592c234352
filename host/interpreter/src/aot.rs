//! Machine code of components, from the compiler or the cache.

use std::hash::{DefaultHasher, Hash, Hasher};

use wasmtime::component::Component;

use crate::Engine;

/// Hash of everything that determines whether an engine can run the code: version, settings and
/// processor.
pub(crate) fn compatibility(engine: &Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    let engine = engine.inner();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}

/// Loads machine code. Only this function of the project trusts bytes to be machine code.
#[expect(
    unsafe_code,
    reason = "wasmtime cannot check machine code; the seal of this host does"
)]
pub(crate) fn deserialize(engine: &Engine, code: &[u8]) -> Option<Component> {
    // SAFETY: this host's compiler made the bytes: they come from it directly, or from a file with
    // the seal of a key that only this user can read. wasmtime itself rejects code of another
    // version or configuration.
    unsafe { Component::deserialize(engine.inner(), code) }.ok()
}
