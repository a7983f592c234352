//! What things are: names, objects, bundles and their decoding, phases, verdicts.
//!
//! The first room, and the only one that every other may name. It does no IO, reads no clock and
//! knows no protocol: constructors check, decoding is total and bounded, and one bad item never
//! loses its neighbours.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod bundle;
mod labels;
mod lenient;
mod names;
mod object;
mod phase;
mod redact;
mod rsync;
mod verdict;

pub use bundle::{
    BUNDLE_BYTES_MAX, BUNDLE_ITEMS_MAX, Bundle, BundleError, Rejected, decode_bundle, decode_status,
};
pub use names::{ClusterName, ContextId, DeploymentId, DigName, Gvk, NameError, is_label_value};
pub use object::{OBJECT_BYTES_MAX, Object, ObjectError, Owner};
pub use phase::Phase;
pub use redact::redact_secret;
pub use rsync::RsyncStatus;
pub use verdict::{InterpretedBy, Verdict, host_reason, host_state};
