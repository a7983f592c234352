//! One pass over the text, in one loop. In Wasm, calls and values that are kept in memory across
//! calls cost more than in native code. The position is therefore in local variables, and the link
//! from a part to its object or array is in the entries themselves.

use super::{DEPTH_MAX, Problem, ReadError, Tree, string};
use crate::document::{DECODED, Document};
use crate::entry::{self, Entry, KEY_BYTES_MAX, NONE, Span, Value, entry};
use crate::limits::TREE_NODES_MAX;

/// The text, and its nodes so far.
struct Reader<'a> {
    text: &'a str,
    decoded: &'a mut String,
    nodes: &'a mut Vec<Entry>,
    /// [`Open::names`] of the objects around the open one, the outermost first.
    outer_names: [u64; DEPTH_MAX],
    /// Set when an object may have two members with the same name.
    may_repeat: bool,
}

/// The object or array whose parts are being read.
#[derive(Clone, Copy)]
struct Open {
    /// Its index, or [`NONE`] outside all objects and arrays.
    index: u32,
    /// Number of its parts so far.
    count: u32,
    is_object: bool,
    /// One bit for each name of its members so far. Equal names have equal bits.
    names: u64,
}

/// Maximum number of members of an object that are compared to find two with the same name. An
/// object with more members is assumed to have such members.
const MEMBERS_COMPARED_MAX: u32 = 64;

/// Parses the value at the start of `text` into an empty tree. Returns the position of its end.
pub(super) fn read(text: &str, tree: &mut Tree) -> Result<usize, ReadError> {
    // Positions have 32 bits, and decoded strings use the upper half of them.
    if text.len() > DECODED as usize {
        return Err(ReadError::Invalid("over 2 GiB of text", 0));
    }
    let mut reader = Reader {
        text,
        decoded: &mut tree.decoded,
        nodes: &mut tree.nodes,
        outer_names: [0; DEPTH_MAX],
        may_repeat: false,
    };
    match reader.values() {
        Ok(end) => {
            tree.may_repeat = reader.may_repeat;
            Ok(end)
        }
        Err(_) if reader.nodes.len() > TREE_NODES_MAX => Err(ReadError::TooManyValues),
        Err((what, at)) => Err(ReadError::Invalid(what, at)),
    }
}

