//! From a stream of bytes to objects: one object, a List, JSON Lines, multi-document YAML, or any
//! mixture of them.

use std::io::{BufRead, BufReader, Read};

use anyhow::Context as _;
use kindsight_model::{OBJECT_BYTES_MAX, Object, manifest};

use crate::commands::interpret::input::Source;
use crate::commands::interpret::scanner::{Scanner, Step};

/// The most objects of one List or YAML file that are looked at together. A longer one is judged in
/// parts, and an object's related objects are looked for in its own part.
const GROUP_OBJECTS_MAX: usize = 10_000;
/// The most bytes of one List or YAML file that are looked at together.
const GROUP_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Lines that are judged together while more are already there to be read.
const LINES_TOGETHER: usize = 1024;
const BUFFER_BYTES: usize = 256 * 1024;

/// One input.
pub(crate) enum Document {
    /// A Kubernetes object.
    Object(Object),
    /// Something else; says why it is none.
    Other(String),
}

/// Inputs that are judged together, in input order.
pub(crate) struct Group {
    pub(crate) documents: Vec<Document>,
    /// Whether they are each other's related objects.
    pub(crate) related: bool,
}

/// Reads a stream to its end and hands every group to `judge` as soon as it is complete.
///
/// # Errors
/// When the stream breaks off, or `judge` fails; what was read before has been handed over.
pub(crate) fn read(
    source: &mut Source,
    judge: impl FnMut(Group) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut reader = Reader {
        bytes: BufReader::with_capacity(BUFFER_BYTES, &mut source.bytes),
        groups: Groups {
            judge,
            documents: Vec::new(),
            bytes: 0,
            related: false,
        },
    };
    let read = reader
        .read()
        .with_context(|| format!("read {}", source.name));
    let judged = reader.groups.end();
    read.and(judged)
}

struct Reader<R, J> {
    bytes: BufReader<R>,
    groups: Groups<J>,
}

impl<R: Read, J: FnMut(Group) -> anyhow::Result<()>> Reader<R, J> {
    fn read(&mut self) -> anyhow::Result<()> {
        // Each line decides: JSON values begin with a bracket, everything else is YAML.
        while let Some(first) = self.next_byte()? {
            if matches!(first, b'{' | b'[') {
                self.json()?;
            } else {
                self.yaml()?;
            }
        }
        Ok(())
    }

    /// The first byte of the next thing that is not white space. Nothing stays back while the
    /// stream makes us wait: whoever writes line by line sees verdicts line by line.
    fn next_byte(&mut self) -> anyhow::Result<Option<u8>> {
        loop {
            if self.bytes.buffer().is_empty() && !self.groups.related {
                self.groups.end()?;
            }
            let buffer = self.bytes.fill_buf()?;
            let Some(&byte) = buffer.first() else {
                return Ok(None);
            };
            // A byte order mark is no part of what follows it.
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
    fn json(&mut self) -> anyhow::Result<()> {
        let mut scanner = Scanner::default();
        let mut value = Text::default();
        let mut was_list = false;
        self.groups.begin(false)?;
        loop {
            let buffer = self.bytes.fill_buf()?;
            if buffer.is_empty() {
                return self.unfinished(&value, was_list && !scanner.in_list());
            }
            let mut used = buffer.len();
            let mut outcome = Step::More;
            for (at, &byte) in buffer.iter().enumerate() {
                outcome = scanner.step(byte);
                if outcome == Step::More || outcome == Step::Done {
                    value.push(byte);
                }
                if outcome != Step::More {
                    used = if outcome == Step::Broken { at } else { at + 1 };
                    break;
                }
            }
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
                // What stands around the items of a List is no object of its own.
                Step::Done if was_list => return self.groups.begin(false),
                Step::Done => return self.groups.add(value.document()),
                Step::Broken => return self.unfinished(&value, false),
            }
        }
    }

    /// An element of a List; nothing between two commas, or in an empty List, is none.
    fn element(&mut self, value: &mut Text) -> anyhow::Result<()> {
        if !value.is_blank() {
            self.groups.add(value.document())?;
        }
        value.clear();
        Ok(())
    }

    fn unfinished(&mut self, value: &Text, only_rest: bool) -> anyhow::Result<()> {
        if value.is_blank() || only_rest {
            return Ok(());
        }
        let why = "not a Kubernetes object: the JSON ends before it is complete";
        self.groups.add((Document::Other(why.to_owned()), 0))
    }

    /// One YAML document, up to the next `---`, the next JSON object, or the end.
    fn yaml(&mut self) -> anyhow::Result<()> {
        let mut text = Text::default();
        let mut line = Vec::new();
        loop {
            let begins_json = self.bytes.fill_buf()?.first() == Some(&b'{');
            if begins_json && !text.is_blank() {
                break;
            }
            line.clear();
            // A line is bounded too: what goes on without an end is cut into pieces.
            let limit = OBJECT_BYTES_MAX as u64 + 1;
            let read = (&mut self.bytes).take(limit).read_until(b'\n', &mut line)?;
            if read == 0 || is_separator(&line) {
                break;
            }
            for &byte in &line {
                text.push(byte);
            }
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

fn is_separator(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line == b"---" || line == b"..." || line.starts_with(b"--- ")
}

/// Collects inputs until they are judged together.
struct Groups<J> {
    judge: J,
    documents: Vec<Document>,
    bytes: usize,
    related: bool,
}

impl<J: FnMut(Group) -> anyhow::Result<()>> Groups<J> {
    /// What follows is related to each other, or is not. Ends the group before where that changes.
    fn begin(&mut self, related: bool) -> anyhow::Result<()> {
        if self.related != related {
            self.end()?;
        }
        self.related = related;
        Ok(())
    }

    fn add(&mut self, (document, bytes): (Document, usize)) -> anyhow::Result<()> {
        self.documents.push(document);
        self.bytes += bytes;
        let most = if self.related {
            GROUP_OBJECTS_MAX
        } else {
            LINES_TOGETHER
        };
        if self.documents.len() >= most || self.bytes >= GROUP_BYTES_MAX {
            return self.end();
        }
        Ok(())
    }

    fn end(&mut self) -> anyhow::Result<()> {
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

/// Bytes of one input, of which no more are kept than an object may have.
#[derive(Default)]
struct Text {
    bytes: Vec<u8>,
    dropped: usize,
}

impl Text {
    fn push(&mut self, byte: u8) {
        if self.bytes.len() <= OBJECT_BYTES_MAX {
            self.bytes.push(byte);
        } else {
            self.dropped += 1;
        }
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.dropped = 0;
    }

    fn is_blank(&self) -> bool {
        self.bytes.trim_ascii().is_empty()
    }

    /// Whether there is nothing but comments and white space.
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

    /// As a JSON value, with its size.
    fn document(&self) -> (Document, usize) {
        let object = self
            .checked()
            .and_then(|text| Object::from_json(text.trim()).map_err(|error| error.to_string()));
        let document = object.map_or_else(Document::Other, Document::Object);
        (document, self.bytes.len())
    }

    /// As a YAML document, which may be a List; with the size of each.
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
