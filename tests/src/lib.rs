//! Shared parts of the tests: misbehaving guests, the examples for authors, and programs of other projects.

mod go_peers;

pub use go_peers::{argo_scripts, flux_peer};

/// A guest, built to a component by this crate's build script.
#[derive(Debug, Clone, Copy)]
pub struct Guest {
    /// The name of its folder, under `tests/guests/` or `sdk/examples/`.
    pub name: &'static str,
    /// The component's bytes.
    pub wasm: &'static [u8],
}

/// All guests.
pub static GUESTS: &[Guest] = include!(concat!(env!("OUT_DIR"), "/guests.rs"));

/// Description of the hostile guest as it was built: where its buffer begins.
const ORIGINAL: &[u8] = br#"{"name": "hostile"}"#;

/// The hostile guest with that `description`: JSON text with the members that
/// `tests/guests/hostile/src/description.rs` lists. Each description makes a different component with its own digest.
///
/// # Panics
/// If the text does not fit into the guest's buffer.
pub fn hostile(description: &str) -> Vec<u8> {
    let guest = GUESTS.iter().find(|guest| guest.name == "hostile");
    let mut wasm = guest.expect("the hostile guest was built").wasm.to_vec();
    let start = wasm
        .windows(ORIGINAL.len())
        .position(|bytes| bytes == ORIGINAL)
        .expect("its own text in its data");
    let (_, rest) = wasm.split_at_mut(start);
    let spaces = rest
        .iter()
        .skip(ORIGINAL.len())
        .take_while(|byte| **byte == b' ');
    let capacity = ORIGINAL.len() + spaces.count();
    assert!(description.len() <= capacity, "over {capacity} bytes");
    let padding = std::iter::repeat(b' ');
    for (byte, new) in rest
        .iter_mut()
        .zip(description.bytes().chain(padding))
        .take(capacity)
    {
        *byte = new;
    }
    wasm
}

pub mod worst;
