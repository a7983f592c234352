//! The named limits of this crate.

/// Maximum size of one script, in bytes. The largest health script of Argo CD has 12 KiB.
pub const SCRIPT_BYTES_MAX: usize = 256 * 1024;
/// Maximum depth of nested expressions, blocks and functions in a script. The compiler is recursive,
/// and the stack of a guest has 256 KiB.
pub(crate) const NESTING_MAX: usize = 100;
/// Maximum number of local variables of one function, as in other Lua machines.
pub(crate) const LOCALS_MAX: usize = 200;
/// Maximum number of instructions of one run. A health script needs a few hundred. The work of a
/// library function on long texts counts too. A run with this number ends within the deadline of a
/// call, so that a loop without end is an error of its script and never a trap.
pub const STEPS_MAX: u32 = 1_000_000;
/// Number of bytes that a library function handles for the cost of one instruction.
pub(crate) const BYTES_PER_STEP: usize = 16;
/// Number of instructions that each match of `gsub` and `gmatch` costs beside its search. A match
/// makes several values.
pub(crate) const STEPS_PER_MATCH: u32 = 16;
/// Maximum size of all values of one run, in bytes.
pub const MEMORY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Maximum number of active calls of functions, as in gopher-lua.
pub(crate) const CALLS_MAX: usize = 250;
/// Maximum number of active calls through library functions, such as `pcall` in `pcall`. Each uses
/// the guest's own stack.
pub(crate) const NATIVE_CALLS_MAX: usize = 40;
/// Maximum number of values on the stack.
pub(crate) const STACK_VALUES_MAX: usize = 64 * 1024;
/// Maximum number of captures of a pattern, as in Lua.
pub(crate) const CAPTURES_MAX: usize = 32;
/// Maximum depth of alternatives that a pattern tries at the same time.
pub(crate) const PATTERN_DEPTH_MAX: usize = 200;
/// Maximum width and precision of a format directive, as in Lua.
pub(crate) const FORMAT_WIDTH_MAX: usize = 99;
/// Number of absent items up to which a table keeps an item in its list.
pub(crate) const LIST_GAP_MAX: usize = 64;
