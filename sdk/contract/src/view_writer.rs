//! The view: the encoding that needs no parsing, in the format of `wit/view.md`.

use crate::entry::{self, Entry, Span, Value, entry};
use crate::node::Node;
use crate::view::HEADER_BYTES;
use crate::writer::{Writer, last_of_each};

/// Writes a view. Its buffers are reused for the next input.
#[derive(Debug, Default)]
pub struct ViewWriter {
    nodes: Vec<Entry>,
    text: Vec<u8>,
}

impl ViewWriter {
    /// Begins a new view. Releases buffers that are larger than this number of bytes.
    pub fn clear(&mut self, bytes_kept_max: usize) {
        self.nodes.clear();
        self.nodes.shrink_to(bytes_kept_max / size_of::<Entry>());
        self.text.clear();
        self.text.shrink_to(bytes_kept_max);
    }

    /// Writes the complete view into `view`, and replaces its content.
    pub fn finish(&self, view: &mut Vec<u8>) {
        view.clear();
        view.reserve(self.bytes());
        view.extend_from_slice(&narrow(self.nodes.len()).to_le_bytes());
        view.extend_from_slice(self.nodes.as_flattened());
        view.extend_from_slice(&self.text);
    }

    fn put(&mut self, bytes: &[u8]) -> Span {
        let start = narrow(self.text.len());
        self.text.extend_from_slice(bytes);
        Span {
            start,
            len: narrow(bytes.len()),
        }
    }

    fn put_key(&mut self, key: Option<&str>) -> Span {
        key.map_or_else(Span::default, |key| self.put(key.as_bytes()))
    }

    fn push(&mut self, key: Span, value: Value) -> usize {
        self.nodes.push(entry(key, value));
        self.nodes.len() - 1
    }

    /// Copies the nodes of a value unchanged, except for their positions.
    fn copy_nodes(&mut self, key: Option<&str>, node: Node<'_>) {
        let document = node.document();
        let first = node.index();
        // The positions after the value in the document, and in this view.
        let base = narrow(self.nodes.len());
        let moved = |end: u32| end.saturating_sub(first).saturating_add(base);
        for at in first..document.after(first) {
            let Some(source) = document.entry(at) else {
                return;
            };
            let span = if at == first {
                self.put_key(key)
            } else {
                self.put(document.bytes(entry::key(source)))
            };
            let value = match entry::value(source) {
                Value::Text(text) => Value::Text(self.put(document.bytes(text))),
                Value::Number(digits) => Value::Number(self.put(document.bytes(digits))),
                Value::Array { count, end } => Value::Array {
                    count,
                    end: moved(end),
                },
                Value::Object { count, end } => Value::Object {
                    count,
                    end: moved(end),
                },
                value => value,
            };
            self.push(span, value);
        }
    }

    /// Copies a value of a document whose objects may contain duplicate members.
    #[cold]
    fn copy_last_ones(&mut self, key: Option<&str>, node: Node<'_>) {
        let mut count = 0;
        if node.is_object() {
            let place = self.open_object(key);
            let last = last_of_each(node);
            for (name, member) in node.members() {
                if last.get(name) == Some(&member.index()) {
                    self.copy_last_ones(Some(name), member);
                    count += 1;
                }
            }
            self.close(place, count);
        } else if node.is_array() {
            let place = self.open_array(key);
            for item in node.items() {
                self.copy_last_ones(None, item);
                count += 1;
            }
            self.close(place, count);
        } else {
            self.copy_nodes(key, node);
        }
    }
}

impl Writer for ViewWriter {
    /// The number of nodes, and of bytes of text.
    type Mark = (usize, usize);

    fn mark(&self) -> (usize, usize) {
        (self.nodes.len(), self.text.len())
    }

    fn rewind(&mut self, (nodes, text): (usize, usize)) {
        self.nodes.truncate(nodes);
        self.text.truncate(text);
    }

    fn bytes(&self) -> usize {
        HEADER_BYTES + self.nodes.len() * size_of::<Entry>() + self.text.len()
    }

    fn position(&self) -> usize {
        self.text.len()
    }

    fn open_object(&mut self, key: Option<&str>) -> usize {
        let key = self.put_key(key);
        self.push(key, Value::Object { count: 0, end: 0 })
    }

    fn open_array(&mut self, key: Option<&str>) -> usize {
        let key = self.put_key(key);
        self.push(key, Value::Array { count: 0, end: 0 })
    }

    fn close(&mut self, place: usize, count: u32) {
        let end = narrow(self.nodes.len());
        if let Some(node) = self.nodes.get_mut(place) {
            let value = match entry::value(node) {
                Value::Array { .. } => Value::Array { count, end },
                _ => Value::Object { count, end },
            };
            *node = entry(entry::key(node), value);
        }
    }

    fn text(&mut self, key: Option<&str>, text: &str) {
        let key = self.put_key(key);
        let text = self.put(text.as_bytes());
        self.push(key, Value::Text(text));
    }

    fn number(&mut self, key: Option<&str>, number: usize) {
        let key = self.put_key(key);
        let digits = self.put(number.to_string().as_bytes());
        self.push(key, Value::Number(digits));
    }

    fn null(&mut self, key: Option<&str>) {
        let key = self.put_key(key);
        self.push(key, Value::Null);
    }

    fn copy(&mut self, key: Option<&str>, node: Node<'_>) {
        if node.document().is_unique() {
            self.copy_nodes(key, node);
        } else {
            self.copy_last_ones(key, node);
        }
    }
}

/// A length or position in 32 bits. Inputs have a few MiB at most, so no value is ever truncated.
#[inline]
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
