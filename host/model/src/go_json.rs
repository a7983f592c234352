//! JSON as Go's encoder writes it.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, Serializer};

/// Writes a value as `encoding/json` of Go before 1.22 writes it, with which EMCO's releases up to v22.09 were built.
/// There is no white space between tokens. In strings, `<`, `>`, `&`, U+2028 and U+2029 become `\u003c` and so on;
/// backspace and form feed become `\u0008` and `\u000c`.
///
/// # Errors
/// An error of `to`, or a value that JSON cannot express, such as a map whose keys are not strings.
pub fn write_go_json<T: Serialize + ?Sized>(
    to: impl Write,
    value: &T,
    raw: RawJson,
) -> serde_json::Result<()> {
    value.serialize(&mut Serializer::with_formatter(to, GoFormatter { raw }))
}

/// The treatment of the raw JSON in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawJson {
    /// Raw JSON is written without a change, for values that another writer stored.
    Kept,
    /// White space between the tokens of raw JSON is removed, and its strings are escaped, as Go does with
    /// `json.RawMessage`. Existing escapes keep their form.
    Compacted,
}

struct GoFormatter {
    raw: RawJson,
}

impl Formatter for GoFormatter {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        write_replaced(writer, fragment, replacement)
    }

    fn write_char_escape<W: ?Sized + Write>(
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

    fn write_raw_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if self.raw == RawJson::Kept {
            return writer.write_all(fragment.as_bytes());
        }
        let (mut is_in_string, mut is_escaped) = (false, false);
        write_replaced(writer, fragment, |letter| {
            if std::mem::take(&mut is_escaped) {
                return None;
            }
            match letter {
                '"' => is_in_string = !is_in_string,
                '\\' => is_escaped = true,
                ' ' | '\t' | '\n' | '\r' if !is_in_string => return Some(""),
                _ => {}
            }
            replacement(letter)
        })
    }
}

/// The escape of a character that Go escapes and `serde_json` does not; `None` for any other character.
fn replacement(letter: char) -> Option<&'static str> {
    Some(match letter {
        '<' => "\\u003c",
        '>' => "\\u003e",
        '&' => "\\u0026",
        '\u{2028}' => "\\u2028",
        '\u{2029}' => "\\u2029",
        _ => return None,
    })
}

/// Writes a text with the replacements of its characters.
fn write_replaced<W: ?Sized + Write>(
    writer: &mut W,
    text: &str,
    mut replacement: impl FnMut(char) -> Option<&'static str>,
) -> io::Result<()> {
    let mut written = 0;
    for (at, letter) in text.char_indices() {
        if let Some(replaced) = replacement(letter) {
            writer.write_all(text.get(written..at).unwrap_or_default().as_bytes())?;
            writer.write_all(replaced.as_bytes())?;
            written = at + letter.len_utf8();
        }
    }
    writer.write_all(text.get(written..).unwrap_or_default().as_bytes())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::*;

    fn written<T: Serialize + ?Sized>(value: &T) -> String {
        let mut to = Vec::new();
        write_go_json(&mut to, value, RawJson::Compacted).unwrap();
        String::from_utf8(to).unwrap()
    }

    fn check(text: &str, expect: &str) {
        assert_eq!(written(text), expect);
        let read: String = serde_json::from_str(expect).unwrap();
        assert_eq!(read, text);
    }

    fn raw(json: &str) -> String {
        let value: &RawValue = serde_json::from_str(json).unwrap();
        written(&[value])
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
        assert_eq!(written(&map), r#"{"a\u0026b":1}"#);
    }

    #[test]
    fn a_document_in_a_string_is_escaped_twice() {
        let stored = written(&written(&["a<b"]));
        assert_eq!(stored, r#""[\"a\\u003cb\"]""#);
    }

    #[test]
    fn only_white_space_between_tokens_of_raw_json_is_removed() {
        let text = raw("{ \"a b\" :\t[ 1 ,\r\n\"c \\\" d\" ] }");
        assert_eq!(text, r#"[{"a b":[1,"c \" d"]}]"#);
    }

    #[test]
    fn characters_of_html_in_raw_json_are_escaped_and_the_json_means_the_same() {
        let json = "{\"<&\\\\\": \"a>\u{2028}\u{2029}\u{2027}é\\u003c\\\\\"}";
        let text = raw(json);
        assert_eq!(
            text,
            "[{\"\\u003c\\u0026\\\\\":\"a\\u003e\\u2028\\u2029\u{2027}é\\u003c\\\\\"}]"
        );
        let value: Value = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::from_str::<[Value; 1]>(&text).unwrap(), [value]);
    }

    #[test]
    fn raw_json_is_kept_where_another_writer_stored_it() {
        let json = "{ \"<\" :1 }";
        let value: &RawValue = serde_json::from_str(json).unwrap();
        let mut to = Vec::new();
        write_go_json(&mut to, value, RawJson::Kept).unwrap();
        assert_eq!(to, json.as_bytes());
    }

    proptest::proptest! {
        #[test]
        fn any_text_survives(text in ".*") {
            check(&text, &written(&text));
        }
    }
}
