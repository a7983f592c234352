//! JSON in one line, escaped as Go's encoder does, which the clients of EMCO know.

use std::io::{self, Write};

use crate::answer::{Chunks, internal};
use crate::problem::Problem;

impl Chunks {
    /// Writes a value as JSON in one line with a line break at its end, escaped as EMCO's encoder does.
    ///
    /// # Errors
    /// As for [`Chunks::json`].
    pub(crate) fn go_json(&mut self, value: &impl serde::Serialize) -> Result<(), Problem> {
        serde_json::to_writer(GoJson::new(&mut *self), value).map_err(|_| internal())?;
        self.write_all(b"\n").map_err(|_| internal())
    }
}

/// Writes JSON on without white space between its tokens, and with what HTML could take for markup escaped in
/// its strings: `<`, `>`, `&`, U+2028 and U+2029 as `\u003c` and so on.
///
/// A character must not be split over two writes, which no serializer of text does.
pub(crate) struct GoJson<W> {
    to: W,
    in_string: bool,
    /// True behind a backslash in a string.
    is_escaped: bool,
}

impl<W: Write> GoJson<W> {
    pub(crate) fn new(to: W) -> Self {
        Self {
            to,
            in_string: false,
            is_escaped: false,
        }
    }

    /// The text in place of the character at the beginning of `bytes`, and the length of that character; none
    /// where it is written as it is.
    fn replaced(&mut self, bytes: &[u8]) -> Option<(&'static [u8], usize)> {
        let first = bytes.first()?;
        if !self.in_string {
            self.in_string = *first == b'"';
            let is_space = matches!(first, b' ' | b'\t' | b'\n' | b'\r');
            return is_space.then_some((b"", 1));
        }
        if std::mem::take(&mut self.is_escaped) {
            return None;
        }
        match bytes {
            [b'"', ..] => self.in_string = false,
            [b'\\', ..] => self.is_escaped = true,
            [b'<', ..] => return Some((b"\\u003c", 1)),
            [b'>', ..] => return Some((b"\\u003e", 1)),
            [b'&', ..] => return Some((b"\\u0026", 1)),
            [0xe2, 0x80, 0xa8, ..] => return Some((b"\\u2028", 3)),
            [0xe2, 0x80, 0xa9, ..] => return Some((b"\\u2029", 3)),
            _ => {}
        }
        None
    }
}

impl<W: Write> Write for GoJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (mut rest, mut at) = (bytes, 0);
        while let Some((same, after)) = rest.split_at_checked(at).filter(|(_, it)| !it.is_empty()) {
            match self.replaced(after) {
                None => at += 1,
                Some((text, length)) => {
                    self.to.write_all(same)?;
                    self.to.write_all(text)?;
                    (rest, at) = (after.get(length..).unwrap_or_default(), 0);
                }
            }
        }
        self.to.write_all(rest)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use serde_json::value::RawValue;

    use super::*;

    fn written(json: &str) -> String {
        let value: &RawValue = serde_json::from_str(json).unwrap();
        let mut to = Vec::new();
        serde_json::to_writer(GoJson::new(&mut to), &[value]).unwrap();
        String::from_utf8(to).unwrap()
    }

    #[test]
    fn white_space_goes_between_tokens_alone() {
        let text = written("{ \"a b\" :\t[ 1 ,\r\n\"c \\\" d\" ] }");
        assert_eq!(text, r#"[{"a b":[1,"c \" d"]}]"#);
    }

    #[test]
    fn what_html_could_read_is_escaped_and_means_the_same() {
        let json = "{\"<&\\\\\": \"a>\u{2028}\u{2029}\u{2027}é\\u003c\\\\\"}";
        let text = written(json);
        assert_eq!(
            text,
            "[{\"\\u003c\\u0026\\\\\":\"a\\u003e\\u2028\\u2029\u{2027}é\\u003c\\\\\"}]"
        );
        let value: Value = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::from_str::<[Value; 1]>(&text).unwrap(), [value]);
    }
}
