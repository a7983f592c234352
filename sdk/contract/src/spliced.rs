//! The place in a template component where the host splices data in.
//!
//! A template is a component without rules: a machine for rules of another language. The host makes
//! an interpreter of it by splicing the rules into its data, so that no toolchain is needed. The
//! SDK's `spliced::data` reads them.
//!
//! The place is a static of a core module: [`MARKER`], then the address and the length of the data,
//! both 32-bit little-endian. In a template they are those of an empty slice, [`EMPTY`].

/// The bytes before the place. They occur once in a template.
pub const MARKER: [u8; 16] = *b"kindsight:splice";
/// Address and length in a template: the empty slice, whose address is its alignment.
pub const EMPTY: [u32; 2] = [1, 0];
/// Maximum size of the spliced data, in bytes. It leaves room for a fixture document of the largest
/// size and as many bytes of rules, below the size at which a host retires instances.
pub const SPLICED_BYTES_MAX: usize = 8 * 1024 * 1024;
