//! Limits of the contract, by name.

/// Values in one JSON text that is read: an object of ordinary make has one for every dozen bytes, so
/// that the largest object has 180,000. A text of nothing but `0,` would take eight times its size.
pub const TREE_NODES_MAX: usize = 256 * 1024;
/// Largest answer of `describe`, in bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 256 * 1024;
/// Largest answer of `fixtures`, in bytes.
pub const FIXTURES_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest name of an interpreter, in bytes.
pub const NAME_BYTES_MAX: usize = 63;
/// Longest version of an interpreter, in bytes.
pub const VERSION_BYTES_MAX: usize = 64;
/// Longest summary of an interpreter, a state or a reason, in bytes.
pub const SUMMARY_BYTES_MAX: usize = 256;
/// Kinds of one interpreter.
pub const KINDS_MAX: usize = 256;
/// Longest group, version or Kind of a pattern, in bytes.
pub const PATTERN_PART_BYTES_MAX: usize = 253;
/// States of one interpreter.
pub const STATES_MAX: usize = 64;
/// Longest state, in bytes.
pub const STATE_BYTES_MAX: usize = 64;
/// Reasons that one interpreter describes.
pub const REASONS_MAX: usize = 256;
/// Longest reason, in bytes.
pub const REASON_BYTES_MAX: usize = 128;
/// Longest message of a verdict, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 4096;
/// Longest URL, in bytes.
pub const URL_BYTES_MAX: usize = 512;
/// Fields that one Kind or one related rule asks for.
pub const FIELDS_MAX: usize = 64;
/// Longest JSON pointer, in bytes.
pub const POINTER_BYTES_MAX: usize = 256;
/// Related rules of one Kind.
pub const RULES_MAX: usize = 8;
/// Related objects that one rule may ask for, and that one fixture may give.
pub const RELATED_MAX: usize = 256;
/// Longest key of a label, in bytes: a prefix of 253, a slash, a name of 63.
pub const LABEL_BYTES_MAX: usize = 317;
/// Largest schema of settings, in bytes.
pub const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// Fixtures of one interpreter.
pub const FIXTURES_MAX: usize = 256;
/// Longest name of a fixture, in bytes.
pub const FIXTURE_NAME_BYTES_MAX: usize = 128;
/// Problems, and warnings, that are reported at once; the author mends those first.
pub const PROBLEMS_MAX: usize = 16;
