//! Splits a stream of bytes into objects: one object, a List, JSON Lines, multi-document YAML, or any
//! mixture of them.

mod scanner;

use std::io::{self, BufRead, BufReader, Read};
use std::slice;

use kindsight_model::{OBJECT_BYTES_MAX, Object, manifest};

use scanner::{Scanner, Step};

/// Most objects of one List or YAML file in a group. A longer one is judged in several groups, and an
/// object's related objects are looked up in its own group.
const GROUP_OBJECTS_MAX: usize = 10_000;
/// Most bytes of one List or YAML file in a group.
const GROUP_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Maximum number of buffered JSON Lines that are judged together.
const LINES_TOGETHER: usize = 1024;
const BUFFER_BYTES: usize = 256 * 1024;

/// One document of a stream.
pub enum Document {
    /// A Kubernetes object.
    Object(Object),
    /// Anything else, with the reason why it is no object.
    Other(String),
}

/// Documents that are judged together, in input order.
pub struct Group {
    /// The documents.
    pub documents: Vec<Document>,
    /// True if they are each other's related objects.
    pub related: bool,
}

/// Reads a stream to its end and passes every group to `judge` as soon as it is complete. Called for each
/// input of a command that judges files.
///
/// # Errors
/// When the stream fails or `judge` fails; groups read before have been passed on.
pub fn read_documents<E: From<io::Error>>(
    bytes: impl Read,
    judge: impl FnMut(Group) -> Result<(), E>,
) -> Result<(), E> {
    let mut reader = Reader {
        bytes: BufReader::with_capacity(BUFFER_BYTES, bytes),
        groups: Groups {
            judge,
            documents: Vec::new(),
            bytes: 0,
            related: false,
        },
    };
    let read = reader.read();
    let judged = reader.groups.end();
    read.and(judged)
}

struct Reader<R, J> {
    bytes: BufReader<R>,
    groups: Groups<J>,
}

impl<R: Read, E: From<io::Error>, J: FnMut(Group) -> Result<(), E>> Reader<R, J> {
    fn read(&mut self) -> Result<(), E> {
        // The first byte decides: a JSON value begins with a bracket, everything else is YAML.
        while let Some(first) = self.next_byte()? {
            if matches!(first, b'{' | b'[') {
                self.json()?;
            } else {
                self.yaml()?;
            }
        }
        Ok(())
    }

    /// The next byte that is not white space. Judges buffered documents before the stream blocks: a
    /// process that writes line by line gets verdicts line by line.
    fn next_byte(&mut self) -> Result<Option<u8>, E> {
        loop {
            if self.bytes.buffer().is_empty() && !self.groups.related {
                self.groups.end()?;
            }
            let buffer = self.bytes.fill_buf()?;
            let Some(&byte) = buffer.first() else {
                return Ok(None);
            };
            // A byte order mark is not part of the document.
            let skip = if buffer.starts_with(b"\xef\xbb\xbf") {
                3
            } else {
                1
            };
            if skip == 1 && !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                return Ok(Some(byte));
            }
            self.bytes.consume(skip);
        }
    }

    /// One JSON value: an object, or a List element by element.
    fn json(&mut self) -> Result<(), E> {
        let mut scanner = Scanner::default();
        let mut value = Text::default();
        let mut was_list = false;
        self.groups.begin(false)?;
        if let Some((object, used)) = object_in_line(self.bytes.buffer()) {
            self.bytes.consume(used);
            return self.groups.add((Document::Object(object), used));
        }
        loop {
            let buffer = self.bytes.fill_buf()?;
            if buffer.is_empty() {
                if was_list && !scanner.in_list() {
                    return Ok(());
                }
                return self.unfinished();
            }
            let (outcome, used) = value.scan(buffer, &mut scanner);
            self.bytes.consume(used);
            match outcome {
                Step::More => {}
                Step::ListBegins => {
                    was_list = true;
                    value.clear();
                    self.groups.begin(true)?;
                }
                Step::ElementEnds => self.element(&mut value)?,
                Step::ListEnds => {
                    self.element(&mut value)?;
                    if scanner.is_done() {
                        return self.groups.begin(false);
                    }
                }
                // The rest of a List, around its items, is not an object.
                Step::Done if was_list => return self.groups.begin(false),
                Step::Done => return self.groups.add(value.document()),
                Step::Broken if value.is_blank() => return Ok(()),
                Step::Broken => return self.unfinished(),
            }
        }
    }

    /// Adds an element of a List; empty text (an empty List, two commas) is skipped.
    fn element(&mut self, value: &mut Text) -> Result<(), E> {
        if !value.is_blank() {
            self.groups.add(value.document())?;
        }
        value.clear();
        Ok(())
    }

    /// Adds an incomplete JSON value as a document that is no object.
    fn unfinished(&mut self) -> Result<(), E> {
        let why = "not a Kubernetes object: the JSON ends before it is complete";
        self.groups.add((Document::Other(why.to_owned()), 0))
    }

    /// One YAML document, up to the next `---`, the next JSON object, or the end.
    fn yaml(&mut self) -> Result<(), E> {
        let mut text = Text::default();
        let mut line = Vec::new();
        loop {
            let begins_json = self.bytes.fill_buf()?.first() == Some(&b'{');
            if begins_json && !text.is_blank() {
                break;
            }
            line.clear();
            // Lines are bounded too: a longer one is cut into pieces.
            let limit = OBJECT_BYTES_MAX as u64 + 1;
            let read = (&mut self.bytes).take(limit).read_until(b'\n', &mut line)?;
            if read == 0 || is_separator(&line) {
                break;
            }
            text.extend(&line);
        }
        if text.is_blank_yaml() {
            return Ok(());
        }
        self.groups.begin(true)?;
        let (documents, bytes) = text.yaml_documents();
        for document in documents {
            self.groups.add((document, bytes))?;
        }
        Ok(())
    }
}

