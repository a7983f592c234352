//! Shared types: names, objects, bundles and their decoding, phases, verdicts.
//!
//! The only crate that every other may depend on. It does no IO, reads no clock and knows no protocol:
//! constructors validate, decoding is total and bounded, and one bad item does not affect the others.

#![warn(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout
)]

mod bundle;
mod catalog;
mod claims;
mod clean;
mod cluster_facts;
mod coverage;
mod declared;
mod digest;
mod go_json;
mod hook;
mod identity;
mod interpreter_name;
mod inventory;
mod involved_kinds;
mod label_selector;
mod labels;
mod lenient;
mod lifecycle;
pub mod manifest;
mod name_pattern;
mod names;
mod object;
mod object_list;
mod phase;
mod redact;
mod report;
mod rsync;
mod states;
mod stored_text;
mod subject_set;
mod texts;
mod verdict;
mod words;

pub use bundle::{
    BUNDLE_BYTES_MAX, BUNDLE_ITEMS_MAX, Bundle, BundleDialect, BundleDocument, BundleError,
    BundleFormat, BundlePart, BundleWrite, EncodedBundle, PART_LABEL, PartDocument,
    REPORT_ANNOTATION, REPORT_BYTES_MAX, Rejected, RejectedIdentity, SplitBundle, StoredBundle,
    decode_bundle, decode_status, encode_bundle, read_bundle, status_digest,
};
pub use catalog::{CatalogAction, LoadStep, Source, VersionOutcome};
pub use claims::{Claims, ClaimsByPosition, OtherClaim};
pub use clean::{clean, clean_json};
pub use cluster_facts::{AuditCounts, ClusterFacts, ReportMode};
pub use coverage::{
    Absence, Coverage, CoverageEntry, CoverageRow, KindCoverage, KindState, Presence, Scope,
    is_served_by,
};
pub use declared::{Declared, DeclaredReason};
pub use digest::Digest;
pub use go_json::{RawJson, write_go_json};
pub use hook::Hook;
pub use identity::Identity;
pub use interpreter_name::InterpreterName;
pub use inventory::{MissingResource, MissingResources};
pub use involved_kinds::InvolvedKinds;
pub use kindsight_contract::{KindPattern, LabelSelector, Relation, Specificity};
pub use label_selector::{SELECTOR_BYTES_MAX, SelectorError, parse_selector};
pub use lifecycle::{ContextStatus, LifecycleState};
pub use name_pattern::{NamePattern, NamePatternError};
pub use names::{
    ClusterName, ContextId, DeploymentId, DigName, Gvk, INSTANCE_LABEL, LABEL_VALUE_GRAMMAR,
    LogicalCloudName, NAME_BYTES_MAX, NAME_GRAMMAR, NameError, is_label_value, is_name,
};
pub use object::{
    OBJECT_BYTES_MAX, Object, ObjectError, ObjectFields, Owner, PARSED_BYTES_MAX, ScaleTarget,
    set_tree_budget, text_bytes, tree_budget, tree_bytes,
};
pub use object_list::ObjectList;
pub use phase::Phase;
pub use report::{Origin, Removal, Report, Subject};
pub use rsync::{Connectivity, RsyncStatus};
pub use states::{RecordSubject, StateAction, StateInfo, StatesNews};
pub use stored_text::{ShownText, without_secrets};
pub use subject_set::{
    ApplicationPattern, LogicalCloudPattern, SubjectPattern, SubjectPatternError, SubjectSet,
};
pub use texts::Texts;
pub use verdict::{InterpretedBy, Verdict, host_reason, host_state};
