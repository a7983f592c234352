//! JSON text: the encoding for languages that can parse JSON easily.

use crate::node::Node;
use crate::writer::{Writer, last_of_each};

/// Writes JSON text without white space. Its buffer is reused for the next input.
#[derive(Debug, Default)]
pub struct TextWriter {
    text: String,
    /// True if a value was written after which a comma must follow.
    needs_comma: bool,
}

impl TextWriter {
    /// The text so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Begins a new text. Releases a buffer that is larger than this number of bytes.
    pub fn clear(&mut self, bytes_kept_max: usize) {
        self.text.clear();
        self.text.shrink_to(bytes_kept_max);
        self.needs_comma = false;
    }

    fn begin(&mut self, key: Option<&str>) {
        if self.needs_comma {
            self.text.push(',');
        }
        if let Some(key) = key {
            self.quoted(key);
            self.text.push(':');
        }
        self.needs_comma = true;
    }

    fn open(&mut self, key: Option<&str>, bracket: char) -> usize {
        self.begin(key);
        self.text.push(bracket);
        self.needs_comma = false;
        self.text.len() - 1
    }

    fn quoted(&mut self, text: &str) {
        let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        if text.bytes().all(is_plain) {
            self.text.push('"');
            self.text.push_str(text);
            self.text.push('"');
        } else {
            // A string without its own `Display` is written as JSON writes it.
            self.text
                .push_str(&serde_json::Value::from(text).to_string());
        }
    }
}

impl Writer for TextWriter {
    type Mark = (usize, bool);

    fn mark(&self) -> (usize, bool) {
        (self.text.len(), self.needs_comma)
    }

    fn rewind(&mut self, (len, needs_comma): (usize, bool)) {
        self.text.truncate(len);
        self.needs_comma = needs_comma;
    }

    fn bytes(&self) -> usize {
        self.text.len()
    }

    fn position(&self) -> usize {
        self.text.len()
    }

    fn open_object(&mut self, key: Option<&str>) -> usize {
        self.open(key, '{')
    }

    fn open_array(&mut self, key: Option<&str>) -> usize {
        self.open(key, '[')
    }

    fn close(&mut self, place: usize, _count: u32) {
        let is_array = self.text.as_bytes().get(place) == Some(&b'[');
        self.text.push(if is_array { ']' } else { '}' });
        self.needs_comma = true;
    }

    fn text(&mut self, key: Option<&str>, text: &str) {
        self.begin(key);
        self.quoted(text);
    }

    fn number(&mut self, key: Option<&str>, number: usize) {
        self.begin(key);
        self.text.push_str(&number.to_string());
    }

    fn null(&mut self, key: Option<&str>) {
        self.begin(key);
        self.text.push_str("null");
    }

    fn copy(&mut self, key: Option<&str>, node: Node<'_>) {
        if node.is_object() {
            let place = self.open_object(key);
            let last = (!node.document().is_unique()).then(|| last_of_each(node));
            for (name, member) in node.members() {
                let last = last.as_ref().and_then(|last| last.get(name));
                if last.is_none_or(|last| *last == member.index()) {
                    self.copy(Some(name), member);
                }
            }
            return self.close(place, 0);
        }
        if node.is_array() {
            let place = self.open_array(key);
            for item in node.items() {
                self.copy(None, item);
            }
            return self.close(place, 0);
        }
        self.begin(key);
        if let Some(text) = node.text() {
            self.quoted(text);
        } else {
            self.text.push_str(node.scalar_json());
        }
    }
}
