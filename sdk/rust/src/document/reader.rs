//! One pass over the text, in one loop: in Wasm, calls and values kept in memory across them cost more
//! than natively, so the reader's position is in local variables, and the way back out of objects and
//! arrays in the entries themselves.

use super::{DEPTH_MAX, Document, Entry, NONE, Span, Value, string};

/// Bytes of text for which one entry is reserved: what trimmed objects have.
const BYTES_PER_ENTRY: usize = 14;
/// Least number of entries that is reserved.
const ENTRIES_MIN: usize = 16;

/// Description of an error, and its byte.
pub(super) type Problem = (&'static str, usize);

/// The text, and its entries so far.
struct Reader<'a> {
    text: &'a str,
    decoded: String,
    entries: Vec<Entry>,
}

/// The object or array that is being read.
#[derive(Clone, Copy)]
struct Open {
    /// Its index; [`NONE`] outside of all.
    index: u32,
    /// The last of its parts so far.
    last: u32,
    is_object: bool,
}

/// Reads `text`; the error says at which byte it is not JSON or too deep.
pub(super) fn read(text: &str) -> Result<Document<'_>, String> {
    // Positions are kept in 32 bits, decoded strings behind the text among them.
    if text.len() > (u32::MAX / 2) as usize {
        return Err("over 2 GiB of text".to_owned());
    }
    let mut reader = Reader {
        text,
        decoded: String::new(),
        entries: Vec::with_capacity(text.len() / BYTES_PER_ENTRY + ENTRIES_MIN),
    };
    match reader.values() {
        Ok(()) => Ok(Document {
            text,
            decoded: reader.decoded,
            entries: reader.entries,
        }),
        Err((what, at)) => Err(format!("{what} at byte {at}")),
    }
}

impl Reader<'_> {
    /// Reads the outermost value and all its parts.
    fn values(&mut self) -> Result<(), Problem> {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        let mut depth = 0;
        let mut open = Open {
            index: NONE,
            last: NONE,
            is_object: false,
        };
        loop {
            at = skip_space(bytes, at);
            let mut key = Span::default();
            if open.is_object {
                (key, at) = self.key(at)?;
            }
            let index = self.position();
            match bytes.get(at) {
                Some(b'"') => {
                    let (span, end) = self.string(at + 1)?;
                    self.push(key, open.last, Value::Text(span));
                    at = end;
                }
                Some(byte @ (b'{' | b'[')) => {
                    depth += 1;
                    if depth > DEPTH_MAX {
                        return Err(("nested too deeply", at));
                    }
                    let is_object = *byte == b'{';
                    self.push(key, open.last, begun(is_object, open.index));
                    open = Open {
                        index,
                        last: NONE,
                        is_object,
                    };
                    at = skip_space(bytes, at + 1);
                    if bytes.get(at) != Some(&closing(is_object)) {
                        continue;
                    }
                }
                _ => {
                    let (value, end) = scalar(bytes, at)?;
                    self.push(key, open.last, value);
                    at = end;
                }
            }
            // A value that was not opened is the sibling before the next one.
            if open.index != index {
                open.last = index;
            }
            at = skip_space(bytes, at);
            while open.index != NONE && bytes.get(at) == Some(&closing(open.is_object)) {
                open = self.close(open);
                depth -= 1;
                at = skip_space(bytes, at + 1);
            }
            match bytes.get(at) {
                Some(b',') if open.index != NONE => at += 1,
                None if open.index == NONE => return Ok(()),
                _ if open.index == NONE => return Err(("text after the end", at)),
                _ if open.is_object => return Err(("no `,` or `}` after a member", at)),
                _ => return Err(("no `,` or `]` after an item", at)),
            }
        }
    }

    /// Reads a member's key and the colon after it; returns where its value may start.
    #[inline]
    fn key(&mut self, at: usize) -> Result<(Span, usize), Problem> {
        let bytes = self.text.as_bytes();
        if bytes.get(at) != Some(&b'"') {
            return Err(("no key", at));
        }
        let (key, end) = self.string(at + 1)?;
        let at = skip_space(bytes, end);
        if bytes.get(at) != Some(&b':') {
            return Err(("no `:` after a key", at));
        }
        Ok((key, skip_space(bytes, at + 1)))
    }

    /// Reads a string, from behind its first quote to behind its last.
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
        let decoded = self.text.len() + self.decoded.len();
        let end = string::decode(self.text, start, &mut self.decoded)?;
        Ok((span(decoded, self.text.len() + self.decoded.len()), end))
    }

    #[inline]
    fn push(&mut self, key: Span, previous: u32, value: Value) {
        self.entries.push(Entry {
            key,
            previous,
            value,
        });
    }

    /// Sets the end of the open object or array; returns the one that contains it.
    #[inline]
    fn close(&mut self, open: Open) -> Open {
        let position = self.position();
        let mut parent = NONE;
        if let Some(entry) = self.entries.get_mut(open.index as usize) {
            match &mut entry.value {
                Value::Object { last, end } => {
                    parent = std::mem::replace(end, position);
                    *last = open.last;
                }
                Value::Array { end } => parent = std::mem::replace(end, position),
                _ => {}
            }
        }
        let value = self.entries.get(parent as usize).map(|entry| entry.value);
        Open {
            index: parent,
            last: open.index,
            is_object: matches!(value, Some(Value::Object { .. })),
        }
    }

    /// The index of the next entry.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "an entry takes a byte of the text, which is shorter than that"
    )]
    fn position(&self) -> u32 {
        self.entries.len() as u32
    }
}

/// An object or array whose end is not known yet: `end` holds what contains it until then.
#[inline]
fn begun(is_object: bool, parent: u32) -> Value {
    if is_object {
        Value::Object {
            last: NONE,
            end: parent,
        }
    } else {
        Value::Array { end: parent }
    }
}

#[inline]
fn closing(is_object: bool) -> u8 {
    if is_object { b'}' } else { b']' }
}

/// Position of the first byte that is not white space.
#[inline]
fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// A number, `true`, `false` or `null`, and where it ends.
fn scalar(bytes: &[u8], at: usize) -> Result<(Value, usize), Problem> {
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

/// End of a number's digits, which are parsed later, if ever.
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

/// End of one or more digits.
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
    reason = "checked: text and decoded strings together are at most twice 2 GiB"
)]
fn span(start: usize, end: usize) -> Span {
    Span {
        start: start as u32,
        len: (end - start) as u32,
    }
}
