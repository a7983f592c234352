//! The named limits of the contract.

/// Maximum number of values in one JSON text. Ordinary objects have one value for every dozen
/// bytes, so the largest object has 180,000. A text that consists only of `0,` would need eight
/// times its size.
pub const TREE_NODES_MAX: usize = 256 * 1024;
/// Maximum size of the answer of `describe`, in bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 256 * 1024;
/// Maximum size of the answer of `fixtures`, in bytes.
pub const FIXTURES_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Maximum length of an interpreter's name, in bytes.
pub const NAME_BYTES_MAX: usize = 63;
/// Maximum length of an interpreter's version, in bytes.
pub const VERSION_BYTES_MAX: usize = 64;
/// Maximum length of the summary of an interpreter, a state or a reason, in bytes.
pub const SUMMARY_BYTES_MAX: usize = 256;
/// Maximum number of Kinds of one interpreter.
pub const KINDS_MAX: usize = 256;
/// Maximum length of the group, version or Kind of a pattern, in bytes.
pub const PATTERN_PART_BYTES_MAX: usize = 253;
/// Maximum number of states of one interpreter.
pub const STATES_MAX: usize = 64;
/// Maximum length of a state's name, in bytes.
pub const STATE_BYTES_MAX: usize = 64;
/// Maximum number of reasons that an interpreter describes.
pub const REASONS_MAX: usize = 256;
/// Maximum length of a reason, in bytes.
pub const REASON_BYTES_MAX: usize = 128;
/// Maximum length of a verdict's message, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 4096;
/// Maximum length of a URL, in bytes.
pub const URL_BYTES_MAX: usize = 512;
/// Maximum number of fields that a Kind or a related rule requests.
pub const FIELDS_MAX: usize = 64;
/// Maximum length of a JSON pointer, in bytes.
pub const POINTER_BYTES_MAX: usize = 256;
/// Maximum number of related rules of one Kind.
pub const RULES_MAX: usize = 8;
/// Maximum number of related objects that a rule may request, and that a fixture may contain.
pub const RELATED_MAX: usize = 256;
/// Maximum length of a label's key, in bytes: a prefix of 253, a slash, and a name of 63.
pub const LABEL_BYTES_MAX: usize = 317;
/// Maximum size of a settings schema, in bytes.
pub const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// Maximum number of fixtures of one interpreter.
pub const FIXTURES_MAX: usize = 1024;
/// Maximum length of a fixture's name, in bytes.
pub const FIXTURE_NAME_BYTES_MAX: usize = 128;
/// Maximum number of problems, and of warnings, in one report.
pub const PROBLEMS_MAX: usize = 16;
