//! JSON, byte for byte as the reference's `encoding/json` of Go writes it.
//!
//! Stored values are compared by their bytes, so a value that both sides write must not look
//! changed.

use std::io;

use serde::Serialize;
use serde::ser::Error as _;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, Serializer};

use crate::{Error, Result};

/// Encodes as the reference does: no white space, and in strings `<`, `>`, `&`, U+2028 and U+2029
/// as `\u003c` and so on, backspace and form feed as `\u0008` and `\u000c`.
///
/// # Errors
/// [`Error::Encode`] for a value that JSON cannot express, such as a map whose keys are not
/// strings; no type of this crate is one.
pub(crate) fn encode<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    let mut bytes = Vec::new();
    value
        .serialize(&mut Serializer::with_formatter(&mut bytes, GoFormatter))
        .map_err(Error::Encode)?;
    String::from_utf8(bytes).map_err(|error| Error::Encode(serde_json::Error::custom(error)))
}

struct GoFormatter;

impl Formatter for GoFormatter {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        mut fragment: &str,
    ) -> io::Result<()> {
        while let Some((before, escape, after)) = split_at_escape(fragment) {
            writer.write_all(before.as_bytes())?;
            writer.write_all(escape.as_bytes())?;
            fragment = after;
        }
        writer.write_all(fragment.as_bytes())
    }

    fn write_char_escape<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        match escape {
            CharEscape::Backspace => writer.write_all(b"\\u0008"),
            CharEscape::FormFeed => writer.write_all(b"\\u000c"),
            other => CompactFormatter.write_char_escape(writer, other),
        }
    }
}

/// Splits a text at the first character that Go escapes and serde does not: the text before, the
/// escape, the rest.
fn split_at_escape(text: &str) -> Option<(&str, &'static str, &str)> {
    let (at, found) = text
        .char_indices()
        .find_map(|(at, char)| Some((at, go_escape(char)?)))?;
    let (before, rest) = text.split_at_checked(at)?;
    let mut after = rest.chars();
    after.next();
    Some((before, found, after.as_str()))
}

fn go_escape(char: char) -> Option<&'static str> {
    Some(match char {
        '<' => "\\u003c",
        '>' => "\\u003e",
        '&' => "\\u0026",
        '\u{2028}' => "\\u2028",
        '\u{2029}' => "\\u2029",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(encode(text).unwrap(), expect);
        let read: String = serde_json::from_str(expect).unwrap();
        assert_eq!(read, text);
    }

    #[test]
    fn strings_are_escaped_as_go_escapes_them() {
        check("plain ä \u{1F600} \u{7f}", "\"plain ä \u{1F600} \u{7f}\"");
        check(
            "<a href=\"x\">&</a>",
            r#""\u003ca href=\"x\"\u003e\u0026\u003c/a\u003e""#,
        );
        check("\u{2028}x\u{2029}", r#""\u2028x\u2029""#);
        check("\u{8}\u{c}\n\r\t\u{1}\\", r#""\u0008\u000c\n\r\t\u0001\\""#);
    }

    #[test]
    fn names_of_members_are_escaped_too() {
        let map = std::collections::BTreeMap::from([("a&b", 1)]);
        assert_eq!(encode(&map).unwrap(), r#"{"a\u0026b":1}"#);
    }

    #[test]
    fn a_document_in_a_string_is_escaped_twice() {
        let stored = encode(&encode(&["a<b"]).unwrap()).unwrap();
        assert_eq!(stored, r#""[\"a\\u003cb\"]""#);
    }

    proptest::proptest! {
        #[test]
        fn any_text_survives(text in ".*") {
            check(&text, &encode(&text).unwrap());
        }
    }
}
