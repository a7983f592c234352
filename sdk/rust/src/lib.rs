//! SDK for kindsight interpreters: one takes about twenty lines of Rust.
//!
//! An interpreter is a type that implements [`Interpreter`] and is handed to [`export!`]:
//!
//! ```
//! use kindsight_sdk::prelude::*;
//!
//! struct Widgets;
//!
//! impl Interpreter for Widgets {
//!     fn describe() -> Description {
//!         Description::new("widgets.example.com", "1.0.0", "Widgets of example.com")
//!             .kind(Kind::new("example.com", "*", "Widget").fields(&["/status/phase"]))
//!             .states(&[READY, PENDING])
//!             .state("Draining", Phase::Pending, "Finishing its work before it stops")
//!     }
//!
//!     fn interpret(widget: &Object<'_>, _: &Input<'_>) -> Result<Verdict, Failure> {
//!         Ok(match widget.at("/status/phase").text() {
//!             Some("Running") => Verdict::ready("Running", ""),
//!             Some("Draining") => Verdict::new("Draining", "Draining", "finishing its work"),
//!             phase => Verdict::pending("NotRunning", phase.unwrap_or("no phase yet")),
//!         })
//!     }
//!
//!     fn fixtures() -> Vec<Fixture> {
//!         vec![
//!             Fixture::new("a draining widget", "Draining")
//!                 .object(r#"{"apiVersion": "example.com/v1", "kind": "Widget", "status": {"phase": "Draining"}}"#),
//!         ]
//!     }
//! }
//!
//! kindsight_sdk::export!(Widgets);
//!
//! // In the crate's own tests: every fixture, natively, without Wasm.
//! kindsight_sdk::harness::check_fixtures::<Widgets>();
//! ```
//!
//! Build it as a `cdylib` for `wasm32-unknown-unknown`; the host accepts the module as it is, and
//! makes a component of it when it loads it.
//!
//! The readers never panic: whatever the object is, a missing or malformed value reads as absent.

#[expect(
    clippy::pedantic,
    reason = "generated from wit/interpreter.wit, which documents every item"
)]
#[doc(hidden)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../../wit",
        world: "plugin-with-fixtures",
        pub_export_macro: true,
        default_bindings_module: "kindsight_sdk::bindings",
        runtime_path: "::kindsight_sdk::wit_bindgen::rt",
    });
}

#[cfg(target_arch = "wasm32")]
#[doc(hidden)]
pub use talc;
#[doc(hidden)]
pub use wit_bindgen;

// The generated code names this crate by its name, in its authors' crates and here.
extern crate self as kindsight_sdk;

mod condition;
mod deadline;
mod description;
mod document;
mod export;
mod fixture;
pub mod harness;
mod input;
mod node;
mod object;
pub mod standard;
pub mod time;
mod verdict;

pub use condition::{Condition, ConditionStatus, Conditions};
pub use description::{Description, Kind, Relation, StateName, states};
pub use export::{Adapter, LogLevel, log};
pub use fixture::Fixture;
pub use input::{Input, Related};
pub use node::Node;
pub use object::{Deletion, Object};
pub use verdict::{Failure, Phase, Verdict};

/// A pure function from an object to a verdict, and its description.
///
/// No state may be kept from one call to the next: the host reuses an instance for many objects and
/// retires it at any time.
pub trait Interpreter {
    /// Describes this interpreter. Called once when the component is loaded.
    fn describe() -> Description;

    /// Judges one object. Called for every change of it.
    ///
    /// # Errors
    /// [`Failure::Unsupported`] hands the object to the next less specific interpreter.
    fn interpret(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure>;

    /// Objects with the expected verdicts; the host checks them before the component goes live.
    fn fixtures() -> Vec<Fixture> {
        Vec::new()
    }
}

/// Everything an interpreter's source normally uses.
pub mod prelude {
    pub use crate::states::*;
    pub use crate::{
        Condition, ConditionStatus, Conditions, Description, Failure, Fixture, Input, Interpreter,
        Kind, Node, Object, Phase, Related, Relation, Verdict, standard,
    };
}
