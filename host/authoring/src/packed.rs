//! Files that the build script packed into the program.

use std::collections::BTreeMap;
use std::io::Read as _;

use flate2::read::GzDecoder;

/// Packed files: an object of names and texts, as compressed JSON.
pub(crate) struct Packed(&'static [u8]);

/// The crates of the SDK in Rust, with the manifest of their workspace.
pub(crate) const SDK: Packed = Packed(include_bytes!(concat!(env!("OUT_DIR"), "/sdk.gz")));

/// The templates of projects, each below the name of its language, and the contract below `wit`.
pub(crate) const TEMPLATES: Packed =
    Packed(include_bytes!(concat!(env!("OUT_DIR"), "/templates.gz")));

impl Packed {
    /// The files by name. The build script wrote them, so the result is empty only if the program is damaged.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let mut json = String::new();
        match GzDecoder::new(self.0).read_to_string(&mut json) {
            Ok(_) => serde_json::from_str(&json).unwrap_or_default(),
            Err(_) => BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sdk_and_the_contract_are_packed() {
        let sdk = SDK.files();
        for file in [
            "Cargo.toml",
            "contract/src/lib.rs",
            "rust/wit/interpreter.wit",
        ] {
            assert!(sdk.contains_key(file), "{file}");
        }
        assert!(!sdk["Cargo.toml"].contains("kindsight-server"));
        assert!(TEMPLATES.files().contains_key("wit/interpreter.wit"));
    }
}