impl Reader<'_> {
    /// Parses the outermost value and all its parts. Returns the position of its end.
    fn values(&mut self) -> Result<usize, Problem> {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        let mut depth = 0;
        let mut open = Open {
            index: NONE,
            count: 0,
            is_object: false,
            names: 0,
        };
        loop {
            at = skip_space(bytes, at);
            let mut key = Span::default();
            if open.is_object {
                (key, at) = self.key(at)?;
                self.note_name(&mut open, key);
            }
            let index = self.position();
            match bytes.get(at) {
                Some(b'"') => {
                    let (span, end) = self.string(at + 1)?;
                    self.push(key, Value::Text(span), at)?;
                    open.count += 1;
                    at = end;
                }
                Some(byte @ (b'{' | b'[')) => {
                    let Some(outer_names) = self.outer_names.get_mut(depth) else {
                        return Err(("nested too deeply", at));
                    };
                    *outer_names = open.names;
                    depth += 1;
                    let is_object = *byte == b'{';
                    self.push(key, begun(is_object, open), at)?;
                    open = Open {
                        index,
                        count: 0,
                        is_object,
                        names: 0,
                    };
                    at = skip_space(bytes, at + 1);
                    if bytes.get(at) != Some(&closing(is_object)) {
                        continue;
                    }
                }
                _ => {
                    let (value, end) = scalar_in_range(bytes, at)?;
                    self.push(key, value, at)?;
                    open.count += 1;
                    at = end;
                }
            }
            loop {
                if open.index == NONE {
                    return Ok(at);
                }
                at = skip_space(bytes, at);
                match bytes.get(at) {
                    Some(b',') => {
                        at += 1;
                        break;
                    }
                    Some(byte) if *byte == closing(open.is_object) => {
                        depth -= 1;
                        open = self.close(open, depth);
                        at += 1;
                    }
                    _ => return Err((no_closing(open.is_object), at)),
                }
            }
        }
    }

    /// Reads the key of a member, and the colon after it. Returns the position at which its value
    /// may start.
    #[inline]
    fn key(&mut self, at: usize) -> Result<(Span, usize), Problem> {
        let bytes = self.text.as_bytes();
        if bytes.get(at) != Some(&b'"') {
            return Err(("no key", at));
        }
        let (key, end) = self.string(at + 1)?;
        if key.len as usize > KEY_BYTES_MAX {
            return Err(("a key that is too long", at));
        }
        let at = skip_space(bytes, end);
        if bytes.get(at) != Some(&b':') {
            return Err(("no `:` after a key", at));
        }
        Ok((key, skip_space(bytes, at + 1)))
    }

    /// Records the name of a member of the open object, and finds out whether it occurred before.
    #[inline]
    fn note_name(&mut self, open: &mut Open, key: Span) {
        let document = Document::of_tree(self.nodes, self.text, self.decoded, false);
        let name = document.bytes(key);
        let ends = name.first().zip(name.last());
        let ends = ends.map_or(0, |(first, last)| u32::from(*first) ^ u32::from(*last) << 2);
        let bit = 1_u64 << ((ends ^ key.len.wrapping_mul(11)) & 63);
        if open.names & bit != 0 && !self.may_repeat {
            self.may_repeat =
                open.count > MEMBERS_COMPARED_MAX || has_member(&document, open, name);
        }
        open.names |= bit;
    }

    /// Reads a string, from the position after its first quote to the position after its last.
    #[inline]
    fn string(&mut self, start: usize) -> Result<(Span, usize), Problem> {
        let bytes = self.text.as_bytes();
        let end = string::plain_end(bytes, start);
        match bytes.get(end) {
            Some(b'"') => Ok((span(start, end), end + 1)),
            _ => self.string_with_escapes(start),
        }
    }

    #[cold]
    fn string_with_escapes(&mut self, start: usize) -> Result<(Span, usize), Problem> {
        let decoded = DECODED as usize + self.decoded.len();
        let end = string::decode(self.text, start, self.decoded)?;
        Ok((span(decoded, DECODED as usize + self.decoded.len()), end))
    }

    /// Adds a node. The position of its text is used for the error if there are too many nodes.
    #[inline]
    fn push(&mut self, key: Span, value: Value, at: usize) -> Result<(), Problem> {
        self.nodes.push(entry(key, value));
        if self.nodes.len() > TREE_NODES_MAX {
            return Err(("too many values", at));
        }
        Ok(())
    }

    /// Sets the end of the open object or array, which is nested in `depth` others. Returns the one
    /// that contains it.
    #[inline]
    fn close(&mut self, open: Open, depth: usize) -> Open {
        let end = self.position();
        let mut index = NONE;
        let mut count = 0;
        if let Some(node) = self.nodes.get_mut(open.index as usize) {
            let key = entry::key(node);
            let closed = match entry::value(node) {
                Value::Object {
                    count: outer,
                    end: parent,
                } => {
                    (index, count) = (parent, outer);
                    Value::Object {
                        count: open.count,
                        end,
                    }
                }
                Value::Array {
                    count: outer,
                    end: parent,
                } => {
                    (index, count) = (parent, outer);
                    Value::Array {
                        count: open.count,
                        end,
                    }
                }
                value => value,
            };
            *node = entry(key, closed);
        }
        let parent = self.nodes.get(index as usize).map(entry::value);
        Open {
            index,
            count: count + 1,
            is_object: matches!(parent, Some(Value::Object { .. })),
            names: self.outer_names.get(depth).copied().unwrap_or_default(),
        }
    }

    /// The index of the next node.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "there are at most a quarter of a million"
    )]
    fn position(&self) -> u32 {
        self.nodes.len() as u32
    }
}

