//! Frames: the bodies that are made of lines.

use std::io::Write as _;
use std::mem;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

/// Size of the lines after which a frame is complete, in bytes before compression. One line may exceed it.
const FRAME_BYTES: usize = 512 * 1024;
/// Level of the compression: JSON of objects shrinks to a tenth, at some 100 MB/s.
const LEVEL: u32 = 3;

/// Collects lines to frames.
#[derive(Debug)]
pub(crate) struct Frames {
    open: GzEncoder<Vec<u8>>,
    /// Bytes of the lines in the open frame.
    open_bytes: usize,
    complete: Vec<Vec<u8>>,
}

impl Default for Frames {
    fn default() -> Self {
        Self {
            open: encoder(),
            open_bytes: 0,
            complete: Vec::new(),
        }
    }
}

fn encoder() -> GzEncoder<Vec<u8>> {
    GzEncoder::new(Vec::new(), Compression::new(LEVEL))
}

impl Frames {
    /// Adds a line.
    pub(crate) fn line(&mut self, line: &impl Serialize) {
        match serde_json::to_string(line) {
            Ok(text) => self.text(&text),
            Err(error) => tracing::error!(%error, "a line cannot be written"),
        }
    }

    /// Adds a line that is JSON text.
    pub(crate) fn text(&mut self, text: &str) {
        // Writing to memory does not fail.
        let _ = self.open.write_all(text.as_bytes());
        let _ = self.open.write_all(b"\n");
        self.open_bytes += text.len() + 1;
        if self.open_bytes >= FRAME_BYTES {
            self.complete();
        }
    }

    /// Takes the complete frames.
    pub(crate) fn take_complete(&mut self) -> Vec<Vec<u8>> {
        mem::take(&mut self.complete)
    }

    /// Ends the open frame, and takes all frames.
    pub(crate) fn take_all(&mut self) -> Vec<Vec<u8>> {
        if self.open_bytes > 0 {
            self.complete();
        }
        self.take_complete()
    }

    fn complete(&mut self) {
        self.open_bytes = 0;
        let open = mem::replace(&mut self.open, encoder());
        // Writing to memory does not fail.
        self.complete.extend(open.finish());
    }
}
