//! Strings: the search for their end, and the decoding of escapes.

use super::Problem;

const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH_BITS: u64 = ONES << 7;
const QUOTES: u64 = ONES * b'"' as u64;
const BACKSLASHES: u64 = ONES * b'\\' as u64;
const SPACES: u64 = ONES * b' ' as u64;

/// The first quote, backslash or control character from `start` on, or the end of the text if there
/// is none.
#[inline]
pub(super) fn plain_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some((word, _)) = bytes.get(at..).and_then(<[u8]>::split_first_chunk::<8>) {
        let found = special(u64::from_le_bytes(*word));
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(byte) = bytes.get(at) {
        if matches!(byte, b'"' | b'\\' | ..b' ') {
            return at;
        }
        at += 1;
    }
    at
}

/// Marks the first of eight bytes that is a quote, a backslash or a control character. Some later
/// bytes may be marked too, because a subtraction borrows upwards only.
#[inline]
fn special(word: u64) -> u64 {
    let control = word.wrapping_sub(SPACES);
    let quote = (word ^ QUOTES).wrapping_sub(ONES);
    let backslash = (word ^ BACKSLASHES).wrapping_sub(ONES);
    (control | quote | backslash) & !word & HIGH_BITS
}

/// Appends the string that starts at `start`, after its first quote. Returns the position after its
/// last quote.
pub(super) fn decode(text: &str, start: usize, decoded: &mut String) -> Result<usize, Problem> {
    let bytes = text.as_bytes();
    let mut at = start;
    loop {
        let end = plain_end(bytes, at);
        decoded.push_str(text.get(at..end).unwrap_or_default());
        match bytes.get(end) {
            Some(b'"') => return Ok(end + 1),
            Some(b'\\') => {
                let (character, next) = escape(bytes, end + 1).map_err(|what| (what, end))?;
                decoded.push(character);
                at = next;
            }
            _ => return Err((no_end(bytes, end), end)),
        }
    }
}

/// The end of the string that starts at `start`, after its first quote: the position after its last
/// quote. Accepts a surrogate escape without its other half.
#[inline]
pub(super) fn end(bytes: &[u8], start: usize) -> Result<usize, Problem> {
    let mut at = start;
    loop {
        let end = plain_end(bytes, at);
        at = match bytes.get(end) {
            Some(b'"') => return Ok(end + 1),
            Some(b'\\') => escape_end(bytes, end + 1).map_err(|what| (what, end))?,
            _ => return Err((no_end(bytes, end), end)),
        };
    }
}

/// The problem of a string that does not end with a quote.
fn no_end(bytes: &[u8], at: usize) -> &'static str {
    match bytes.get(at) {
        Some(_) => "a control character in a string",
        None => "a string without an end",
    }
}

/// The end of an escape. `at` is the position after its backslash.
fn escape_end(bytes: &[u8], at: usize) -> Result<usize, &'static str> {
    match bytes.get(at) {
        Some(b'u') => hexadecimal(bytes, at + 1)
            .map(|_| at + 5)
            .ok_or("a wrong escape"),
        _ => escape(bytes, at).map(|(_, end)| end),
    }
}

/// The character of an escape, and its end. `at` is the position after its backslash.
fn escape(bytes: &[u8], at: usize) -> Result<(char, usize), &'static str> {
    let character = match bytes.get(at) {
        Some(b'u') => return unicode(bytes, at + 1),
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(byte @ (b'"' | b'\\' | b'/')) => char::from(*byte),
        _ => return Err("an unknown escape"),
    };
    Ok((character, at + 1))
}

/// Four hexadecimal digits, or eight in two escapes for characters beyond 16 bits.
fn unicode(bytes: &[u8], at: usize) -> Result<(char, usize), &'static str> {
    const WRONG: &str = "half a character's escape";
    let first = hexadecimal(bytes, at).ok_or("a wrong escape")?;
    let mut units = [first, 0];
    let mut end = at + 4;
    let is_first_half = (0xD800..0xDC00).contains(&first);
    if is_first_half {
        if bytes.get(end..end + 2) != Some(b"\\u") {
            return Err(WRONG);
        }
        let second = hexadecimal(bytes, end + 2).ok_or(WRONG)?;
        units = [first, second];
        end += 6;
    }
    let mut characters = char::decode_utf16(units);
    match characters.next() {
        Some(Ok(character)) => Ok((character, end)),
        _ => Err(WRONG),
    }
}

fn hexadecimal(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |number, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(number << 4 | u16::try_from(digit).ok()?)
    })
}
