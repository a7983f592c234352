//! Refusals of components, by the step that refused them.

use kindsight_model::{LoadStep, clean};

use crate::fault::Fault;
use crate::interpreter::dropped_lines;
use crate::limits::{
    PARTS_MAX, REFUSAL_PROBLEM_BYTES_MAX, REFUSAL_PROBLEMS_MAX, REFUSAL_TEXT_BYTES_MAX,
};

/// Advice for a component that imports WASI.
const WITHOUT_WASI: &str = "In Rust: `cargo build --release --target wasm32-unknown-unknown`; in Python: `componentize-py componentize --stub-wasi`; in JavaScript: `jco componentize --disable all`";

/// Advice for the crates that most often import wasm-bindgen.
const WITHOUT_BINDGEN: &str = "for `chrono` it is `default-features = false, features = [\"alloc\"]` in Cargo.toml. An interpreter has no clock: the time is in its input";

/// The refusal of a component. [`LoadError::step`] returns the step that refused it.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The component is over the size limit.
    #[error(
        "{0} bytes are over the limit of {1} bytes: `kindsight serve --component-bytes-max` raises it"
    )]
    TooLarge(usize, usize),
    /// The bytes are not Wasm, or are damaged.
    #[error("not a WebAssembly component: {0}")]
    NotAComponent(String),
    /// The component imports something that the host does not offer.
    #[error(
        "imports `{0}`, which the host does not offer: an interpreter may import nothing but `kindsight:interpreter/log`"
    )]
    ForeignImport(String),
    /// The component imports WASI. Contains the imports as text, and the Rust target that links it,
    /// if known.
    #[error("imports {0}: it is built for {1}, and the host offers no WASI. {WITHOUT_WASI}")]
    Wasi(String, String),
    /// The component imports functions that wasm-bindgen implements in JavaScript. Contains the
    /// import.
    #[error(
        "imports `{0}`: some crate in it is for browsers and uses wasm-bindgen. `cargo tree --target wasm32-unknown-unknown --invert wasm-bindgen` shows which; {WITHOUT_BINDGEN}"
    )]
    WasmBindgen(String),
    /// The file is a core module without the contract's types.
    #[error(
        "a core module without the contract's types (it has no `component-type` section): `kindsight_sdk::export!(YourInterpreter);` is missing in its src/lib.rs, or this is the .wasm of a program and not of a library (`crate-type = [\"cdylib\"]`)"
    )]
    NoContractTypes,
    /// The component has more core instances, memories or tables than the limit.
    #[error(
        "has more than {0} core instances, memories or tables, which is the limit: `kindsight serve --parts-max` raises it, up to {PARTS_MAX}"
    )]
    TooManyParts(u16),
    /// The component does not export the contract.
    #[error("does not export `kindsight:interpreter/description`")]
    NotAnInterpreter,
    /// The component is written for another major version of the contract.
    #[error("is built for contract {0}; this host speaks 1.x")]
    OtherMajor(String),
    /// The compiler refused the component, panicked, or exceeded its limits of time or memory.
    #[error("{0}")]
    Compile(String),
    /// This host cannot compile the component at present. It is not a fault of the component, and
    /// another attempt may succeed.
    #[error("this host could not compile it: {0}")]
    Host(String),
    /// The functions or types of the component differ from the contract's.
    #[error("the types of its exports differ from the contract: {0}")]
    Shapes(String),
    /// The component cannot be instantiated.
    #[error("it cannot be instantiated: {0}")]
    Instance(String),
    /// A call ended in a fault.
    #[error("`{0}` {1}")]
    Call(&'static str, Fault),
    /// The description of the component violates rules of the contract.
    #[error("its description is wrong: {}", first(.0))]
    Description(Vec<String>),
    /// The schema of the component's settings is broken or too expensive.
    #[error("{0}")]
    SettingsSchema(String),
    /// The list of the component's fixtures violates rules of the contract.
    #[error("its fixtures cannot be read: {}", first(.0))]
    FixtureList(Vec<String>),
    /// Some of the component's own fixtures failed.
    #[error("{} of its fixtures failed: {}", .0.len(), first(.0))]
    Fixtures(Vec<String>),
    /// Another refusal, of a component that logged more than its limits permit.
    #[error("{error}; {}", dropped_lines(*lines))]
    WithDroppedLines {
        /// The refusal.
        error: Box<Self>,
        /// Number of log lines that were dropped.
        lines: u64,
    },
}

/// The first problems, which the author must solve first.
fn first(problems: &[String]) -> String {
    let first = problems.get(..REFUSAL_PROBLEMS_MAX).unwrap_or(problems);
    first.join("; ")
}

impl LoadError {
    /// The refusal with its step, in the form for users: `tried: …`.
    pub fn with_step(&self) -> String {
        format!("{}: {self}", self.step())
    }

    /// The same refusal with every text cleaned and truncated, because nearly all of the texts
    /// repeat a part of the component.
    pub(crate) fn cleaned(self) -> Self {
        let one = |text: String| clean(&text, REFUSAL_TEXT_BYTES_MAX).into_owned();
        let all = |texts: Vec<String>| {
            let texts = texts.into_iter();
            texts
                .map(|text| clean(&text, REFUSAL_PROBLEM_BYTES_MAX).into_owned())
                .collect()
        };
        match self {
            Self::NotAComponent(text) => Self::NotAComponent(one(text)),
            Self::ForeignImport(text) => Self::ForeignImport(one(text)),
            Self::Wasi(text, target) => Self::Wasi(one(text), one(target)),
            Self::WasmBindgen(text) => Self::WasmBindgen(one(text)),
            Self::OtherMajor(text) => Self::OtherMajor(one(text)),
            Self::Compile(text) => Self::Compile(one(text)),
            Self::Host(text) => Self::Host(one(text)),
            Self::Shapes(text) => Self::Shapes(one(text)),
            Self::Instance(text) => Self::Instance(one(text)),
            Self::SettingsSchema(text) => Self::SettingsSchema(one(text)),
            Self::Description(texts) => Self::Description(all(texts)),
            Self::FixtureList(texts) => Self::FixtureList(all(texts)),
            Self::Fixtures(texts) => Self::Fixtures(all(texts)),
            Self::WithDroppedLines { error, lines } => Self::WithDroppedLines {
                error: error.cleaned().into(),
                lines,
            },
            // Numbers, and faults, which are already clean.
            error @ (Self::TooLarge(..)
            | Self::NotAnInterpreter
            | Self::NoContractTypes
            | Self::TooManyParts(_)
            | Self::Call(..)) => error,
        }
    }

    /// The step that refused the component.
    pub fn step(&self) -> LoadStep {
        match self {
            Self::TooLarge(..) => LoadStep::Received,
            Self::NotAComponent(_)
            | Self::ForeignImport(_)
            | Self::Wasi(..)
            | Self::WasmBindgen(_)
            | Self::NoContractTypes
            | Self::NotAnInterpreter
            | Self::SettingsSchema(_)
            | Self::OtherMajor(_) => LoadStep::Validated,
            Self::Compile(_) | Self::Host(_) => LoadStep::Compiled,
            Self::Shapes(_)
            | Self::Instance(_)
            | Self::TooManyParts(_)
            | Self::Call(..)
            | Self::Description(_)
            | Self::FixtureList(_)
            | Self::Fixtures(_) => LoadStep::Tried,
            Self::WithDroppedLines { error, .. } => error.step(),
        }
    }
}
