//! Values that are skipped: they are checked against the grammar, and not stored.

use super::Problem;
use super::reader::{closing, no_closing, scalar, skip_space};
use super::string;

/// The end of the value that starts at `start`.
///
/// It is more lenient than a tree, so that only the affected value of many is rejected: it accepts
/// any depth, numbers out of range, and surrogate escapes without their other half. `serde_json`
/// skips unneeded values in the same way.
pub(super) fn value_end(bytes: &[u8], start: usize) -> Result<usize, Problem> {
    let mut at = start;
    // For each open object or array, true if it is an object.
    let mut open: Vec<bool> = Vec::new();
    loop {
        at = skip_space(bytes, at);
        if open.last() == Some(&true) {
            at = key_end(bytes, at)?;
        }
        match bytes.get(at) {
            Some(b'"') => at = string::end(bytes, at + 1)?,
            Some(byte @ (b'{' | b'[')) => {
                let is_object = *byte == b'{';
                open.push(is_object);
                at = skip_space(bytes, at + 1);
                if bytes.get(at) != Some(&closing(is_object)) {
                    continue;
                }
            }
            _ => (_, at) = scalar(bytes, at)?,
        }
        loop {
            let Some(&is_object) = open.last() else {
                return Ok(at);
            };
            at = skip_space(bytes, at);
            match bytes.get(at) {
                Some(b',') => {
                    at += 1;
                    break;
                }
                Some(byte) if *byte == closing(is_object) => {
                    open.pop();
                    at += 1;
                }
                _ => return Err((no_closing(is_object), at)),
            }
        }
    }
}

/// The position at which the value of the member at `at` may start.
fn key_end(bytes: &[u8], at: usize) -> Result<usize, Problem> {
    if bytes.get(at) != Some(&b'"') {
        return Err(("no key", at));
    }
    let at = skip_space(bytes, string::end(bytes, at + 1)?);
    colon_end(bytes, at)
}

/// The position at which a value may start after the colon at `at`.
pub(super) fn colon_end(bytes: &[u8], at: usize) -> Result<usize, Problem> {
    match bytes.get(at) {
        Some(b':') => Ok(skip_space(bytes, at + 1)),
        _ => Err(("no `:` after a key", at)),
    }
}
