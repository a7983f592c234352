//! The contract as Rust types: the types generated from the WIT, and the input of `judge`.

use wasmtime::component::{ComponentType, Lower};

mod generated {
    wasmtime::component::bindgen!({
        path: "../../wit",
        inline: "
            package kindsight:host;
            world host {
                import kindsight:interpreter/log@1.0.0;
                import kindsight:interpreter/types@1.0.0;
            }
        ",
    });
}

pub(crate) use generated::kindsight::interpreter::log;
pub(crate) use generated::kindsight::interpreter::types::{Failure, Verdict};

/// The answer of a call.
pub(crate) type JudgeResult = Result<Verdict, Failure>;

/// `input` of the interface `text`.
#[derive(ComponentType, Lower)]
#[component(record)]
pub(crate) struct Input<'c> {
    pub(crate) object: &'c str,
    pub(crate) related: &'c [RelatedSet<'c>],
    #[component(name = "now-ms")]
    pub(crate) now_ms: Option<i64>,
    pub(crate) settings: &'c str,
}

/// `related-set` of the interface `text`.
#[derive(ComponentType, Lower)]
#[component(record)]
pub(crate) struct RelatedSet<'c> {
    pub(crate) objects: Vec<&'c str>,
    pub(crate) total: u32,
    pub(crate) coverage: Coverage,
}

/// `coverage` of the interface `text`.
#[derive(ComponentType, Lower, Clone, Copy)]
#[component(enum)]
#[repr(u8)]
pub(crate) enum Coverage {
    /// All related objects are in the set.
    #[component(name = "complete")]
    Complete,
    /// Only some of the related objects are in the set.
    #[component(name = "partial")]
    Partial,
    /// Kinds of related objects that no source reports.
    #[component(name = "unknown")]
    Unknown,
}

impl From<kindsight_contract::Coverage> for Coverage {
    fn from(coverage: kindsight_contract::Coverage) -> Self {
        match coverage {
            kindsight_contract::Coverage::Complete => Self::Complete,
            kindsight_contract::Coverage::Partial => Self::Partial,
            kindsight_contract::Coverage::Unknown => Self::Unknown,
        }
    }
}
