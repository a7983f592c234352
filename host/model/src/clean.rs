//! Makes text from guests, clusters and clients safe for logs, terminals and answers.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Number of bytes of a text that are checked without a branch.
const CHUNK_BYTES: usize = 64;

/// Truncates a text to `bytes_max` bytes and turns it into one harmless line.
///
/// Control characters, including newlines and the start of terminal escapes, become spaces. Characters
/// without a visible glyph become U+FFFD: marks, overrides and isolates of writing direction (they can make a
/// line display in a misleading order), line separators, and invisible characters.
///
/// Every text of unknown origin passes through this function: reasons, messages and log lines of guests,
/// error texts that quote a component, table cells. Plain ASCII costs one scan.
pub fn clean(text: &str, bytes_max: usize) -> Cow<'_, str> {
    let clipped = text.get(..text.floor_char_boundary(bytes_max));
    let text = clipped.unwrap_or_default();
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let letters = text.chars().map(|letter| match letter {
        letter if letter.is_control() => ' ',
        letter if is_invisible(letter) => char::REPLACEMENT_CHARACTER,
        letter => letter,
    });
    Cow::Owned(letters.collect())
}

/// Like [`clean`], for a JSON document. The meaning of the document does not change: each character that
/// [`clean`] would replace becomes a JSON escape (`\u202e`). Outside strings, JSON can contain only newlines
/// and tabs of these characters, and they remain.
pub fn clean_json(json: &str) -> Cow<'_, str> {
    let is_harmful = |letter: char| {
        (letter.is_control() && !matches!(letter, '\n' | '\r' | '\t')) || is_invisible(letter)
    };
    let is_plain = all_bytes(json, |byte| {
        matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')
    });
    if is_plain || !json.contains(is_harmful) {
        return Cow::Borrowed(json);
    }
    let mut cleaned = String::with_capacity(json.len());
    for letter in json.chars() {
        if is_harmful(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                // Writing to a String does not fail.
                let _ = write!(cleaned, "\\u{unit:04x}");
            }
        } else {
            cleaned.push(letter);
        }
    }
    Cow::Owned(cleaned)
}

fn is_plain(text: &str) -> bool {
    all_bytes(text, |byte| matches!(byte, b' '..=b'~'))
}

/// Returns whether all bytes of a text have a property. It checks the bytes of a chunk without a branch between them, so
/// the compiler checks several bytes at a time.
#[inline]
fn all_bytes(text: &str, has: impl Fn(u8) -> bool) -> bool {
    let mut chunks = text.as_bytes().chunks(CHUNK_BYTES);
    chunks.all(|chunk| chunk.iter().fold(true, |all, byte| all & has(*byte)))
}

/// Returns whether a character has no visible glyph and can change the display of other characters: Unicode's
/// format characters, line separators, fillers and tags.
fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_unchanged() {
        for text in ["", "3 of 3 are ready", "größer als 3 €, 漢字, 🙂"] {
            assert_eq!(clean(text, 1000), text);
        }
        assert!(matches!(clean("plain", 5), Cow::Borrowed(_)));
    }

    #[test]
    fn a_text_is_truncated_between_characters() {
        assert_eq!(clean("abc", 2), "ab");
        assert_eq!(clean("aäb", 2), "a");
        assert_eq!(clean("abc", 0), "");
    }

    #[test]
    fn only_visible_characters_remain() {
        for (text, expected) in [
            ("a\u{1b}[31mred\u{1b}[0m", "a [31mred [0m"),
            ("one\ntwo\r\nthree\tfour", "one two  three four"),
            ("\u{9b}2J\u{7f}\u{0}", " 2J  "),
            ("\u{202e}ydaeR\u{202c}", "\u{fffd}ydaeR\u{fffd}"),
            (
                "a\u{2066}b\u{2069}\u{200f}\u{61c}",
                "a\u{fffd}b\u{fffd}\u{fffd}\u{fffd}",
            ),
            ("pay\u{200b}pal\u{feff}", "pay\u{fffd}pal\u{fffd}"),
            ("x\u{2028}y\u{e0041}", "x\u{fffd}y\u{fffd}"),
        ] {
            assert_eq!(clean(text, 1000), expected, "{text:?}");
        }
    }

    #[test]
    fn cleaning_json_keeps_its_meaning() {
        let value = serde_json::json!({"a\u{202e}": "b\u{9b}c\u{7f}\u{e0041}\n\u{1b}", "ä": [1]});
        for json in [
            serde_json::to_string(&value).expect("JSON"),
            serde_json::to_string_pretty(&value).expect("JSON"),
        ] {
            let cleaned = clean_json(&json);
            assert_eq!(
                serde_json::from_str::<serde_json::Value>(&cleaned).ok(),
                Some(value.clone())
            );
            assert!(
                cleaned.contains(r"a\u202e") && cleaned.contains(r"\u009b"),
                "{cleaned}"
            );
            assert!(cleaned.contains(r"\udb40\udc41"), "{cleaned}");
            assert!(!cleaned.contains(is_invisible), "{cleaned}");
        }
        assert!(matches!(clean_json("{\n}"), Cow::Borrowed(_)));
    }
}
