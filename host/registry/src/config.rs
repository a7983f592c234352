//! The config of an artifact, by the CNCF's guidance for Wasm (`vnd.wasm.config.v0`).

use kindsight_model::Digest;
use serde::{Deserialize, Serialize};
use wasmparser::{Parser, Payload};

/// Media type of the config.
pub(crate) const WASM_CONFIG: &str = "application/vnd.wasm.config.v0+json";
/// Media type of the layer with the component.
pub(crate) const WASM_LAYER: &str = "application/wasm";
/// The architecture of every component.
const ARCHITECTURE: &str = "wasm";
/// The operating system that the guidance prescribes for components, also for those without WASI.
const OS: &str = "wasip2";

/// The config of an artifact with one component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WasmConfig {
    /// The time in RFC 3339.
    pub(crate) created: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) author: Option<String>,
    pub(crate) architecture: String,
    pub(crate) os: String,
    /// The digests of the layers, in their order.
    pub(crate) layer_digests: Vec<Digest>,
    /// The world of the component.
    pub(crate) component: Option<World>,
}

/// The names that a component imports and exports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct World {
    pub(crate) exports: Vec<String>,
    pub(crate) imports: Vec<String>,
}

impl WasmConfig {
    /// The config of a component that is made now, or the reason why the bytes are not a component.
    pub(crate) fn of(component: &[u8], created: &str) -> Result<Self, String> {
        Ok(Self {
            created: created.to_owned(),
            author: None,
            architecture: ARCHITECTURE.to_owned(),
            os: OS.to_owned(),
            layer_digests: vec![Digest::of(component)],
            component: Some(World::of(component)?),
        })
    }
}

impl World {
    fn of(component: &[u8]) -> Result<Self, String> {
        let not_a_component =
            |error: &dyn std::fmt::Display| format!("it is not a component: {error}");
        let mut world = Self::default();
        if !Parser::is_component(component) {
            return Err(if Parser::is_core_wasm(component) {
                "it is a core module, not a component: `wasm-tools component new` makes a component of it".to_owned()
            } else {
                "it is not a WebAssembly component".to_owned()
            });
        }
        // Components and modules inside the component have names of their own.
        let mut depth = 0_usize;
        for payload in Parser::new(0).parse_all(component) {
            match payload.map_err(|error| not_a_component(&error))? {
                Payload::Version { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::ComponentImportSection(section) if depth == 1 => {
                    for import in section {
                        let import = import.map_err(|error| not_a_component(&error))?;
                        world.imports.push(import.name.name.to_owned());
                    }
                }
                Payload::ComponentExportSection(section) if depth == 1 => {
                    for export in section {
                        let export = export.map_err(|error| not_a_component(&error))?;
                        world.exports.push(export.name.name.to_owned());
                    }
                }
                _ => {}
            }
        }
        Ok(world)
    }
}
