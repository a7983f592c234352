//! Finds the end of a JSON value, or of an element of a List, in a stream of bytes without decoding
//! it.

/// The effect of one byte on the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The value continues.
    More,
    /// The value ended with this byte.
    Done,
    /// The value ended incomplete before this byte, which begins another value.
    Broken,
    /// The elements of a list begin after this byte.
    ListBegins,
    /// An element of the list ended before this byte, a comma.
    ElementEnds,
    /// The last element of the list ended before this byte.
    ListEnds,
}

/// Scans one object or array, byte by byte.
///
/// A List of any length is split into its elements. `kubectl` writes `items` before `kind`, so any
/// object with an array `items` counts as a List; so does an outermost array.
#[derive(Debug, Default)]
pub(crate) struct Scanner {
    depth: usize,
    text: Text,
    at_line_start: bool,
    /// The depth of the list's elements, while inside it.
    list_depth: Option<usize>,
    /// The last string of the outermost object, cut to one byte more than `items` has.
    last_string: Vec<u8>,
    /// True after the key `items` of the outermost object.
    after_items: bool,
}

const ITEMS: &[u8] = b"items";

/// The position of the scanner relative to strings.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Text {
    /// Between strings.
    #[default]
    Outside,
    /// Inside one.
    Inside,
    /// Inside one, after a backslash.
    Escaped,
}

impl Scanner {
    /// Returns whether the next byte belongs to an element of a list.
    pub(crate) fn in_list(&self) -> bool {
        self.list_depth.is_some()
    }

    /// Number of bytes at the front that continue the value and need no [`Scanner::step`]. Most bytes need none.
    pub(crate) fn plain(&self, bytes: &[u8]) -> usize {
        let is_key_kept = self.depth == 1 && self.last_string.len() <= ITEMS.len();
        let separates = self.list_depth == Some(self.depth);
        let end = match self.text {
            _ if self.at_line_start => Some(0),
            Text::Escaped => Some(0),
            Text::Inside if is_key_kept => Some(0),
            Text::Inside => bytes
                .iter()
                .position(|byte| matches!(byte, b'"' | b'\\' | b'\n')),
            Text::Outside => bytes.iter().position(|byte| match byte {
                b'{' | b'[' | b'}' | b']' | b'"' | b'\n' => true,
                b',' => separates,
                b':' => self.depth == 1,
                _ => false,
            }),
        };
        end.unwrap_or(bytes.len())
    }

    /// Scans the next byte; the first must be `{` or `[`.
    pub(crate) fn step(&mut self, byte: u8) -> Step {
        if self.is_broken_before(byte) {
            return Step::Broken;
        }
        self.at_line_start = byte == b'\n';
        if self.text != Text::Outside {
            self.in_string(byte);
            return Step::More;
        }
        match byte {
            b'{' | b'[' => self.open(byte),
            b'}' | b']' => self.close(),
            b',' if self.list_depth == Some(self.depth) => Step::ElementEnds,
            b'"' => {
                self.text = Text::Inside;
                self.last_string.clear();
                Step::More
            }
            b':' => {
                self.after_items = self.depth == 1 && self.last_string == ITEMS;
                Step::More
            }
            _ => Step::More,
        }
    }

    /// Returns whether the value is incomplete and `byte` begins another one. Strings do not span
    /// lines, and in indented JSON no line inside a value begins with `{`.
    fn is_broken_before(&self, byte: u8) -> bool {
        self.at_line_start
            && (self.text != Text::Outside
                || (byte == b'{' && self.depth > 0 && self.list_depth.is_none()))
    }

    fn in_string(&mut self, byte: u8) {
        self.text = match (self.text, byte) {
            (Text::Inside, b'\\') => Text::Escaped,
            (Text::Inside, b'"') => Text::Outside,
            _ => Text::Inside,
        };
        if self.text == Text::Inside && self.last_string.len() <= ITEMS.len() {
            self.last_string.push(byte);
        }
    }

    fn open(&mut self, byte: u8) -> Step {
        let is_list = byte == b'[' && (self.depth == 0 || (self.depth == 1 && self.after_items));
        self.after_items = false;
        self.depth += 1;
        if is_list && self.list_depth.is_none() {
            self.list_depth = Some(self.depth);
            return Step::ListBegins;
        }
        Step::More
    }

    fn close(&mut self) -> Step {
        let ends_list = self.list_depth == Some(self.depth);
        self.depth = self.depth.saturating_sub(1);
        if ends_list {
            self.list_depth = None;
            return Step::ListEnds;
        }
        if self.depth == 0 {
            Step::Done
        } else {
            Step::More
        }
    }

    /// Returns whether the outermost value is closed, after [`Step::ListEnds`].
    pub(crate) fn is_done(&self) -> bool {
        self.depth == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps other than `More`, with their positions: the same whether plain bytes are skipped.
    fn steps(text: &str) -> Vec<(Step, usize)> {
        let seen = steps_of(text, |_, _| 0);
        assert_eq!(seen, steps_of(text, Scanner::plain), "{text}");
        seen
    }

    fn steps_of(text: &str, skip: impl Fn(&Scanner, &[u8]) -> usize) -> Vec<(Step, usize)> {
        let mut scanner = Scanner::default();
        let (mut seen, mut at) = (Vec::new(), 0);
        while at < text.len() {
            at += skip(&scanner, &text.as_bytes()[at..]);
            let Some(byte) = text.as_bytes().get(at) else {
                break;
            };
            let step = scanner.step(*byte);
            if step != Step::More {
                seen.push((step, at));
            }
            if matches!(step, Step::Done | Step::Broken) {
                break;
            }
            at += 1;
        }
        seen
    }

    #[test]
    fn a_value_ends_where_its_last_bracket_closes() {
        assert_eq!(steps(r#"{"a": {"b": "}\"]"}} x"#), [(Step::Done, 19)]);
        assert_eq!(steps("{\n  \"a\": [1]\n}\n"), [(Step::Done, 13)]);
    }

    #[test]
    fn elements_of_items_are_separated() {
        let text = r#"{"items": [{"a": [1, 2]}, 3], "kind": "List"}"#;
        assert_eq!(
            steps(text),
            [
                (Step::ListBegins, 10),
                (Step::ElementEnds, 24),
                (Step::ListEnds, 27),
                (Step::Done, 44)
            ]
        );
    }

    #[test]
    fn items_further_inside_are_not_a_list() {
        assert_eq!(steps(r#"{"a": {"items": [1, 2]}}"#), [(Step::Done, 23)]);
        assert_eq!(steps(r#"{"items": {"a": [1, 2]}}"#), [(Step::Done, 23)]);
        assert_eq!(steps(r#"{"a": "items", "b": [1, 2]}"#), [(Step::Done, 26)]);
    }

    #[test]
    fn keys_that_only_begin_like_items_are_passed_over() {
        let text = r#"{"itemsandmore": [1], "items\"": [2], "items": [{"k\"}": ":,"}]}"#;
        assert_eq!(
            steps(text),
            [
                (Step::ListBegins, 47),
                (Step::ListEnds, 62),
                (Step::Done, 63)
            ]
        );
    }

    #[test]
    fn an_unfinished_line_does_not_swallow_the_next() {
        assert_eq!(steps("{\"a\": \n{\"b\": 1}"), [(Step::Broken, 7)]);
        assert_eq!(steps("{\"a\": \"x\n{\"b\": 1}"), [(Step::Broken, 9)]);
    }
}
