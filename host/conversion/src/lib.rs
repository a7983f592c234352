//! Makes interpreters from the rules of other tools.
//!
//! rules of another tool -> checked -> data -> **spliced** into a template -> component
//!
//! The templates are components with a machine for one language and without rules. The build script
//! builds them, so that no toolchain is needed to convert rules.
#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

pub mod argo;
pub mod cel;
mod conversion;
pub mod declarative;
pub mod flux;
pub mod karmada;
pub mod limits;
mod lua;
pub mod splice;
pub mod yaml;

pub use conversion::{Conversion, ConversionError, Refused};
pub use splice::{SpliceError, splice};

/// A component with a machine for one language, without rules.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Template {
    /// The name of its folder under `sdk/templates/`.
    pub(crate) name: &'static str,
    /// The component's bytes.
    pub(crate) wasm: &'static [u8],
}

/// All templates, in order of name.
pub(crate) static TEMPLATES: &[Template] = include!(concat!(env!("OUT_DIR"), "/guests.rs"));

/// The bytes of the template from the folder `sdk/templates/<name>`, or no bytes if there is none,
/// which [`splice()`] refuses.
pub(crate) fn template(name: &str) -> &'static [u8] {
    let found = TEMPLATES.iter().find(|template| template.name == name);
    found.map_or(&[], |template| template.wasm)
}

/// The component with the rules of kstatus.
pub fn kstatus() -> &'static [u8] {
    template("kstatus")
}
