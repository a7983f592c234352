//! SDK for kindsight interpreters: one takes about twenty lines of Rust.
//!
//! An interpreter is a type that implements [`Interpreter`] and is passed to [`export!`]:
//!
//! ```
//! use kindsight_sdk::prelude::*;
//!
//! struct Widgets;
//!
//! const DRAINING: State = State::new("Draining", Phase::Pending, "Finishing its work");
//!
//! impl Interpreter for Widgets {
//!     fn describe() -> Description {
//!         Description::new("widgets.example.com", "1.0.0", "Widgets of example.com")
//!             .kind(Kind::new("example.com", "*", "Widget").fields(&["/status/phase"]))
//!             .states(&[READY, DRAINING])
//!     }
//!
//!     fn judge(widget: &Object<'_>, _: &Input<'_>) -> Result<Verdict, Failure> {
//!         Ok(match widget.at("/status/phase").text() {
//!             Some("Running") => Verdict::ready("Running", ""),
//!             Some("Draining") => Verdict::new(DRAINING, "Draining", "finishing its work"),
//!             phase => Verdict::pending("NotRunning", phase.unwrap_or("no phase yet").to_owned()),
//!         })
//!     }
//!
//!     fn fixtures() -> Fixtures {
//!         fixtures!("fixtures")
//!     }
//! }
//!
//! kindsight_sdk::export!(Widgets);
//!
//! // In the crate's own tests: run every fixture natively, without Wasm.
//! kindsight_sdk::harness::check_fixtures::<Widgets>();
//! ```
//!
//! The fixtures are files in the crate, `fixtures/*.yaml`, each a list:
//!
//! ```yaml
//! - name: a draining widget
//!   object: {apiVersion: example.com/v1, kind: Widget, status: {phase: Draining}}
//!   expect: {state: Draining, reason: Draining}
//! ```
//!
//! Build it as a `cdylib` for `wasm32-unknown-unknown`. The host accepts the module unchanged, and
//! converts it to a component when it loads it.
//!
//! `println!` and `eprintln!` have no effect on that target. Lines that a rule writes with [`log`]
//! appear in the host's log and in the output of `kindsight interpret`, and in `cargo test` on
//! standard error. The user sees a panic with its message.
//!
//! The readers never panic: for any object, a missing or malformed value reads as absent.

#[expect(
    clippy::pedantic,
    reason = "generated from wit/interpreter.wit, which documents every item"
)]
#[doc(hidden)]
pub mod bindings {
    wit_bindgen::generate!({
        path: "wit",
        world: "view-interpreter",
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

// The generated code refers to this crate by its name, in its authors' crates and here.
extern crate self as kindsight_sdk;

mod condition;
mod deadline;
mod description;
mod export;
mod fixture;
#[cfg(not(target_arch = "wasm32"))]
pub mod harness;
mod input;
mod object;
pub mod spliced;
pub mod standard;
mod verdict;

pub use condition::{Condition, ConditionStatus, Conditions};
pub use description::{Description, Kind, Relation, State, states};
pub use export::{Adapter, LogLevel, log};
pub use fixture::Fixtures;
pub use input::{Input, RelatedSet};
pub use kindsight_contract::{Coverage, Node, time};
pub use kindsight_sdk_macros::fixtures;
pub use object::{Deletion, Object};
pub use verdict::{Failure, Phase, Verdict};

/// A pure function from an object to a verdict, and its description.
///
/// No state may be kept from one call to the next: the host uses an instance for many objects and
/// can retire it at any time.
pub trait Interpreter {
    /// Describes this interpreter. Called once when the component is loaded.
    fn describe() -> Description;

    /// Judges one object. Called for every change of it.
    ///
    /// # Errors
    /// With [`Failure::Unsupported`], the host calls the next less specific interpreter.
    fn judge(object: &Object<'_>, input: &Input<'_>) -> Result<Verdict, Failure>;

    /// Objects with the expected verdicts. The host checks them before the component goes live.
    fn fixtures() -> Fixtures {
        Fixtures::none()
    }
}

/// Everything that an interpreter's source normally uses.
pub mod prelude {
    pub use crate::states::*;
    pub use crate::{
        Condition, ConditionStatus, Conditions, Coverage, Description, Failure, Fixtures, Input,
        Interpreter, Kind, Node, Object, Phase, RelatedSet, Relation, State, Verdict, fixtures,
        standard,
    };
}