/// Returns whether the open object, whose members are the last nodes so far, has a member with this
/// name.
fn has_member(document: &Document<'_>, open: &Open, name: &[u8]) -> bool {
    let mut at = open.index.wrapping_add(1);
    while let Some(entry) = document.entry(at) {
        if document.bytes(entry::key(entry)) == name {
            return true;
        }
        at = document.after(at);
    }
    false
}

/// An object or array whose end is not known yet. Until then, its node contains the index of its
/// parent, and the number of the parent's parts before it.
#[inline]
fn begun(is_object: bool, parent: Open) -> Value {
    let Open { index, count, .. } = parent;
    if is_object {
        Value::Object { count, end: index }
    } else {
        Value::Array { count, end: index }
    }
}

#[inline]
pub(super) fn closing(is_object: bool) -> u8 {
    if is_object { b'}' } else { b']' }
}

/// The problem if a part of an object or array is followed by neither the next part nor the end.
pub(super) fn no_closing(is_object: bool) -> &'static str {
    if is_object {
        "no `,` or `}` after a member"
    } else {
        "no `,` or `]` after an item"
    }
}

/// The position of the first byte that is not white space.
#[inline]
pub(super) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The same as [`scalar`], but rejects numbers that are too large for a float.
#[inline]
fn scalar_in_range(bytes: &[u8], at: usize) -> Result<(Value, usize), Problem> {
    let (value, end) = scalar(bytes, at)?;
    if matches!(value, Value::Number(_)) && is_out_of_range(bytes.get(at..end)) {
        return Err(("a number out of range", at));
    }
    Ok((value, end))
}

/// A number, `true`, `false` or `null`, and the position of its end.
#[inline]
pub(super) fn scalar(bytes: &[u8], at: usize) -> Result<(Value, usize), Problem> {
    let (word, value): (&[u8], _) = match bytes.get(at) {
        Some(b'-' | b'0'..=b'9') => {
            let end = number_end(bytes, at)?;
            return Ok((Value::Number(span(at, end)), end));
        }
        Some(b't') => (b"true", Value::Bool(true)),
        Some(b'f') => (b"false", Value::Bool(false)),
        Some(b'n') => (b"null", Value::Null),
        Some(_) => return Err(("no value", at)),
        None => return Err(("no value before the end", at)),
    };
    let end = at + word.len();
    match bytes.get(at..end) {
        Some(found) if found == word => Ok((value, end)),
        _ => Err(("no value", at)),
    }
}

/// The end of a number's digits, which are parsed later if needed.
#[inline]
fn number_end(bytes: &[u8], start: usize) -> Result<usize, Problem> {
    let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
    at = match bytes.get(at) {
        Some(b'0') => at + 1,
        _ => digits_end(bytes, at)?,
    };
    if bytes.get(at) == Some(&b'.') {
        at = digits_end(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let is_signed = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
        at = digits_end(bytes, at + 1 + usize::from(is_signed))?;
    }
    Ok(at)
}

/// Returns whether a number is too large for a float, which `serde_json` rejects. It is parsed only
/// if it has an exponent or very many digits.
#[inline]
fn is_out_of_range(digits: Option<&[u8]>) -> bool {
    /// A number of digits that is smaller than the number of digits of the largest float.
    const DIGITS_SAFE: usize = 300;
    let digits = digits.unwrap_or_default();
    if digits.len() < DIGITS_SAFE && !digits.iter().any(|byte| matches!(byte, b'e' | b'E')) {
        return false;
    }
    let number = std::str::from_utf8(digits).map(str::parse::<f64>);
    !matches!(number, Ok(Ok(number)) if number.is_finite())
}

/// The end of one or more digits.
#[inline]
fn digits_end(bytes: &[u8], start: usize) -> Result<usize, Problem> {
    let mut at = start;
    while let Some(b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    if at == start {
        return Err(("no digit", at));
    }
    Ok(at)
}

#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "checked: the text is at most 2 GiB, and decoded strings begin there and are no longer"
)]
fn span(start: usize, end: usize) -> Span {
    Span {
        start: start as u32,
        len: (end - start) as u32,
    }
}
