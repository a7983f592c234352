//! Text that a guest, a cluster or a sender can shape, made safe for logs, terminals and answers.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Clips a text at `bytes_max` bytes, and makes one harmless line of it.
///
/// Control characters (newlines and the begin of terminal escapes among them) become spaces. Characters
/// without a glyph of their own become U+FFFD: marks, overrides and isolates of writing direction, which
/// make a line read differently from what it is, separators of lines, and invisible ones.
///
/// The door for everything of unknown origin: reasons, messages and log lines of guests, error texts
/// that repeat something of a component, cells of a table. Takes a glance for text of plain ASCII.
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

/// As [`clean`], for a JSON document, which means the same afterwards: what [`clean`] replaces is
/// written as JSON's own escape (`\u202e`). Outside of its strings JSON has no such character but
/// newlines and tabs, which stay.
pub fn clean_json(json: &str) -> Cow<'_, str> {
    let is_harmful = |letter: char| {
        (letter.is_control() && !matches!(letter, '\n' | '\r' | '\t')) || is_invisible(letter)
    };
    if !json.contains(is_harmful) {
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
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Returns whether a character has no glyph of its own and changes how others read: Unicode's format
/// characters that occur in text, its separators of lines, fillers and tags.
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
    fn plain_text_is_not_touched() {
        for text in ["", "3 of 3 are ready", "größer als 3 €, 漢字, 🙂"] {
            assert_eq!(clean(text, 1000), text);
        }
        assert!(matches!(clean("plain", 5), Cow::Borrowed(_)));
    }

    #[test]
    fn a_text_is_clipped_between_characters() {
        assert_eq!(clean("abc", 2), "ab");
        assert_eq!(clean("aäb", 2), "a");
        assert_eq!(clean("abc", 0), "");
    }

    #[test]
    fn nothing_reaches_a_terminal_but_glyphs() {
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
    fn json_means_the_same_afterwards() {
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
