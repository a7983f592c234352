//! Machine code of components, as it comes from the compiler or the cache.

use std::hash::{DefaultHasher, Hash, Hasher};

use wasmtime::component::Component;

use crate::Engine;

/// Hash of all that decides whether an engine can run the code: version, settings and processor.
pub(crate) fn compatibility(engine: &Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    let engine = engine.inner();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}

/// Loads machine code: the only code of this project that trusts bytes to be such.
#[expect(
    unsafe_code,
    reason = "wasmtime cannot check machine code; the seal of this host does"
)]
pub(crate) fn deserialize(engine: &Engine, code: &[u8]) -> Option<Component> {
    // SAFETY: the bytes were made by this host's compiler: they come from it directly, or from a
    // file that carries the seal of a key which only this user can read. wasmtime itself refuses
    // those of another version or configuration.
    unsafe { Component::deserialize(engine.inner(), code) }.ok()
}
