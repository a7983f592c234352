//! The interpreters inside the binary, as Wasm components.
//!
//! The build script builds every crate in the folders beside this one for `wasm32-unknown-unknown`
//! and converts it to a component, so that `cargo run` and `cargo test` need no preparation.

/// One built-in interpreter.
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn {
    /// The name of its folder under `plugins/`.
    pub name: &'static str,
    /// The component's bytes.
    pub wasm: &'static [u8],
}

/// All built-in interpreters, in order of name.
pub static BUILT_IN: &[BuiltIn] = include!(concat!(env!("OUT_DIR"), "/guests.rs"));

/// The built-in interpreter from the folder `plugins/<name>`.
pub fn built_in(name: &str) -> Option<BuiltIn> {
    BUILT_IN
        .iter()
        .copied()
        .find(|built_in| built_in.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_is_a_component() {
        assert!(BUILT_IN.iter().any(|built_in| built_in.name == "generic"));
        for built_in in BUILT_IN {
            assert_eq!(
                &built_in.wasm[..8],
                b"\0asm\x0d\0\x01\0",
                "{}",
                built_in.name
            );
        }
    }
}