/// The object that is the complete next line of a buffer, and the number of bytes of the line. JSON Lines consist of such
/// lines; their objects need no [`Scanner`].
///
/// `None` if the buffer does not hold the complete line, the line is not exactly one object, or the object is a List. The
/// scanner then reads the value.
fn object_in_line(buffer: &[u8]) -> Option<(Object, usize)> {
    let used = line_end(buffer)?;
    let line = str::from_utf8(buffer.get(..used)?).ok()?;
    // The first line of indented JSON does not end with a bracket.
    let line = line.trim();
    if !line.ends_with('}') {
        return None;
    }
    let object = Object::from_json(line).ok()?;
    (!is_list(&object)).then_some((object, used))
}

/// Returns whether the scanner splits an object into the elements of its `items`.
fn is_list(object: &Object) -> bool {
    let tree = object.tree();
    let document = tree.document(&object.json);
    let mut members = document.root().members();
    members.any(|(key, value)| key == "items" && value.is_array())
}

/// The number of bytes up to the first line break, with the line break.
fn line_end(buffer: &[u8]) -> Option<usize> {
    let mut rest = buffer;
    // The standard library searches many bytes at a time here, `position` searches byte by byte.
    let used = rest.skip_until(b'\n').ok()?;
    (buffer.get(..used)?.last() == Some(&b'\n')).then_some(used)
}

fn is_separator(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line == b"---" || line == b"..." || line.starts_with(b"--- ")
}

/// Collects documents into groups.
struct Groups<J> {
    judge: J,
    documents: Vec<Document>,
    bytes: usize,
    related: bool,
}

impl<E, J: FnMut(Group) -> Result<(), E>> Groups<J> {
    /// Starts related or unrelated documents. Ends the previous group if that changes.
    fn begin(&mut self, related: bool) -> Result<(), E> {
        if self.related != related {
            self.end()?;
        }
        self.related = related;
        Ok(())
    }

    fn add(&mut self, (document, bytes): (Document, usize)) -> Result<(), E> {
        self.documents.push(document);
        self.bytes += bytes;
        let documents_max = if self.related {
            GROUP_OBJECTS_MAX
        } else {
            LINES_TOGETHER
        };
        if self.documents.len() >= documents_max || self.bytes >= GROUP_BYTES_MAX {
            return self.end();
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), E> {
        self.bytes = 0;
        if self.documents.is_empty() {
            return Ok(());
        }
        (self.judge)(Group {
            documents: std::mem::take(&mut self.documents),
            related: self.related,
        })
    }
}

/// Text of one document. Bytes over the limit of an object are counted and dropped.
#[derive(Default)]
struct Text {
    bytes: Vec<u8>,
    dropped: usize,
}

impl Text {
    fn extend(&mut self, bytes: &[u8]) {
        let room = (OBJECT_BYTES_MAX + 1).saturating_sub(self.bytes.len());
        let (kept, dropped) = bytes.split_at(room.min(bytes.len()));
        self.bytes.extend_from_slice(kept);
        self.dropped += dropped.len();
    }

    /// Takes the bytes of the value from the front of a buffer. Returns the step that ended the scan, and the number of
    /// bytes used: all bytes if the value continues.
    fn scan(&mut self, buffer: &[u8], scanner: &mut Scanner) -> (Step, usize) {
        let mut rest = buffer;
        let outcome = loop {
            let (plain, after) = rest.split_at(scanner.plain(rest));
            self.extend(plain);
            rest = after;
            let Some((byte, after)) = rest.split_first() else {
                break Step::More;
            };
            let outcome = scanner.step(*byte);
            if matches!(outcome, Step::More | Step::Done) {
                self.extend(slice::from_ref(byte));
            }
            // A byte that breaks the value off begins the next value.
            if outcome != Step::Broken {
                rest = after;
            }
            if outcome != Step::More {
                break outcome;
            }
        };
        (outcome, buffer.len() - rest.len())
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.dropped = 0;
    }

    fn is_blank(&self) -> bool {
        self.bytes.trim_ascii().is_empty()
    }

    /// Returns whether it has only comments and white space.
    fn is_blank_yaml(&self) -> bool {
        let mut lines = self
            .bytes
            .split(|&byte| byte == b'\n')
            .map(<[u8]>::trim_ascii);
        lines.all(|line| line.is_empty() || line.starts_with(b"#") || line.starts_with(b"%"))
    }

    fn checked(&self) -> Result<&str, String> {
        let bytes = self.bytes.len() + self.dropped;
        if bytes > OBJECT_BYTES_MAX {
            return Err(kindsight_model::ObjectError::TooLarge(bytes).to_string());
        }
        std::str::from_utf8(&self.bytes)
            .map_err(|error| format!("not a Kubernetes object: not UTF-8: {error}"))
    }

    /// Parses it as a JSON value; returns its size too.
    fn document(&self) -> (Document, usize) {
        let object = self
            .checked()
            .and_then(|text| Object::from_json(text.trim()).map_err(|error| error.to_string()));
        let document = object.map_or_else(Document::Other, Document::Object);
        (document, self.bytes.len())
    }

    /// Parses it as a YAML document, which can be a List; returns the mean size of an object too.
    fn yaml_documents(&self) -> (Vec<Document>, usize) {
        let documents = match self.checked().and_then(manifest::objects) {
            Ok(objects) => objects
                .into_iter()
                .map(|object| object.map_or_else(Document::Other, Document::Object))
                .collect(),
            Err(why) => vec![Document::Other(why)],
        };
        let bytes = self.bytes.len() / documents.len().max(1);
        (documents, bytes)
    }
}

#[cfg(test)]
mod tests;
