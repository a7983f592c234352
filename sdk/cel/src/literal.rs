//! Literals: numbers, strings and bytes.

use crate::expression::Literal;
use crate::lexer::TokenKind;

/// The largest magnitude of a negative whole number.
const MAGNITUDE_MAX: u64 = 1 << 63;

/// Reads a number at the start of a text. Returns it and its length.
pub(crate) fn number(text: &str) -> Result<(TokenKind, usize), String> {
    if let Some(hexadecimal) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let length = digits(hexadecimal, |byte| byte.is_ascii_hexdigit());
        return whole(
            text,
            2 + length,
            hexadecimal.get(..length).unwrap_or_default(),
            16,
        );
    }
    let decimal = |text: &str| digits(text, |byte| byte.is_ascii_digit());
    let mut length = decimal(text);
    let mut is_whole = true;
    let after = |length: usize| text.get(length..).unwrap_or_default();
    if let Some(fraction) = after(length).strip_prefix('.') {
        let count = decimal(fraction);
        if count > 0 {
            is_whole = false;
            length += 1 + count;
        }
    }
    if let Some(exponent) = after(length).strip_prefix(['e', 'E']) {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        let count = decimal(exponent.get(sign..).unwrap_or_default());
        if count > 0 {
            is_whole = false;
            length += 1 + sign + count;
        }
    }
    let written = text.get(..length).unwrap_or_default();
    if is_whole {
        return whole(text, length, written, 10);
    }
    let float: f64 = written
        .parse()
        .map_err(|_| format!("`{written}` is not a number"))?;
    end(text, length)?;
    Ok((TokenKind::Literal(Literal::Double(float)), length))
}

fn digits(text: &str, is_digit: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|&byte| is_digit(byte)).count()
}

/// A whole number of `length` bytes at the start of `text`, with a suffix `u` for an unsigned one.
fn whole(
    text: &str,
    length: usize,
    digits: &str,
    radix: u32,
) -> Result<(TokenKind, usize), String> {
    let value = u64::from_str_radix(digits, radix);
    let is_unsigned = text
        .get(length..)
        .is_some_and(|rest| rest.starts_with(['u', 'U']));
    let length = length + usize::from(is_unsigned);
    end(text, length)?;
    let too_large = || format!("`{digits}` is not a number, or is too large");
    let value = value.map_err(|_| too_large())?;
    if is_unsigned {
        return Ok((TokenKind::Literal(Literal::Uint(value)), length));
    }
    if value > MAGNITUDE_MAX {
        return Err(too_large());
    }
    Ok((TokenKind::Whole(value), length))
}

/// Refuses a letter directly after a number.
fn end(text: &str, length: usize) -> Result<(), String> {
    let next = text.get(length..).and_then(|rest| rest.chars().next());
    match next.filter(|next| next.is_ascii_alphanumeric() || *next == '_') {
        Some(next) => Err(format!("unexpected `{next}` after a number")),
        None => Ok(()),
    }
}

/// Reads a string or bytes at the start of a text: `"…"`, `'…'`, three quotes on each side, and the
/// prefixes `r` (without escapes) and `b` (bytes). Returns it and its length, or `None` if the text
/// starts with something else.
pub(crate) fn quoted(text: &str) -> Result<Option<(Literal, usize)>, String> {
    let prefix = text.bytes().take(2);
    let prefix = prefix.take_while(|byte| b"rRbB".contains(byte)).count();
    let letters = text.get(..prefix).unwrap_or_default();
    let body = text.get(prefix..).unwrap_or_default();
    let quotes = ["\"\"\"", "'''", "\"", "'"];
    let Some(quote) = quotes.into_iter().find(|quote| body.starts_with(quote)) else {
        return Ok(None);
    };
    let count = |letter: char| {
        letters
            .chars()
            .filter(|c| c.eq_ignore_ascii_case(&letter))
            .count()
    };
    let (is_raw, is_bytes) = (count('r') > 0, count('b') > 0);
    if count('r') > 1 || count('b') > 1 {
        return Ok(None);
    }
    let content = body.get(quote.len()..).unwrap_or_default();
    let end = end_of(content, quote, is_raw)?;
    let raw = content.get(..end).unwrap_or_default();
    let length = prefix + quote.len() + end + quote.len();
    let literal = if is_bytes {
        Literal::Bytes(unescaped(raw, is_raw, true)?)
    } else {
        let bytes = unescaped(raw, is_raw, false)?;
        let text = String::from_utf8(bytes);
        Literal::String(text.map_err(|_| "the string is not valid Unicode".to_owned())?)
    };
    Ok(Some((literal, length)))
}

/// The position of the closing quote.
fn end_of(content: &str, quote: &str, is_raw: bool) -> Result<usize, String> {
    let mut is_escaped = false;
    for (at, character) in content.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if content
            .get(at..)
            .is_some_and(|rest| rest.starts_with(quote))
        {
            return Ok(at);
        } else if character == '\n' && quote.len() == 1 {
            break;
        } else {
            is_escaped = character == '\\' && !is_raw;
        }
    }
    Err(format!("the closing {quote} is missing"))
}

/// The bytes of a string with its escapes decoded. In bytes, octal and hexadecimal escapes are
/// bytes, in a string they are characters.
fn unescaped(raw: &str, is_raw: bool, is_bytes: bool) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(character) = rest.chars().next() {
        if is_raw || character != '\\' {
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            rest = rest.get(character.len_utf8()..).unwrap_or_default();
            continue;
        }
        let escape = rest.get(1..).unwrap_or_default();
        let (code, length) = code_of(escape, is_bytes)?;
        match u8::try_from(code) {
            Ok(byte) if is_bytes => bytes.push(byte),
            _ => {
                let character =
                    char::from_u32(code).ok_or_else(|| format!("U+{code:X} is not a character"))?;
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        rest = escape.get(length..).unwrap_or_default();
    }
    Ok(bytes)
}

/// The code point or byte of an escape, and the length of the escape after the backslash.
fn code_of(escape: &str, is_bytes: bool) -> Result<(u32, usize), String> {
    let first = escape.chars().next().unwrap_or_default();
    let simple = match first {
        'a' => Some(0x07),
        'b' => Some(0x08),
        'f' => Some(0x0c),
        'n' => Some(0x0a),
        'r' => Some(0x0d),
        't' => Some(0x09),
        'v' => Some(0x0b),
        '\\' | '?' | '"' | '\'' | '`' => Some(u32::from(first)),
        _ => None,
    };
    if let Some(code) = simple {
        return Ok((code, 1));
    }
    let (skip, count, radix) = match first {
        'x' | 'X' => (1, 2, 16),
        'u' if !is_bytes => (1, 4, 16),
        'U' if !is_bytes => (1, 8, 16),
        '0'..='3' => (0, 3, 8),
        _ => return Err(format!("`\\{first}` is not an escape")),
    };
    let digits = escape.get(skip..skip + count).unwrap_or_default();
    let is_valid = digits.len() == count && digits.chars().all(|digit| digit.is_digit(radix));
    let code = u32::from_str_radix(digits, radix).ok().filter(|_| is_valid);
    let code = code.ok_or_else(|| format!("`\\{first}` needs {count} digits"))?;
    Ok((code, skip + count))
}
