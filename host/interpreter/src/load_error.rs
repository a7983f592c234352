//! Refusals of components, by the step that refused.

use kindsight_model::LoadStep;

use crate::fault::Fault;

/// The refusal of a component; [`LoadError::step`] says by which step.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Over the size limit.
    #[error("{0} bytes are over the limit of {1} bytes")]
    TooLarge(usize, usize),
    /// Not Wasm at all, or damaged.
    #[error("not a WebAssembly component: {0}")]
    NotAComponent(String),
    /// Imports something the host does not offer.
    #[error(
        "imports `{0}`, which the host does not offer: an interpreter may import nothing but `kindsight:interpreter/log`"
    )]
    ForeignImport(String),
    /// Does not export the contract.
    #[error("does not export `kindsight:interpreter/interpreter`")]
    NotAnInterpreter,
    /// Another major version of the contract.
    #[error("is written for version {0} of the contract, this host speaks 1.x")]
    OtherMajor(String),
    /// The compiler refused it, panicked, or went over its limits of time and memory.
    #[error("{0}")]
    Compile(String),
    /// Not the component's fault: this host could not compile it now. Worth another try.
    #[error("this host could not compile it: {0}")]
    Host(String),
    /// Its functions or types differ from the contract's.
    #[error("its exports do not have the contract's shapes: {0}")]
    Shapes(String),
    /// No instance of it could be made.
    #[error("no instance could be made of it: {0}")]
    Instance(String),
    /// A call ended in a fault.
    #[error("`{0}` {1}")]
    Call(&'static str, Fault),
    /// Its description breaks rules of the contract.
    #[error("its description is wrong: {}", .0.join("; "))]
    Description(Vec<String>),
    /// Failed its own fixtures.
    #[error("{} of its fixtures do not hold: {}", .0.len(), .0.join("; "))]
    Fixtures(Vec<String>),
}

impl LoadError {
    /// The refusal with its step, as people read it: `tried: …`.
    pub fn with_step(&self) -> String {
        format!("{}: {self}", self.step())
    }

    /// The step that refused the component.
    pub fn step(&self) -> LoadStep {
        match self {
            Self::TooLarge(..) => LoadStep::Received,
            Self::NotAComponent(_)
            | Self::ForeignImport(_)
            | Self::NotAnInterpreter
            | Self::OtherMajor(_) => LoadStep::Validated,
            Self::Compile(_) | Self::Host(_) => LoadStep::Compiled,
            Self::Shapes(_)
            | Self::Instance(_)
            | Self::Call(..)
            | Self::Description(_)
            | Self::Fixtures(_) => LoadStep::Tried,
        }
    }
}
